"""What each strategy does to a text, as pure functions of (source, generator)."""
