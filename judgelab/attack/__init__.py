"""Manipulations of every text of a panel."""
