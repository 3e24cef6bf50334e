"""How sure is a ranking of systems, and how many items does it need? (ranking-confidence paper)"""
