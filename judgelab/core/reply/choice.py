"""Reading a verdict or grade out of a reply. What cannot be read is absent: no tie, never 0.

Labels are whole words: "one" is not in "none", nor "low" in "following". Where a text names
several, ``which`` says whether the first or the last of them counts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal

import numpy as np

from judgelab.core.lm import Reply

Which = Literal["first", "last"]

NUMBER = re.compile(
    r"(?<![\w./-])(?<!\d,)(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w)(?!\.\d)(?!,\d)(?!-\d)"
)
"""A number by itself, perhaps with its thousands set apart (1,000): no part of a word, a date or a
range (1-5), not what a slash divides by, nor one of digits around a comma (3,5)."""


BRACKETED = re.compile(r"\[\[([^\[\]]+)\]\]")


def read_choice(text: str | None, labels: Iterable[str], which: Which = "first") -> str | None:
    """The first or last label that the text holds as a whole word, in any case; None without one.

    Two labels at the same place: the longer one counts ("very low" before "low").
    """
    found = _pattern(tuple(labels)).findall((text or "").lower())
    if not found:
        return None
    return str(found[0 if which == "first" else -1])


def named(text: str, labels: Iterable[str]) -> set[str]:
    """The labels, in small letters, that the text holds as whole words, in any case."""
    return set(_pattern(tuple(labels)).findall(text.lower()))


@lru_cache(maxsize=64)
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    ordered = sorted((label.lower() for label in labels), key=len, reverse=True)
    return re.compile(rf"(?<!\w)({'|'.join(map(re.escape, ordered))})(?!\w)")


def bracketed(text: str, values: Mapping[str, float]) -> float:
    """The value of the label in double brackets; NaN where the text does not say which.

    Case and spaces inside the brackets do not matter. One label, wherever it stands, is read. A
    reply with different labels (models restate the options before they answer) is read only if
    its last line holds a single one and nothing after it, alone or behind a colon: "Verdict:
    [[B]]". Prose such as "[[A]] is better than [[B]]" is unscored.
    """
    known = _labels(text, values)
    if len(set(known)) > 1:
        last = text.strip().splitlines()[-1]
        known = _labels(last, values)
        before = BRACKETED.split(last)[0].strip(" *_#>`-")
        after = last[last.rfind("]]") + 2 :].strip(" *_`.")
        if len(known) != 1 or after or not (before == "" or before.endswith(":")):
            return np.nan
    return values[known[0]] if known else np.nan


def _labels(text: str, values: Mapping[str, float]) -> list[str]:
    names = (" ".join(found.lower().split()) for found in BRACKETED.findall(text))
    return [name for name in names if name in values]


def expected_grade(reply: Reply, low: int, high: int) -> float:
    """Mean grade under the LM's probabilities of the grade's token (G-Eval).

    Read at the first token of the reply whose likeliest alternative is a grade; other
    alternatives there do not count, and grades among them share what is left. NaN where no token
    is a grade.
    """
    for alternatives in reply.top_logprobs:
        if alternatives and _grade_of(alternatives[0][0], low, high) is not None:
            return mean_grade(
                (grade, nats)
                for token, nats in alternatives
                if (grade := _grade_of(token, low, high)) is not None
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


def _grade_of(token: str, low: int, high: int) -> int | None:
    """The grade a token says; white space and quoting around it do not matter."""
    bare = token.strip(" \t\n*\"'`")
    return int(bare) if bare.isdecimal() and low <= int(bare) <= high else None
