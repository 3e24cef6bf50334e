"""Checked arrays, averages and ranks that treat NaN as "unscored" without a warning.

Arrays that a check refuses are a ValueError.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

ROUNDING = 1e-12  # a spread or difference below this share of the largest value counts as none


def check_array(values: ArrayLike, ndim: int, what: str) -> Floats:
    """``values`` as float64 with ``ndim`` dimensions; NaN allowed, infinities not."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != ndim:
        raise ValueError(f"{what} needs {ndim} dimensions, but has shape {array.shape}.")
    if np.isinf(array).any():
        raise ValueError(f"{what} has infinite entries: mark what could not be scored as NaN.")
    return array


def check_pair(x: ArrayLike, y: ArrayLike, ndim: int, what: str) -> tuple[Floats, Floats]:
    """Two arrays of one shape, each as by ``check_array``."""
    first, second = check_array(x, ndim, what), check_array(y, ndim, what)
    if first.shape != second.shape:
        raise ValueError(
            f"{what}: both arrays must have one shape, got {first.shape} and {second.shape}."
        )
    return first, second


def divide(numerator: ArrayLike, denominator: ArrayLike) -> Floats:
    """Elementwise quotient, NaN where the denominator is 0 or either side is NaN."""
    top = np.asarray(numerator, dtype=np.float64)
    bottom = np.asarray(denominator, dtype=np.float64)
    quotient = np.full(np.broadcast(top, bottom).shape, np.nan)
    np.divide(top, bottom, out=quotient, where=bottom != 0)
    return quotient


def row_means(values: Floats, axis: int | tuple[int, ...] = -1) -> Floats:
    """Mean over the last axis, or others, of what is scored; NaN for a row without any score."""
    has_score = ~np.isnan(values)
    return divide(np.where(has_score, values, 0.0).sum(axis=axis), has_score.sum(axis=axis))


def average_ranks(values: ArrayLike) -> Floats:
    """Ranks 1, 2, ... along the last axis, ties averaged; NaN cells stay NaN and rank nothing."""
    import pandas as pd  # half a second, which a finished run does not take

    cells = np.asarray(values, dtype=np.float64)
    if cells.size == 0:
        return np.empty(cells.shape)
    rows = pd.DataFrame(cells.reshape(-1, cells.shape[-1]))
    return rows.rank(axis=1).to_numpy().reshape(cells.shape)
