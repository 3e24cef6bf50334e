"""Small words that the tables of biases share."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.trust.betting import holm


def side(effect: float, p: float, alpha: float, above: str, below: str) -> str:
    """Which side of 0 an effect is on, if that is sure."""
    if math.isnan(effect) or math.isnan(p):
        return "not known"
    return "not clear" if p > alpha else above if effect > 0 else below


def adjusted(p: Floats, among: Mask) -> Floats:
    """p after Holm over these judges as far as they were tested; NaN for the others."""
    return holm(np.where(among, p, np.nan))


def listed(names: Sequence[str], most: int = 6) -> str:
    """Some names, and how many more."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
