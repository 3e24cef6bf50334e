"""How often scores order two responses to the same item as people do."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import Floats, divide


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
    said, wanted = np.sign(first[:, i] - first[:, j]), np.sign(second[:, i] - second[:, j])
    apart = ~np.isnan(said) & ~np.isnan(wanted) & (wanted != 0)
    credit = np.where(apart, (1 + said * wanted) / 2, 0.0)
    return divide(credit.sum(axis=1), apart.sum(axis=1))
