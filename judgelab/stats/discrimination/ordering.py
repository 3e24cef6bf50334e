"""How often scores order two responses to the same item as people do."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import ROUNDING, Floats, divide


def same_order(scores: ArrayLike, human: ArrayLike) -> Floats:
    """[items] share of an item's pairs, of those that people tell apart, that scores order alike.

    A tie of the scores earns one half. Both are [items, agents]; NaN (unscored, or no human score)
    leaves a response out, and an item without such a pair is NaN.

    Raises:
        ValueError: the shapes differ.
    """
    first, second = np.asarray(scores, np.float64), np.asarray(human, np.float64)
    if first.ndim != 2 or first.shape != second.shape:
        raise ValueError(
            f"Scores and people's scores need [items, agents] alike, but have shapes {first.shape} "
            f"and {second.shape}."
        )
    i, j = np.triu_indices(first.shape[1], k=1)
    said, wanted = (_sign(values[:, i], values[:, j]) for values in (first, second))
    apart = ~np.isnan(said) & ~np.isnan(wanted) & (wanted != 0)
    credit = np.where(apart, (1 + said * wanted) / 2, 0.0)
    return divide(credit.sum(axis=1), apart.sum(axis=1))


def _sign(first: Floats, second: Floats) -> Floats:
    """1, 0, -1 or NaN; equal up to rounding is equal: a mean of .7 and .1 is one of .4 and .4."""
    apart = first - second
    largest = np.maximum(np.abs(first), np.abs(second))
    return np.where(np.abs(apart) <= ROUNDING * largest, 0.0, np.sign(apart))
