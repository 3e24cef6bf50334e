"""Is the screen right? Planted agents, null panels, released agents, rankings by people."""
