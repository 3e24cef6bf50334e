"""Effect sizes: of two groups of agents, and of a change of the texts (TVD-MI and GEM papers).

The paired effect size follows the released code of the TVD-MI paper: the difference of the group
means per item, its mean divided by its standard deviation *over items*. It is a d_z: it grows when
items are alike, and is not comparable with the usual pooled d.

An item or agent scored on one side of a change only is left out of both: a failed call is no effect
of the attack. NaN is unscored; shapes other than named, and infinities, are a ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from judgelab.stats.intervals.arrays import (
    ROUNDING,
    Floats,
    Mask,
    check_array,
    check_pair,
    divide,
    row_means,
)
from judgelab.stats.intervals.ends import mean_ends, of_ratio, ratio_ends, t_ends, t_p
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import (
    Kind,
    item_weights,
    percentile_interval,
    sign_flip_p,
    with_p,
)

SmdDefinition = Literal["corrected", "paper", "released"]
Verdict = Literal["falls", "does not fall", "rises", "does not rise", "undecided"]

MULTIPLIER: Mapping[str, float] = MappingProxyType({"paper": 1.96, "released": 1.645})
"""Standard errors on either side of d in the intervals over rows."""

FEWEST = 6
"""Items that a verdict takes: with n items the least two-sided p of sign flips is 2 / 2^n, which
is above .05 up to five; intervals from so few assume the normal law."""


def group_difference(scores: ArrayLike, positive: Mask, negative: Mask) -> Floats:
    """[items] mean score of the positive (good-faith) less that of the negative (problematic)
    agents, of scores [items, agents] and disjoint masks [agents]; NaN where a group has none."""
    table = check_array(scores, 2, "The scores")
    return row_means(table[:, positive]) - row_means(table[:, negative])


def effect_size(difference: ArrayLike) -> float:
    """d_z = mean / standard deviation (ddof 1) of the items that are not NaN; NaN with fewer than
    two items, or without spread: there is then no scale."""
    items = check_array(difference, 1, "The differences")
    items = items[~np.isnan(items)]
    if items.size < 2 or np.ptp(items) <= ROUNDING * np.abs(items).max():
        return float("nan")
    return float(items.mean() / items.std(ddof=1))


def resampled_effect_sizes(difference: Floats, weights: Floats) -> Floats:
    """d_z [draws] of every resample of ``item_weights``; NaN where one has no spread."""
    has_score = ~np.isnan(difference)
    counts, items = weights[:, has_score], difference[has_score]
    totals = counts.sum(axis=1)
    means = divide(counts @ items, totals)
    # Two passes: sums of squares would lose small spreads of a few repeated items.
    squares = (counts * (items - np.nan_to_num(means)[:, None]) ** 2).sum(axis=1)
    spreads = np.sqrt(divide(squares, np.maximum(totals - 1, 0)))
    spreads[~(spreads > ROUNDING * np.abs(items).max(initial=0.0))] = np.nan
    return divide(means, spreads)


def effect_size_parts(difference: Floats, less: Floats | None = None) -> Floats:
    """[..., items] what each adds to d_z, or to d_z minus that of ``less``: t ends and p are its.

    Of [..., items], all scored. The jackknife's pseudo-values; their squared error is divided by n,
    not n - 1, as the jackknife overstates it on few items. Exact intervals (noncentral t) hold on
    normal differences alone: on exponential ones they cover from .74 to .997.
    """
    whole, without = _jackknife(difference)
    if less is not None:
        other, other_without = _jackknife(less)
        whole, without = whole - other, without - other_without
    n = difference.shape[-1]
    pseudo = n * whole[..., None] - (n - 1) * without
    centre = pseudo.mean(axis=-1, keepdims=True)
    return np.asarray(centre + np.sqrt((n - 1) / n) * (pseudo - centre))


def _jackknife(values: Floats) -> tuple[Floats, Floats]:
    """d_z [...] and without each item in turn [..., items]; NaN where there is no spread."""
    n = values.shape[-1]
    mean = values.mean(axis=-1, keepdims=True)
    off = values - mean
    squares = (off**2).sum(axis=-1, keepdims=True)
    rest = np.maximum(squares - off**2 * (n / max(n - 1, 1)), 0.0) / max(n - 2, 1)
    whole = divide(mean[..., 0], np.sqrt(squares[..., 0] / max(n - 1, 1)))
    flat = rest <= 1e-12 * squares  # equal but for rounding
    return whole, divide(mean - off / max(n - 1, 1), np.sqrt(np.where(flat, 0.0, rest)))


def paired_effect_size(
    difference: ArrayLike,
    draws: int = 2000,
    seed: int = 0,
    interval: Kind = "items",
    *,
    less: ArrayLike | None = None,
) -> Estimate:
    """d_z over items with an interval and the two-sided p of the same test.

    Args:
        difference: [items] from ``group_difference``.
        interval: Student's t on ``effect_size_parts``; or the released code's percentile bootstrap
            with a sign-flip p, too narrow on few items (on normal data it covers .86 at 12 items).
        less: [items] of another panel, whose d is taken off, item by item. Percentile: p from
            swapping the two values of whole items at random.

    Returns:
        NaN where ``effect_size`` is; with two shared items there is no interval.
    """
    items = check_array(difference, 1, "The differences")
    other = None
    if less is not None:
        items, other = check_pair(difference, less, 1, "The change of an effect size")
        shared = ~(np.isnan(items) | np.isnan(other))
        items, other = np.where(shared, items, np.nan), np.where(shared, other, np.nan)
    has_score = ~np.isnan(items)
    n, unscored = int(has_score.sum()), int((~has_score).sum())
    value = effect_size(items) - (0.0 if other is None else effect_size(other))
    if np.isnan(value):
        return Estimate(value, n=n, unscored=unscored)
    if interval == "items":
        parts = effect_size_parts(items[has_score], None if other is None else other[has_score])
        (low, high), p = map(float, t_ends(parts)), float(t_p(parts))
        return Estimate(value, low, high, n, unscored, p)
    weights = item_weights(len(items), draws, seed)
    samples = resampled_effect_sizes(items, weights)
    if other is None:
        p = sign_flip_p(items, draws, seed)
    else:
        samples = samples - resampled_effect_sizes(other, weights)
        p = _swap_p(other[has_score], items[has_score], draws, seed)
    low, high = percentile_interval(samples) if n > 2 else (np.nan, np.nan)
    return Estimate(value, low, high, n, unscored, p)


def score_delta(
    clean: ArrayLike,
    attacked: ArrayLike,
    draws: int = 2000,
    seed: int = 0,
    interval: Kind = "items",
) -> Estimate:
    """Mean over items of the mean over agents of attacked - clean [items, agents], in units of the
    score; agents count where both sides are scored. The paper's Table 4 prints a constant +-0.050
    here, a fallback of its code."""
    before, after = check_pair(clean, attacked, 2, "The score delta")
    return with_p(score_changes(before, after), interval, draws, seed)


def score_changes(before: Floats, after: Floats) -> Floats:
    """[items] mean over agents of after - before [items, agents]; rounding noise is no change:
    scores of a fixed mean (win rates: 1/2) would else be tested on their last digits."""
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
    before, after = check_pair(clean_auc, attacked_auc, 1, "The AUC delta")
    return with_p(after - before, interval, draws, seed, limit=1.0)


def _swap_p(before: Floats, after: Floats, permutations: int, seed: int) -> float:
    """Share of random swaps whose change of d is at least the observed one (which counts)."""
    swap = np.random.default_rng((seed, 2)).random((permutations, len(before))) < 0.5
    swap[0] = False  # the observed assignment is one of those that could have been

    def d(values: Floats) -> Floats:
        spread = values.std(axis=1, ddof=1)
        return divide(values.mean(axis=1), np.where(spread > 0, spread, np.nan))

    changes = d(np.where(swap, before, after)) - d(np.where(swap, after, before))
    bar = abs(changes[0]) * (1 - 1e-12)
    return float(np.mean(~(np.abs(changes) < bar)))  # an undefined d counts against the finding


def standardized_mean_difference(
    before: ArrayLike,
    after: ArrayLike,
    cluster: ArrayLike,
    definition: SmdDefinition = "corrected",
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    """d = (mean' - mean) / sqrt((s^2 + s'^2) / 2) over rows (GEM paper, section 4.2).

    A row [rows] is a score before and one after a change of the texts, and the item that they are
    of (``cluster``: integers, strings); rows of one item are not independent. Intervals:

    paper: d +- 1.96 sd(after - before) / (sqrt(rows) sigma), rows taken as independent and sigma as
    known; p of the same normal approximation.
    released: the same with 1.645. No code was released; the printed intervals of two metrics match
    1.645 and not 1.96 (inferred), so "95 %" is 90 %.
    corrected: from leaving out each item with its rows (``ratio_ends``), none below three items; p
    by sign flips of whole items. How often it holds: experiments/coverage.

    n counts rows scored on both sides, unscored the others, clusters items with a scored row. NaN
    with fewer than two such rows or without spread.
    """
    x, y = check_pair(before, after, 1, "The standardised mean difference")
    has_both = ~(np.isnan(x) | np.isnan(y))
    item = np.unique(np.asarray(cluster)[has_both], return_inverse=True)[1]
    x, y = _common_scale(x[has_both], y[has_both])
    n, unscored, clusters = len(x), int(np.count_nonzero(~has_both)), int(item.max(initial=-1)) + 1
    variance = (x.var(ddof=1) + y.var(ddof=1)) / 2 if n > 1 else 0.0
    if not variance > 0:
        return Estimate(np.nan, n=n, unscored=unscored, clusters=clusters)
    d = float((y - x).mean() / np.sqrt(variance))
    if definition == "corrected":
        changes = np.bincount(item, y - x, clusters)
        # the farther ends of two intervals: of d, and of the mean change with sigma as it is
        # (Hall's correction: skewness of the changes shows most where d is small)
        whole = ratio_ends(d, _smd_without(x, y, item, clusters))
        per_row = of_ratio(changes, np.bincount(item, minlength=clusters))
        shift = mean_ends(per_row / np.sqrt(variance))
        low, high = float(np.fmin(whole[0], shift[0])), float(np.fmax(whole[1], shift[1]))
        p = sign_flip_p(changes, draws, seed)
    else:
        error = float((y - x).std(ddof=1) / np.sqrt(n * variance))
        half, p = MULTIPLIER[definition] * error, 1.0 if d == 0 else 0.0
        p = float(2 * ndtr(-abs(d) / error)) if error > 0 else p
        low, high = d - half, d + half
    return Estimate(d, low, high, n, unscored, p, clusters)


MARGIN = 0.1  # a change of d up to this counts as none: half of what is called a small effect


def verdict(
    expects: Literal["fall", "no_rise"], estimate: Estimate, margin: float | None = MARGIN
) -> Verdict:
    """What a change did, held against what an honest metric does (GEM paper, Tables 2 to 4).

    Under a degradation (``fall``) "falls" where the interval lies below 0, "does not fall" where it
    lies above -margin; under a manipulation (``no_rise``) "does not rise" where it lies below the
    margin, else "rises" where it lies above 0. An interval that allows both is "undecided", as is
    one from fewer than ``FEWEST`` items, and a missing one, unless no item moved at all. Without a
    margin (in d), as the paper words it, a change that is not significant counts as none.
    """
    if estimate.clusters is not None and estimate.clusters < FEWEST:
        return "undecided"
    if np.isnan(estimate.low) or np.isnan(estimate.high):
        if estimate.value != 0:
            return "undecided"
        return "does not fall" if expects == "fall" else "does not rise"  # no item moved at all
    if expects == "fall":
        if estimate.high < 0:
            return "falls"
        return "does not fall" if margin is None or estimate.low > -margin else "undecided"
    if margin is not None and estimate.high < margin:
        return "does not rise"
    if estimate.low > 0:
        return "rises"
    return "does not rise" if margin is None else "undecided"


def _common_scale(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Both sides shifted and scaled alike (d does not change); 0 where all spread is rounding."""
    both = np.concatenate([x, y])
    if both.size == 0:
        return x, y
    largest = float(np.abs(both).max())
    if max(np.ptp(x), np.ptp(y)) <= ROUNDING * largest:
        return np.zeros_like(x), np.zeros_like(y)
    centre = float((both / largest).mean())
    return x / largest - centre, y / largest - centre


def _smd_without(x: Floats, y: Floats, item: NDArray[np.intp], clusters: int) -> Floats:
    """[items] d without the rows of each item; NaN where the rest has no spread."""
    columns = (np.ones_like(x), x, y, x * x, y * y)
    sums = np.array([np.bincount(item, column, clusters) for column in columns])
    n, sx, sy, sxx, syy = sums.sum(axis=1, keepdims=True) - sums
    variance = divide(sxx - divide(sx**2, n) + syy - divide(sy**2, n), 2 * (n - 1))
    return divide(divide(sy - sx, n), np.sqrt(np.maximum(variance, 0.0)))
