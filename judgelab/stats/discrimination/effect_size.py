"""Effect sizes between two groups of agents, and what an attack changes (TVD-MI paper, 4.2.1).

The paired effect size follows the released code of the TVD-MI paper (its section 4.3 speaks of
"paired Cohen's d"): the difference of the group means is formed per item, and the mean of these
differences is divided by their standard deviation *over items*. It is a d_z: it grows when
items are homogeneous, and is not comparable with the usual pooled d over agents.

Attacked and clean panels hold the same items, so the interval of a change takes each item's part
in both sides together. An item or agent scored on one side only is left out of both: a failed call
is not an effect of the attack. ``interval="percentile"`` is the released code's: the percentile
bootstrap over items, both sides on one resample.

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
from judgelab.stats.intervals.bootstrap import item_weights, percentile_interval, sign_flip_p
from judgelab.stats.intervals.ends import t_ends, t_p
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import Kind, with_p


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


def effect_size_parts(difference: Floats, less: Floats | None = None) -> Floats:
    """[..., items] what each adds to d_z, or to d_z minus that of ``less``: t ends and p are its.

    Of [..., items], all scored. The jackknife's pseudo-values, whose mean is d without its bias
    away from 0. Their squared error is divided by n, not n - 1, as the jackknife overstates it on
    few items. Exact intervals (noncentral t) hold on normal differences alone: on exponential
    ones they cover from .74 to .997.
    """
    whole, without = _jackknifed(difference)
    if less is not None:
        other, other_without = _jackknifed(less)
        whole, without = whole - other, without - other_without
    n = difference.shape[-1]
    pseudo = n * whole[..., None] - (n - 1) * without
    centre = pseudo.mean(axis=-1, keepdims=True)
    return np.asarray(centre + np.sqrt((n - 1) / n) * (pseudo - centre))


def _jackknifed(values: Floats) -> tuple[Floats, Floats]:
    """d_z [...] and without each item in turn [..., items]; NaN where there is no spread."""
    n = values.shape[-1]
    mean = values.mean(axis=-1, keepdims=True)
    off = values - mean
    squares = (off**2).sum(axis=-1, keepdims=True)
    left = np.maximum(squares - off**2 * (n / max(n - 1, 1)), 0.0) / max(n - 2, 1)
    whole = divide(mean[..., 0], np.sqrt(squares[..., 0] / max(n - 1, 1)))
    flat = left <= 1e-12 * squares  # equal but for rounding
    return whole, divide(mean - off / max(n - 1, 1), np.sqrt(np.where(flat, 0.0, left)))


def paired_effect_size(
    difference: ArrayLike,
    draws: int = 2000,
    seed: int = 0,
    interval: Kind = "items",
) -> Estimate:
    """d_z over items with an interval and the two-sided p of the same test.

    Args:
        difference: [items] from ``group_difference``.
        draws, seed: bootstrap resamples and sign flips (percentile).
        interval: Student's t on ``effect_size_parts``; or the released code's percentile
            bootstrap with a sign-flip p, biased away from 0 and too narrow on few items (on normal
            data it covers .86 of the time at 12 items and .90 at 30). Resamples without spread
            have no d and are left out.

    Returns:
        NaN where ``effect_size`` is; with two scored items there is no interval.
    """
    items = checked(difference, 1, "The differences")
    known = items[~np.isnan(items)]
    n, value = len(known), effect_size(items)
    if np.isnan(value):
        return Estimate(value, n=n, unscored=len(items) - n)
    if interval == "percentile":
        samples = resampled_effect_sizes(items, item_weights(len(items), draws, seed))
        low, high = percentile_interval(samples) if n > 2 else (float("nan"), float("nan"))
        p = sign_flip_p(items, draws, seed)
    else:
        parts = effect_size_parts(unit_scale(known))
        (low, high), p = map(float, t_ends(parts)), float(t_p(parts))
    return Estimate(value, low, high, n, len(items) - n, p)


def score_delta(
    clean: ArrayLike,
    attacked: ArrayLike,
    draws: int = 2000,
    seed: int = 0,
    interval: Kind = "items",
) -> Estimate:
    """Mean over items of the mean over agents of attacked - clean, in units of the score.

    The paper's Table 4 prints a constant +-0.050 here, a fallback of its code; this is an interval
    over items.

    Args:
        clean, attacked: [items, agents], the same items and agents; NaN where unscored. Agents
            count where both sides are scored; items without such an agent are unscored.
        draws, seed: bootstrap resamples and sign flips (percentile).
        interval: ``item_change``, or the papers' percentile bootstrap.
    """
    before, after = checked_pair(clean, attacked, 2, "The score delta")
    return with_p(score_changes(before, after), interval, draws, seed)


def score_changes(before: Floats, after: Floats) -> Floats:
    """[items] mean over agents of after - before [items, agents]; rounding noise is no change.

    Scores whose mean is the same by construction (win rates: 1/2) would otherwise be tested on
    their last digits.
    """
    change = row_means(after - before)
    scale = np.nan_to_num(np.abs(np.array([before, after]))).max(initial=0.0)
    return np.where(np.abs(change) <= 1e-12 * scale, 0.0, change)


def auc_delta(
    clean_auc: ArrayLike,
    attacked_auc: ArrayLike,
    draws: int = 2000,
    seed: int = 0,
    interval: Kind = "items",
) -> Estimate:
    """Mean of attacked - clean AUC [items], on items that have both; else as ``score_delta``."""
    before, after = checked_pair(clean_auc, attacked_auc, 1, "The AUC delta")
    return with_p(after - before, interval, draws, seed, limit=1.0)


def effect_size_delta(
    clean_difference: ArrayLike,
    attacked_difference: ArrayLike,
    draws: int = 2000,
    seed: int = 0,
    interval: Kind = "items",
) -> Estimate:
    """d(attacked) - d(clean), paired effect sizes on the items scored in both.

    The interval takes each item's part in both d together, so it is the interval of the change and
    not the sum of two intervals; p is of the same test. Percentile: p from swapping the clean and
    the attacked value of whole items at random, which is exact where the attack changes nothing.

    Args:
        clean_difference, attacked_difference: [items] from ``group_difference``, the same items.
        draws, seed: bootstrap resamples and swaps (percentile).
        interval: ``effect_size_parts``, or the released code's percentile bootstrap.

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
    if interval == "percentile":
        weights = item_weights(len(shared), draws, seed)
        samples = resampled_effect_sizes(after, weights) - resampled_effect_sizes(before, weights)
        low, high = percentile_interval(samples) if n > 2 else (np.nan, np.nan)
        p = _swap_p(before[shared], after[shared], draws, seed)
    else:
        parts = effect_size_parts(unit_scale(after[shared]), unit_scale(before[shared]))
        (low, high), p = map(float, t_ends(parts)), float(t_p(parts))
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
