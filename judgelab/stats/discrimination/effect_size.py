"""Effect sizes between two groups of agents, and what an attack changes (TVD-MI paper, 4.2.1).

The paired effect size follows the released code of the TVD-MI paper (its section 4.3 speaks of
"paired Cohen's d"): the difference of the group means is formed per item, and the mean of these
differences is divided by their standard deviation *over items*. It is a d_z: it grows when
items are homogeneous, and is not comparable with the usual pooled d over agents.

Attacked and clean panels hold the same items, so the interval of a change resamples items once
and evaluates both sides on the same resample. An item or agent scored on one side only is left
out of both: a failed call is not an effect of the attack.

Throughout, NaN is unscored; shapes other than named, and infinities, are a ValueError.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import (
    ROUNDING,
    Floats,
    checked,
    checked_pair,
    disjoint_masks,
    divide,
    row_means,
    unit_scale,
)
from judgelab.stats.intervals.bootstrap import (
    item_weights,
    mean_with_p,
    percentile_interval,
    sign_flip_p,
)
from judgelab.stats.intervals.estimate import Estimate


def group_difference(scores: ArrayLike, positive: ArrayLike, negative: ArrayLike) -> Floats:
    """Mean score of the positive (good-faith) less that of the negative (problematic) agents.

    [items] from scores [items, agents] and boolean masks [agents]; NaN where either group has no
    scored agent.
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
    """d_z [draws] of every resample of ``item_weights``; NaN where one has no spread."""
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
        difference: [items] from ``group_difference``.
        draws, seed: bootstrap resamples.
        permutations: sign flips.

    Returns:
        NaN where ``effect_size`` is; with two scored items there is no interval.
    """
    items = checked(difference, 1, "The differences")
    n = int(np.count_nonzero(~np.isnan(items)))
    value = effect_size(items)
    if np.isnan(value):
        return Estimate(value, n=n, unscored=len(items) - n)
    samples = resampled_effect_sizes(items, item_weights(len(items), draws, seed))
    low, high = percentile_interval(samples) if n > 2 else (float("nan"), float("nan"))
    p = sign_flip_p(items, permutations, seed)
    return Estimate(value, low, high, n, len(items) - n, p)


def score_delta(
    clean: ArrayLike, attacked: ArrayLike, draws: int = 2000, seed: int = 0
) -> Estimate:
    """Mean over items of the mean over agents of attacked - clean, in units of the score.

    The paper's Table 4 prints a constant +-0.050 here, a fallback of its code; this is the
    item-bootstrap interval, with a sign-flip p over items.

    Args:
        clean, attacked: [items, agents], the same items and agents; NaN where unscored. Agents
            count where both sides are scored; items without such an agent are unscored.
        draws, seed: bootstrap resamples, and sign flips of the p value.
    """
    before, after = checked_pair(clean, attacked, 2, "The score delta")
    return mean_with_p(row_means(after - before), draws, seed)


def auc_delta(
    clean_auc: ArrayLike, attacked_auc: ArrayLike, draws: int = 2000, seed: int = 0
) -> Estimate:
    """Mean of attacked - clean AUC [items], on items that have both; else as ``score_delta``."""
    before, after = checked_pair(clean_auc, attacked_auc, 1, "The AUC delta")
    return mean_with_p(after - before, draws, seed)


def effect_size_delta(
    clean_difference: ArrayLike, attacked_difference: ArrayLike, draws: int = 2000, seed: int = 0
) -> Estimate:
    """d(attacked) - d(clean), paired effect sizes on the items scored in both.

    The interval subtracts the two d of one resample, so it is the interval of the change and
    not the sum of two intervals. p: two-sided, from swapping the clean and the attacked value of
    whole items at random, which is exact where the attack changes nothing.

    Args:
        clean_difference, attacked_difference: [items] from ``group_difference``, the same items.
        draws, seed: bootstrap resamples, and swaps of the p value.

    Returns:
        NaN where either d is undefined; no interval with fewer than three shared items.
    """
    before, after = checked_pair(clean_difference, attacked_difference, 1, "The effect-size delta")
    shared = ~(np.isnan(before) | np.isnan(after))
    before, after = np.where(shared, before, np.nan), np.where(shared, after, np.nan)
    n = int(np.count_nonzero(shared))
    value = effect_size(after) - effect_size(before)
    if np.isnan(value):
        return Estimate(value, n=n, unscored=len(shared) - n)
    weights = item_weights(len(shared), draws, seed)
    samples = resampled_effect_sizes(after, weights) - resampled_effect_sizes(before, weights)
    low, high = percentile_interval(samples) if n > 2 else (np.nan, np.nan)
    p = _swap_p(before[shared], after[shared], draws, seed)
    return Estimate(value, low, high, n, len(shared) - n, p)


def _swap_p(before: Floats, after: Floats, permutations: int, seed: int) -> float:
    """Share of random swaps whose change of d is at least the observed one (which counts)."""
    swap = np.random.default_rng((seed, 2)).random((permutations, len(before))) < 0.5
    swap[0] = False  # the observed assignment is one of those that could have been
    changes = _row_effect_sizes(np.where(swap, before, after)) - _row_effect_sizes(
        np.where(swap, after, before)
    )
    bar = abs(changes[0]) * (1 - 1e-12)
    return float(np.mean(~(np.abs(changes) < bar)))  # an undefined d counts against the finding


def _row_effect_sizes(values: Floats) -> Floats:
    spread = values.std(axis=1, ddof=1)
    return divide(values.mean(axis=1), np.where(spread > 0, spread, np.nan))
