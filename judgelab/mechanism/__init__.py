"""Evaluation mechanisms: a panel and an evaluation LM in, scores out."""
