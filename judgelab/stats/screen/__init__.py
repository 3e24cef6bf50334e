"""Which texts say something about their item: exams, tests and belief, without a label."""
