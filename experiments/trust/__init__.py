"""How often the audit's answers are right: tables of known truth, and intervals on real pools."""
