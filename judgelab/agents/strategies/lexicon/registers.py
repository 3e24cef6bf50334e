"""Everyday words and what they become in another register."""

from __future__ import annotations

from judgelab.agents.strategies.lexicon.base import Lexicon, sections

WORDS = sections("registers.txt")

FORMAL = Lexicon.parse(WORDS["FORMAL"])
ACADEMIC = Lexicon.parse(WORDS["ACADEMIC"])
CASUAL = Lexicon.parse(WORDS["CASUAL"])
BUREAUCRATIC = Lexicon.parse(WORDS["BUREAUCRATIC"])
TECHNICAL = Lexicon.parse(WORDS["TECHNICAL"])
POETIC = Lexicon.parse(WORDS["POETIC"])
EUPHEMISM = Lexicon.parse(WORDS["EUPHEMISM"])
SENSATIONAL = Lexicon.parse(WORDS["SENSATIONAL"])
NEUTRAL = Lexicon.parse(WORDS["NEUTRAL"])
VICTORIAN = Lexicon.parse(WORDS["VICTORIAN"])
FUTURE = Lexicon.parse(WORDS["FUTURE"])
SIMPLE = Lexicon.parse(WORDS["SIMPLE"])
AMERICAN = Lexicon.parse(WORDS["AMERICAN"])
