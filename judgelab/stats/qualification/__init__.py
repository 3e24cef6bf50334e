"""Which judges pass exams, and what they decide together (Auto-PRE paper)."""
