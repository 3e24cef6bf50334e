"""Fine-tuning of an evaluation LM on a panel of responses (GEM paper, appendix E)."""
