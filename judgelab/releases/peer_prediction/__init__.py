"""The release of the TVD-MI paper."""
