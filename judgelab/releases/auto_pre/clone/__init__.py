"""The authors' repository of Auto-PRE, read as it is."""
