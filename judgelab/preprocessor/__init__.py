"""Panel -> Panel steps between the attack and the mechanism."""
