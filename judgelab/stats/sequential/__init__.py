"""Answers that hold at every look: intervals and orders of a run that stops when it is clear."""
