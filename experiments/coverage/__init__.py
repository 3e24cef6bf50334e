"""How often the intervals hold: the very functions of the studies on data of known truth.

``python -m experiments.coverage --out outputs/coverage.json`` prints the table that
README.md shows in short.
"""
