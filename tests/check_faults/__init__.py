"""Measured: what a run does where its endpoint, its disk or its parent fails."""
