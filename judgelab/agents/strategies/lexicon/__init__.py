"""Word lists of the rule-based agents: small, written for this project, English."""
