"""Qualification exams of judges, asked without human labels (Auto-PRE paper, section 3)."""
