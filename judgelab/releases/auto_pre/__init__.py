"""The release of the Auto-PRE paper."""
