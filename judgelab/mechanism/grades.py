"""Reading a grade out of a reply, or out of the probabilities behind it. Unread is NaN."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import numpy as np

from judgelab.core.lm import Reply

_NUMBER = re.compile(r"(?<![\w.,-])(\d+(?:[.,]\d+)?)(?:\s*(?:/|out of|von)\s*\d+)?(?![\w]|[.,]\d)")
_RANGE = re.compile(r"\b\d+\s*(?:-|–|to)\s*\d+\b")


def read_grade(reply: Reply, low: int, high: int) -> float:
    """The grade a reply gives; NaN where it gives none, or several, or one outside the scale.

    ``4``, ``4.5``, ``4/5``, ``Coherence: 4`` are read. A reply with several numbers is read only
    if its last line holds one of them alone, as in reasoning that ends with a grade. The scale
    itself ("on a scale of 1-5") is no grade.
    """
    if reply.text is None:
        return np.nan
    found = _numbers(reply.text)
    if len(found) > 1:
        found = _numbers(reply.text.strip().splitlines()[-1])
    if len(found) != 1:
        return np.nan
    grade = found.pop()
    return grade if low <= grade <= high else np.nan


def _numbers(text: str) -> set[float]:
    bare = _RANGE.sub(" ", text)
    return {float(match[1].replace(",", ".")) for match in _NUMBER.finditer(bare)}


def expected_grade(reply: Reply, low: int, high: int) -> float:
    """Mean grade under the LM's probabilities of the grade's token (G-Eval).

    Read at the first token of the reply whose likeliest alternative is a grade; other
    alternatives there do not count, and grades among them share what is left. NaN where no token
    is a grade.
    """
    for alternatives in reply.top_logprobs:
        if alternatives and _grade(alternatives[0][0], low, high) is not None:
            return mean_grade(
                (grade, nats)
                for token, nats in alternatives
                if (grade := _grade(token, low, high)) is not None
            )
    return np.nan


def mean_grade(weighed: Iterable[tuple[int, float]]) -> float:
    """Mean of (grade, log-probability in nats) pairs, probabilities made to add up to 1."""
    pairs = list(weighed)
    if not pairs or any(math.isnan(nats) for _, nats in pairs):
        return np.nan
    top = max(nats for _, nats in pairs)
    shares = [math.exp(nats - top) for _, nats in pairs]
    return sum(g * s for (g, _), s in zip(pairs, shares, strict=True)) / sum(shares)


def _grade(token: str, low: int, high: int) -> int | None:
    """The grade a token says; white space and quoting around it do not matter."""
    bare = token.strip(" \t\n*\"'`")
    return int(bare) if bare.isdecimal() and low <= int(bare) <= high else None
