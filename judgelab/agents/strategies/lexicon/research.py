"""Words that tell what a sentence of a research paper is about."""

from __future__ import annotations

from judgelab.agents.strategies.lexicon.base import Lexicon, phrases, sections

WORDS = sections("research.txt")

CLAIM = Lexicon.of(phrases(WORDS["CLAIM"]))
METHOD = Lexicon.of(phrases(WORDS["METHOD"]))
RESULT = Lexicon.of(phrases(WORDS["RESULT"]))
LIMIT = Lexicon.of(phrases(WORDS["LIMIT"]))
ASSUMPTION = Lexicon.of(phrases(WORDS["ASSUMPTION"]))
RELATED = Lexicon.of(phrases(WORDS["RELATED"]))
THEORY = Lexicon.of(phrases(WORDS["THEORY"]))
IMPLEMENTATION = Lexicon.of(phrases(WORDS["IMPLEMENTATION"]))
STATISTICS = Lexicon.of(phrases(WORDS["STATISTICS"]))
DATA = Lexicon.of(phrases(WORDS["DATA"]))
METHOD_SWAPS = Lexicon.parse(WORDS["METHOD_SWAPS"])
DIRECTIONS = Lexicon.parse(WORDS["DIRECTIONS"])
