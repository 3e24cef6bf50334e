"""Whether scores tell good texts from bad, and what an attack changes (TVD-MI and GEM papers)."""
