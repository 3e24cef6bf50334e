"""Panel -> Panel steps that give every item its synopsis."""
