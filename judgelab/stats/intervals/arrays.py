"""Checked arrays, averages and ranks that treat NaN as "unscored" without a warning.

Arrays that a check refuses are a ValueError.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

ROUNDING = 1e-12
"""A spread or difference below this share of the largest value is rounding, so counted as none."""


def checked(values: ArrayLike, ndim: int, what: str) -> Floats:
    """``values`` as float64 with ``ndim`` dimensions; NaN allowed, infinities not."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != ndim:
        raise ValueError(f"{what} needs {ndim} dimensions, but has shape {array.shape}.")
    if np.isinf(array).any():
        raise ValueError(f"{what} has infinite entries: mark what could not be scored as NaN.")
    return array


def checked_pair(x: ArrayLike, y: ArrayLike, ndim: int, what: str) -> tuple[Floats, Floats]:
    """Two arrays of one shape, each as by ``checked``."""
    first, second = checked(x, ndim, what), checked(y, ndim, what)
    if first.shape != second.shape:
        raise ValueError(
            f"{what}: both arrays must have one shape, got {first.shape} and {second.shape}."
        )
    return first, second


def divide(numerator: ArrayLike, denominator: ArrayLike) -> Floats:
    """Elementwise quotient, NaN where the denominator is 0 or either side is NaN."""
    top, bottom = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    quotient = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=quotient, where=bottom != 0)
    return quotient


def row_means(values: Floats) -> Floats:
    """Mean over the last axis of what is scored; NaN for a row without any score."""
    scored = ~np.isnan(values)
    return divide(np.where(scored, values, 0.0).sum(axis=-1), scored.sum(axis=-1))


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
