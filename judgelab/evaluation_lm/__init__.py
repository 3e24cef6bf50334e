"""Evaluation LMs: who measures log P(y | x) or answers a judge prompt."""
