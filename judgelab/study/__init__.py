"""Studies: what a run does with a panel and a mechanism."""
