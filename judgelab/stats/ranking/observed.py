"""How sure is an order that a metric has given, from its own scores?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from judgelab.stats.intervals.arrays import Floats, checked, divide, row_means
from judgelab.stats.ranking.system_gaps import ROUNDING


@dataclass(frozen=True)
class OrderedPairs:
    """Every two systems with shared items, the one with the higher mean first.

    Attributes:
        first, second: [pairs] columns.
        gap: [pairs] mean difference over the items that both were scored on, metric units, 0 or
            more.
        shared: [pairs] number of these items.
        sampled: [pairs] confidence that the same metric would keep the order on all items of the
            kind: only the sampling of items is in doubt.
        agreed: [pairs] confidence that people have the same order: an error that each system's
            scores share is in doubt too. Equal to ``sampled`` where that error is taken as 0.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    gap: Floats
    shared: NDArray[np.int64]
    sampled: Floats
    agreed: Floats


def ordered_pairs(metric: ArrayLike, bias_sd: float = 0.0) -> OrderedPairs:
    """Student's t on the paired differences of every two systems; a tie is .5.

    Where all differences are equal they show no spread, and t is not defined: then it is the sign
    test, 1 - 2^-n for n items that all say the same.

    The metric's noise is part of the spread of the differences, so a correlation with people is
    not needed here; what the scores themselves cannot show is an error shared by all texts of a
    system, which adds 2 bias_sd^2 to the variance of a difference of means. All true differences
    count as equally likely beforehand, and nothing is held against multiple comparison: where
    systems are close to one another, orders are less sure than it says.

    Args:
        metric: [items, systems], NaN where unscored.
        bias_sd: sd over systems of the error that a system's scores share, in *metric* units.

    Raises:
        ValueError: not two-dimensional, infinities, or a negative bias.
    """
    values = checked(metric, 2, "Metric scores")
    if not bias_sd >= 0:
        raise ValueError(f"bias_sd must not be negative, got {bias_sd}.")
    left, right = np.triu_indices(values.shape[1], k=1)
    apart = values[:, left] - values[:, right]
    shared = (~np.isnan(apart)).sum(axis=0)
    usable = shared >= 2
    left, right, apart, shared = left[usable], right[usable], apart[:, usable], shared[usable]
    gap = row_means(apart.T)
    variance = row_means(((apart - gap) ** 2).T) / (shared - 1)
    # sums of equal scores differ in their last digits: neither a gap nor a spread
    least = ROUNDING * np.abs(np.nan_to_num(values)).max(initial=0.0)
    turned, size = gap < 0, np.where(np.abs(gap) > least, np.abs(gap), 0.0)
    variance = np.where(variance > least**2, variance, 0.0)
    sampled = _sure(size, variance, shared)
    return OrderedPairs(
        np.where(turned, right, left),
        np.where(turned, left, right),
        size,
        shared,
        sampled,
        np.minimum(sampled, _sure(size, variance + 2 * bias_sd**2, shared)),
    )


def _sure(gap: Floats, variance: Floats, shared: NDArray[np.int64]) -> Floats:
    z = divide(gap, np.sqrt(variance))
    alike = np.where(gap > 0, 1 - 0.5**shared, 0.5)
    return np.asarray(np.where(np.isnan(z), alike, stdtr(shared - 1, z)), dtype=np.float64)
