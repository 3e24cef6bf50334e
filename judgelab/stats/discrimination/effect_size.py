"""Effect sizes between two groups of agents.

The paired effect size follows the released code of the TVD-MI paper (its section 4.3 speaks of
"paired Cohen's d"): the difference of the group means is formed per item, and the mean of these
differences is divided by their standard deviation *over items*. It is a d_z: it grows when
items are homogeneous, and is not comparable with the usual pooled d over agents, which
``pooled_cohens_d`` computes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from judgelab.stats.intervals.arrays import (
    Floats,
    checked,
    disjoint_masks,
    divide,
    row_means,
    unit_scale,
)
from judgelab.stats.intervals.bootstrap import item_weights, percentile_interval
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.sign_flip import sign_flip_p

ROUNDING = 1e-12
"""A spread below this share of the largest value is rounding noise, so counted as none."""


def group_difference(scores: ArrayLike, positive: ArrayLike, negative: ArrayLike) -> Floats:
    """Per item: mean score of the positive agents minus that of the negative agents.

    Args:
        scores: [items, agents], NaN where unscored.
        positive: boolean mask [agents] (good-faith agents).
        negative: boolean mask [agents] (problematic agents).

    Returns:
        [items]; NaN where either group has no scored agent.

    Raises:
        ValueError: shapes do not fit, or an agent is in both groups.
    """
    table = checked(scores, 2, "The scores")
    first, second = disjoint_masks(positive, negative, table.shape[1])
    return row_means(table[:, first]) - row_means(table[:, second])


def effect_size(difference: ArrayLike) -> float:
    """d_z = mean / standard deviation (ddof 1) of the items that are not NaN.

    NaN with fewer than two items, or where all items have the same difference (up to
    rounding): without spread there is no scale to measure the mean in, however large it is.
    """
    items = checked(difference, 1, "The differences")
    items = unit_scale(items[~np.isnan(items)])
    if items.size < 2 or np.ptp(items) <= ROUNDING:
        return float("nan")
    return float(items.mean() / items.std(ddof=1))


def resampled_effect_sizes(difference: Floats, weights: Floats) -> Floats:
    """d_z of every resample [draws]; NaN where a resample has no spread (or no two items).

    Args:
        difference: [items], NaN where unscored.
        weights: [draws, items] from ``item_weights``.
    """
    scored = ~np.isnan(difference)
    if not scored.any():
        return np.full(len(weights), np.nan)
    counts = weights[:, scored]
    items = unit_scale(difference[scored])
    totals = counts.sum(axis=1)
    means = divide(counts @ items, totals)
    # Two passes: sums of squares would lose small spreads of a few repeated items.
    deviations = (items - np.nan_to_num(means)[:, None]) ** 2
    squares = np.einsum("di,di->d", counts, deviations)
    spreads = np.sqrt(divide(squares, np.maximum(totals - 1, 0)))
    spreads[~(spreads > ROUNDING)] = np.nan
    return divide(means, spreads)


def paired_effect_size(
    difference: ArrayLike, draws: int = 2000, seed: int = 0, permutations: int = 2000
) -> Estimate:
    """d_z over items with a percentile bootstrap interval and a two-sided sign-flip p.

    The interval resamples items; resamples without spread have no d and are left out. The
    percentile interval is the released code's; for few items it is biased away from 0 and too
    narrow (on normal data it covers .86 of the time at 12 items and .90 at 30, not .95).

    Args:
        difference: [items] from ``group_difference``, NaN where unscored.
        draws: bootstrap resamples.
        seed: of the resamples and of the sign flips.
        permutations: sign flips.

    Returns:
        An estimate of NaN (interval and p too) with fewer than two scored items, or where the
        scored items all have the same difference; with two there is no interval. n and unscored
        are always set.

    Raises:
        ValueError: ``difference`` is not one-dimensional or holds infinities.
    """
    items = checked(difference, 1, "The differences")
    n = int(np.count_nonzero(~np.isnan(items)))
    value = effect_size(items)
    if np.isnan(value):
        return Estimate(value, value, value, n, len(items) - n)
    samples = resampled_effect_sizes(items, item_weights(len(items), draws, seed))
    low, high = percentile_interval(samples) if n > 2 else (float("nan"), float("nan"))
    p = sign_flip_p(items, permutations, seed)
    return Estimate(value, low, high, n, len(items) - n, p)


def pooled_cohens_d(x: ArrayLike, y: ArrayLike) -> float:
    """Cohen's d of two independent samples: (mean x - mean y) / pooled standard deviation.

    NaN entries are left out; NaN with fewer than two values on a side or without any spread.
    """
    first, second = _samples(x, y)
    if _without_spread(first, second):
        return float("nan")
    squares = (len(first) - 1) * first.var(ddof=1) + (len(second) - 1) * second.var(ddof=1)
    pooled = np.sqrt(squares / (len(first) + len(second) - 2))
    return float((first.mean() - second.mean()) / pooled)


def welch_p(x: ArrayLike, y: ArrayLike) -> float:
    """Two-sided p of Welch's t test (unequal variances) for two independent samples.

    NaN entries are left out; NaN with fewer than two values on a side or without any spread.
    """
    first, second = _samples(x, y)
    if _without_spread(first, second):
        return float("nan")
    ours, theirs = (x.std(ddof=1) ** 2 / len(x) for x in (first, second))
    squares = ours**2 / (len(first) - 1) + theirs**2 / (len(second) - 1)
    freedom = (ours + theirs) ** 2 / squares
    distance = abs(first.mean() - second.mean()) / np.sqrt(ours + theirs)
    return float(2 * stdtr(freedom, -distance))


def _samples(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """The scored values of both samples, on one common scale."""
    first, second = checked(x, 1, "A sample"), checked(y, 1, "A sample")
    first, second = first[~np.isnan(first)], second[~np.isnan(second)]
    both = unit_scale(np.concatenate([first, second]))
    return both[: len(first)], both[len(first) :]


def _without_spread(x: Floats, y: Floats) -> bool:
    return bool(min(len(x), len(y)) < 2 or max(np.ptp(x), np.ptp(y)) <= ROUNDING)
