"""What studies share: groups of agents, and long tables of what was measured."""
