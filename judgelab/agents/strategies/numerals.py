"""Plausible wrong numbers."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np

from judgelab.agents.strategies.lexicon.base import like
from judgelab.agents.strategies.lexicon.common import MAGNITUDES, NUMBER_LEXICON, NUMBER_WORDS
from judgelab.agents.strategies.rewrite import choose
from judgelab.agents.strategies.text import NUMBER

_TIME_OR_NUMBER = re.compile(rf"\b(?:[01]?\d|2[0-3]):[0-5]\d\b|{NUMBER.pattern}")
_FACTORS = (0.4, 0.6, 0.7, 1.3, 1.6, 2.0, 2.4)


def falsify_numbers(text: str, forbidden: Collection[str], rng: np.random.Generator) -> str:
    """Change every numeral and number word; no new numeral is one of ``forbidden``."""

    def numeral(match: re.Match[str]) -> str:
        if ":" in match.group():
            return _other_time(forbidden, rng)
        return _other(match.group(), forbidden, rng)

    def word(match: re.Match[str]) -> str:
        others = [w for w in NUMBER_WORDS if w != match.group().lower()]
        return like(match.group(), choose(rng, others))

    changed = _TIME_OR_NUMBER.sub(numeral, text)
    return MAGNITUDES.rewrite(NUMBER_LEXICON.pattern.sub(word, changed), rng)


def _other(numeral: str, forbidden: Collection[str], rng: np.random.Generator) -> str:
    """A number of the same form and about the same size."""
    plain = numeral.replace(",", "")
    if len(plain) > 15:  # an identifier rather than a quantity: another first digit will do
        return str((int(plain[0]) + 1 + int(rng.integers(7))) % 9 + 1) + numeral[1:]
    decimals = len(plain.partition(".")[2])
    step = 10.0**-decimals
    value = float(plain)
    if not decimals and len(plain) == 4 and 1700 <= value <= 2100:
        value += choose(rng, (-9, -6, -4, -3, -2, 2, 3, 5, 7))
    elif value <= 20 * step:
        value += step * choose(rng, (1, 2, 3, 4))
    else:
        value *= choose(rng, _FACTORS)
    grouped = "," in numeral
    written = _write(value, decimals, grouped)
    while written == numeral or written in forbidden:
        value += step
        written = _write(value, decimals, grouped)
    return written


def _other_time(forbidden: Collection[str], rng: np.random.Generator) -> str:
    hours = [f"{h:02d}" for h in range(6, 24) if f"{h:02d}" not in forbidden] or ["05"]
    minutes = [f"{m:02d}" for m in range(5, 60, 5) if f"{m:02d}" not in forbidden] or ["01"]
    return f"{choose(rng, hours)}:{choose(rng, minutes)}"


def _write(value: float, decimals: int, grouped: bool) -> str:
    return f"{value:,.{decimals}f}" if grouped else f"{value:.{decimals}f}"
