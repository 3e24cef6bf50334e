"""Can a judge be trusted? Agreement, corrected rates, biases, probes, blind spots, verdicts."""
