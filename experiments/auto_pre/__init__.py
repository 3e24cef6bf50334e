"""The Auto-PRE paper's tables from its released annotations and verdicts."""
