"""How sure a ranking is, and how many items it needs (ranking-confidence and GEM papers)."""
