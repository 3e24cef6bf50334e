"""Average ranks by row, with NaN left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from judgelab.stats.arrays import Floats


def average_ranks(values: ArrayLike) -> Floats:
    """Ranks 1, 2, ... along the last axis, ties averaged; NaN cells stay NaN and rank nothing.

    scipy's own ``nan_policy="omit"`` walks row by row in Python. Instead NaN is ranked as
    +infinity, above everything else; only true infinities then tie with it, and their average
    rank comes out too high by half the number of NaN in the row.
    """
    cells = np.asarray(values, dtype=np.float64)
    if cells.size == 0:
        return np.empty(cells.shape)
    absent = np.isnan(cells)
    if not absent.any():
        return np.asarray(rankdata(cells, axis=-1), dtype=np.float64)
    ranks = np.asarray(rankdata(np.where(absent, np.inf, cells), axis=-1), dtype=np.float64)
    excess = absent.sum(axis=-1, keepdims=True) / 2
    ranks = np.where(np.isposinf(cells), ranks - excess, ranks)
    ranks[absent] = np.nan
    return ranks
