"""Can a judge be trusted? Agreement with people, corrected means, biases, probes."""
