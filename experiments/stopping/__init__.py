"""Does a run that stops when it is clear say what the full run would, and what does it save?"""
