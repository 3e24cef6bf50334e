"""Evaluation LMs: who measures log P(y | x) or answers a judge prompt.

What the settings of each mean: conf/evaluation_lm/NAME.yaml, as on every axis.
"""
