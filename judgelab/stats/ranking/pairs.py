"""Pairs of systems: how often a metric ranks them as people do, and how sure its own order is.

``ranked_pairs`` samples items anew with people's means as the truth, the empirical side of the
ranking-confidence paper (section 3, figures 5 and 6); ``ordered_pairs`` needs no people.

Throughout, NaN is unscored; shapes other than named, and infinities, are a ValueError.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from judgelab.stats.intervals.arrays import (
    ROUNDING,
    Floats,
    checked,
    checked_pair,
    divide,
    row_means,
)

CHUNK = 1 << 22
"""Items drawn at a time, so that memory does not grow with N."""


@dataclass(frozen=True)
class RankedPairs:
    """Every pair of systems that people do not hold equal.

    Attributes:
        first, second: [pairs] column of the system that people hold better, and of the other.
        delta: [pairs] difference of their human means, above 0.
        paired: [pairs] share of resamples in which the metric agrees, both systems rated on the
            same items; a tie counts one half.
        unpaired: [pairs] the same with items drawn for each system on its own.
        observed: [pairs] 1, .5 or 0: whether the metric agrees on the data as they are.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    delta: Floats
    paired: Floats
    unpaired: Floats
    observed: Floats


def ranked_pairs(
    human: ArrayLike, metric: ArrayLike, items: int | None = None, draws: int = 2000, seed: int = 1
) -> RankedPairs:
    """Bootstrap of the metric's ranking, with the human means as the truth.

    Truth and resamples come from the same items: the share says how the metric does on these
    texts, not on new ones. A system without any human or metric score is in no pair.

    Args:
        human: [items, systems]; a system's mean is over all its texts that people scored.
        metric: [items, systems], NaN where unscored.
        items: in a resample; None for as many as there are.
        draws, seed: resamples.
    """
    truth, values = checked_pair(human, metric, 2, "Human and metric scores")
    size = items or len(values)
    generator = np.random.default_rng(seed)
    one, other = (_resampled(values, size, draws, generator) for _ in range(2))
    means, now = row_means(truth.T), row_means(values.T)
    left, right = np.triu_indices(values.shape[1], k=1)
    gap = means[left] - means[right]
    usable = (np.abs(gap) > _least(truth)) & ~np.isnan(now[left] - now[right])
    left, right, gap = left[usable], right[usable], gap[usable]
    first, second = np.where(gap > 0, left, right), np.where(gap > 0, right, left)
    return RankedPairs(
        first,
        second,
        np.abs(gap),
        _agreeing(one[:, first] - one[:, second], _least(values)),
        _agreeing(one[:, first] - other[:, second], _least(values)),
        _agreeing(now[None, first] - now[None, second], _least(values)),
    )


def _least(values: Floats) -> float:
    """Up to this difference means are equal but for rounding."""
    return float(ROUNDING * np.abs(np.nan_to_num(values)).max(initial=0.0))


def _resampled(values: Floats, size: int, draws: int, generator: np.random.Generator) -> Floats:
    """[draws, systems] means of resampled items."""
    counts = np.empty((draws, len(values)))
    step = max(1, CHUNK // size)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        drawn = generator.integers(0, len(values), size=(rows, size))
        cells = drawn + len(values) * np.arange(rows)[:, None]
        found = np.bincount(cells.ravel(), minlength=rows * len(values))
        counts[start : start + rows] = found.reshape(rows, -1)
    scored = ~np.isnan(values)
    return divide(counts @ np.where(scored, values, 0.0), counts @ scored.astype(np.float64))


def _agreeing(gaps: Floats, least: float) -> Floats:
    """Share of rows above 0; a tie (no more than ``least``), or a row without both, is a half."""
    above, below = (gaps > least).mean(axis=0), (gaps < -least).mean(axis=0)
    return np.asarray((1 + above - below) / 2, dtype=np.float64)


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

    The metric's noise is part of the spread of the differences, so no correlation with people is
    needed; an error shared by all texts of a system, which the scores cannot show, adds
    2 bias_sd^2 to the variance of a difference of means. All true differences count as equally
    likely beforehand, and multiple comparison is not corrected for: where systems are close to one
    another, orders are less sure than it says.

    Args:
        metric: [items, systems], NaN where unscored.
        bias_sd: sd over systems of the error that a system's scores share, in *metric* units.
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
    least = _least(values)
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
