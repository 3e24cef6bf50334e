"""Readers of what the authors of papers released, in the layouts they chose."""
