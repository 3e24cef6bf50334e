"""Sentences and phrases of our own that rule-based attacks put in."""
