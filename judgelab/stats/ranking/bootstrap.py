"""How often a metric ranks two systems as people do when items are sampled anew.

The empirical side of the ranking-confidence paper (section 3, figures 5 and 6).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats, checked_pair, divide, row_means
from judgelab.stats.ranking.system_gaps import ROUNDING

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

    Truth and resamples come from the same items, so where systems are close the truth is itself a
    sample, and the share says how the metric does on these texts, not on new ones.

    Args:
        human: [items, systems]; a system's mean is over all its texts that people scored.
        metric: [items, systems], NaN where unscored.
        items: items in a resample; None for as many as there are.
        draws: resamples.
        seed: of the resamples.

    Returns:
        Pairs in the order of the columns. A system without any human or metric score is in none.

    Raises:
        ValueError: shapes differ, infinities, no items, or no draws.
    """
    truth, values = checked_pair(human, metric, 2, "Human and metric scores")
    count, size = len(values), items or len(values)
    if count < 1 or size < 1 or draws < 1:
        raise ValueError("A bootstrap needs items and draws.")
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
