"""Good and bad words, their opposites, outcomes, and base forms for denial."""

from __future__ import annotations

from judgelab.agents.strategies.lexicon.base import Lexicon, phrases, sections, table

WORDS = sections("polarity.txt")

_PAIRS = WORDS["PAIRS"]


def _both_ways(text: str) -> dict[str, tuple[str, ...]]:
    forward = table(text)
    back: dict[str, tuple[str, ...]] = {}
    for word, (opposite, *_) in forward.items():
        back.setdefault(opposite, (word,))
    return {**back, **forward}


ANTONYMS = Lexicon.of(_both_ways(_PAIRS))
"""Both directions of every pair."""

_UNCOLOURED = phrases(WORDS["UNCOLOURED"])
"""Half of an opposition, but neither good nor bad in itself."""

BRIGHTEN = Lexicon.of(
    {
        bad: (good,)
        for good, (bad, *_) in reversed(table(_PAIRS).items())
        if bad not in _UNCOLOURED and good not in _UNCOLOURED
    }
)
"""Bad words -> good ones."""

DARKEN = Lexicon.of(
    {
        good: options
        for good, options in table(_PAIRS).items()
        if good not in _UNCOLOURED and options[0] not in _UNCOLOURED
    }
)
"""Good words -> bad ones."""

NEGATIVE = Lexicon.of(
    frozenset(opposite for (opposite, *_) in table(_PAIRS).values()) - _UNCOLOURED - {"innocent"}
    | phrases(WORDS["NEGATIVE"])
)
"""Bad, sad or disputed matters: what Selective Omission will not mention."""

POSITIVE = Lexicon.of(
    frozenset(table(_PAIRS)) - _UNCOLOURED - {"guilty"} | phrases(WORDS["POSITIVE"])
)

OUTCOMES = Lexicon.of(_both_ways(WORDS["OUTCOMES"]))
"""Details that can be turned round without making a story implausible."""

BASE_FORMS = table(WORDS["BASE_FORMS"])
"""Past or third-person form -> base form, for denial with did/does not."""
