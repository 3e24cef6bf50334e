"""What is done by a verb: ``judgelab audit FILE`` and others, and the fixture of pytest."""
