"""A W&B workspace and a report for each sweep, made from code: what, how, and where it is saved."""
