"""Reading a verdict out of free text. What cannot be read is absent: never a tie, never 0.

Labels are whole words: "one" is not in "none", nor "low" in "following". Where a text names
several, ``which`` says whether the first or the last of them counts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

Which = Literal["first", "last"]

NUMBER = re.compile(
    r"(?<![\w./-])(?<!\d,)(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w)(?!\.\d)(?!,\d)(?!-\d)"
)
"""A number by itself, perhaps with its thousands set apart (1,000): no part of a word, a date or a
range (1-5), not what a slash divides by, nor one of digits around a comma (3,5)."""


def read_choice(text: str | None, labels: Iterable[str], which: Which = "first") -> str | None:
    """The first or last label that the text holds as a whole word, in any case; None without one.

    Two labels at the same place: the longer one counts ("very low" before "low").
    """
    found = _pattern(tuple(labels)).findall((text or "").lower())
    if not found:
        return None
    return str(found[0 if which == "first" else -1])


def read_number(text: str | None, low: float, high: float, which: Which = "first") -> float:
    """The first or last number of the text, NaN where there is none or it lies outside the scale.

    ``4/5`` and ``85%`` are 4 and 85; the ends of a range such as ``1-5`` are no numbers.
    """
    found = NUMBER.findall(text or "")
    if not found:
        return math.nan
    value = float(found[0 if which == "first" else -1].replace(",", ""))
    return value if low <= value <= high else math.nan


@lru_cache(maxsize=64)
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    ordered = sorted((label.lower() for label in labels), key=len, reverse=True)
    return re.compile(rf"(?<!\w)({'|'.join(map(re.escape, ordered))})(?!\w)")
