"""Average ranks by row, with NaN left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import Floats


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
        return _ranked(cells)
    ranks = _ranked(np.where(absent, np.inf, cells))
    excess = absent.sum(axis=-1, keepdims=True) / 2
    ranks = np.where(np.isposinf(cells), ranks - excess, ranks)
    ranks[absent] = np.nan
    return ranks


def _ranked(cells: Floats) -> Floats:
    """``scipy.stats.rankdata`` along the last axis, without the second that scipy.stats takes."""
    order = np.argsort(cells, axis=-1)
    ordered = np.take_along_axis(cells, order, axis=-1)
    places = np.arange(cells.shape[-1])
    differs = ordered[..., 1:] != ordered[..., :-1]
    edge = np.ones((*cells.shape[:-1], 1), dtype=np.bool_)
    first = np.maximum.accumulate(
        np.where(np.concatenate([edge, differs], axis=-1), places, 0), axis=-1
    )
    ends = np.where(np.concatenate([differs, edge], axis=-1), places, places[-1])
    last = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(cells.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    return ranks
