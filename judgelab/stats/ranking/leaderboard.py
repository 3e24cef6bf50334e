"""A leaderboard with its uncertainty: mean and rank (GEM paper, section 5).

The paper's bars take 600 rows as independent, of which two at a time share a candidate's text. Here
a candidate has one number per item, and candidates are compared on the same items. NaN is unscored;
shapes other than named, and infinities, are a ValueError.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from judgelab.stats.discrimination.correlation import clustered_correlation
from judgelab.stats.intervals.arrays import Floats, average_ranks, check_array, check_pair, divide
from judgelab.stats.intervals.ends import mean_ends
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import Kind, item_weights

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Ranking:
    """One entry for each candidate, in the order of the scores."""

    value: Floats  # mean over scored items, in the unit of the scores; NaN without any
    low: Floats  # interval of the mean; NaN with fewer than three scored items
    high: Floats
    rank: Floats  # 1 is the highest mean, ties averaged; NaN without a mean
    rank_low: Floats  # best and worst that is compatible with the data; NaN without an interval
    rank_high: Floats
    n: Counts  # items with a score, and without
    unscored: Counts


def rank_intervals(
    scores: ArrayLike,
    level: float = 0.90,
    draws: int = 2000,
    seed: int = 0,
    bounds: tuple[float, float] | None = None,
) -> Ranking:
    """Means, ranks and their intervals, with items as the unit.

    Intervals of means are over items (``mean_ends``). That of a rank counts the certainly better
    and the certainly worse: differences of all pairs of candidates, on the items that both have,
    with one critical value for all of them, from the largest studentised difference of each item
    resample, step by step (Mogstad, Romano, Shaikh and Wilhelm 2024). So the ranks of all hold
    together: at .90 in .87 or more of simulations of 5, 10 and 20 tied candidates and 12 to 100
    items; a critical value of each candidate's own held all ranks of five in .74 to .84.

    Of scores [items, candidates], higher is better, NaN where unscored. ``level`` is of all
    intervals (the paper draws 90 %). The ``bounds`` of a score, by default the least and largest
    there are, decide from how many items on a difference that is always the same is certain.
    """
    table = check_array(scores, 2, "The scores of a leaderboard")
    n, mean, _, _ = _over_items(table)
    low, high = mean_ends(table.T, level)
    if len(table) == 0 or table.shape[1] == 0:
        rank_low = rank_high = np.full(table.shape[1], np.nan)
    else:
        weights = item_weights(len(table), draws, seed)
        limits = bounds or (np.nan_to_num(np.nanmin(table)), np.nan_to_num(np.nanmax(table)))
        rank_low, rank_high = _rank_bounds(table, weights, level, float(limits[1] - limits[0]))
        # Without an interval of the mean there is none of the rank either.
        rank_low, rank_high = (np.where(n > 2, r, np.nan) for r in (rank_low, rank_high))
    rank, unscored = average_ranks(-mean), len(table) - n
    return Ranking(mean, low, high, rank, rank_low, rank_high, n, unscored)


def _over_items(values: Floats) -> tuple[Counts, Floats, Floats, Floats]:
    """By column: scored items, their mean and its standard error; and the centred values."""
    has_score = ~np.isnan(values)
    n = np.count_nonzero(has_score, axis=0).astype(np.int64)
    mean = divide(np.where(has_score, values, 0.0).sum(axis=0), n)
    centred = np.where(has_score, values - np.nan_to_num(mean), 0.0)
    error = np.sqrt(divide((centred**2).sum(axis=0), n * np.maximum(n - 1, 0)))
    return n, mean, error, centred


def _rank_bounds(
    table: Floats, weights: Floats, level: float, span: float
) -> tuple[Floats, Floats]:
    """(1 + the certainly better, candidates - the certainly worse) for each candidate.

    Pairs whose |t| exceeds what resamples have for the largest of all pairs are sure; they leave,
    and the largest of the rest decides on the rest (Romano and Wolf 2005).
    """
    candidates = table.shape[1]
    if candidates < 2:
        return np.ones(candidates), np.ones(candidates)
    entrants = int(np.count_nonzero(~np.isnan(table).all(axis=0)))
    first, second = np.triu_indices(candidates, 1)
    rows = [
        _resampled_gaps(table[:, [own]] - table[:, own + 1 :], weights)
        for own in range(candidates - 1)
    ]
    n, gap, error = (np.concatenate([row[part] for row in rows]) for part in range(3))
    deviations = np.concatenate([row[3] for row in rows], axis=1)
    # Gaps that are all alike have no t: others may be seen yet, as far off as the scale reaches.
    unseen = 1 - ((1 - level) / (2 * len(gap))) ** (1 / np.maximum(n, 1))
    sure = (error == 0) & (np.abs(gap) > unseen * (np.abs(gap) + span))
    t, open_ = np.abs(divide(gap, error)), error > 0
    while open_.any():
        bar = np.quantile(deviations[:, open_].max(axis=1), level, method="higher")
        more = open_ & (t > bar)
        if not more.any():
            break
        sure, open_ = sure | more, open_ & ~more
    above = np.zeros((candidates, candidates), dtype=np.bool_)
    above[first, second], above[second, first] = sure & (gap > 0), sure & (gap < 0)
    return 1.0 + above.sum(axis=0), float(entrants) - above.sum(axis=1)


def _resampled_gaps(gaps: Floats, weights: Floats) -> tuple[Counts, Floats, Floats, Floats]:
    """Items, mean differences [others], standard errors over items, and |t| of every resample.

    t is in standard errors of that resample: with the error of the data instead, 12 items of tied
    candidates got ranks that are too certain one time in five.
    """
    n, mean, error, centred = _over_items(gaps)
    error[error <= 1e-12 * np.abs(np.nan_to_num(mean))] = 0.0
    error[n < 3] = np.nan
    counts = weights @ (~np.isnan(gaps)).astype(np.float64)
    shift = divide(weights @ centred, counts)
    variance = divide(weights @ centred**2, counts) - shift**2
    spread = np.sqrt(np.maximum(divide(variance, np.maximum(counts - 1, 0)), 0.0))
    deviations = np.abs(divide(shift, spread))
    # A resample of one item over and over has no spread: as far off as can be.
    deviations[~(spread > 1e-6 * error)] = np.inf
    return n, mean, error, deviations.astype(np.float32)


def agreement(
    x: ArrayLike,
    y: ArrayLike,
    method: Literal["spearman", "pearson"] = "spearman",
    draws: int = 2000,
    seed: int = 0,
    interval: Kind = "items",
) -> Estimate:
    """Correlation over the models that are in both leaderboards (appendix A.2), of [models] each.

    NaN where a model is missing; else as of ``clustered_correlation``, models being the items. p:
    Student's t of r with n - 2 degrees of freedom. Models of one family are not independent:
    interval and p are optimistic.
    """
    first, second = check_pair(x, y, 1, "The agreement of leaderboards")
    estimate = clustered_correlation(first[:, None], second[:, None], method, draws, seed, interval)
    r, n = estimate.value, estimate.n
    if np.isnan(r) or n < 3 or abs(r) == 1:
        return estimate
    t = abs(r) * np.sqrt((n - 2) / (1 - r * r))
    return replace(estimate, p=float(2 * stdtr(n - 2, -t)))
