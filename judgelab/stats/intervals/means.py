"""Means over items: intervals, tests, and what many tests at once need.

``item_mean`` and ``item_change`` have intervals that hold on few items (``ends``). Percentile
intervals from resampled items and sign-flip tests are the papers' (``definition=paper|released``).
Whole items are resampled, as they were sampled; a resample is a row of counts, so that the
statistic of all is a product of matrices. One seed draws the same items for arrays of one length.
NaN is unscored; shapes other than named, and infinities, are a ValueError.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats, check_array, divide
from judgelab.stats.intervals.ends import (
    FEWEST,
    LEVEL,
    Ends,
    mean_ends,
    mean_p,
    share_ends,
    share_p,
)
from judgelab.stats.intervals.estimate import Estimate

Kind = Literal["items", "percentile"]
"""Whose interval: from what each item adds, or the papers' percentile bootstrap over items."""

Bounds = tuple[float, float]


def item_mean(values: ArrayLike, bounds: Bounds | None = None) -> Estimate:
    """Mean over items [items] with an interval; none with fewer than three scored items.

    With ``bounds``, the least and largest value there can be ((0, 1) for shares and AUC, (-1, 1)
    for correlations), by ``share_ends``; else by ``mean_ends``: none where all items are equal.
    """
    items = check_array(values, 1, "The values of a mean over items")
    return _estimate(items, share_ends(items, bounds=bounds) if bounds else mean_ends(items))


def item_change(values: ArrayLike, limit: float | None = None) -> Estimate:
    """Mean over items of a difference of two scores of the same item [items], by ``mean_ends``.

    With a ``limit``, the largest difference there can be (1 for shares and AUC, 2 for
    correlations), there is an interval where no item changes, too.
    """
    items = check_array(values, 1, "The changes of items")
    return _estimate(items, mean_ends(items, bounds=_around_0(limit)))


def with_p(
    values: ArrayLike,
    kind: Kind,
    draws: int,
    seed: int,
    *,
    null: float = 0.0,
    bounds: Bounds | None = None,
    limit: float | None = None,
) -> Estimate:
    """A mean (``null`` .5 of an AUC) or a change, with the two-sided p of ``null``.

    ``percentile`` resamples items ``draws`` times, with the papers' sign-flip p. Else it is
    ``item_mean`` with ``bounds``, or ``item_change`` without, and p is of the same test as the
    interval, which leaves out ``null`` exactly where p is below .05.
    """
    items = np.asarray(values, dtype=np.float64)
    if kind == "percentile":
        estimate = bootstrap_mean(items, draws, seed)
        return replace(estimate, p=sign_flip_p(items - null, draws, seed))
    if bounds is None:
        p = mean_p(items - null, _around_0(limit))
        return replace(item_change(items, limit), p=float(p))
    return replace(item_mean(items, bounds), p=float(share_p(items, null, bounds)))


def _around_0(limit: float | None) -> Bounds | None:
    return None if limit is None else (-limit, limit)


def _estimate(items: Floats, ends: Ends | tuple[float, float]) -> Estimate:
    scores, (low, high) = items[~np.isnan(items)], map(float, ends)
    value = float(scores.mean()) if scores.size else float("nan")
    return Estimate(value, low, high, scores.size, items.size - scores.size)


def item_draws(n_items: int, draws: int, seed: int) -> NDArray[np.int64]:
    """Resampled item indices [draws, n_items], uniform with replacement."""
    generator = np.random.default_rng(seed)
    return generator.integers(0, n_items, size=(draws, n_items), dtype=np.int64)


def item_weights(n_items: int, draws: int, seed: int) -> Floats:
    """How often each item occurs in the resamples of ``item_draws``: counts [draws, n_items]."""
    cells = item_draws(n_items, draws, seed) + n_items * np.arange(draws)[:, None]
    counts = np.bincount(cells.ravel(), minlength=draws * n_items)
    return counts.reshape(draws, n_items).astype(np.float64)


def resampled_means(values: Floats, weights: Floats) -> Floats:
    """Mean of the scored items in each resample [draws]; NaN where a resample holds none."""
    has_score = ~np.isnan(values)
    if not has_score.any():
        return np.full(len(weights), np.nan)
    centre = float(values[has_score].mean())
    offsets = np.where(has_score, values - centre, 0.0)
    shifts = divide(weights @ offsets, weights @ has_score.astype(np.float64))
    return np.asarray(centre + shifts, dtype=np.float64)


def percentile_interval(samples: ArrayLike) -> tuple[float, float]:
    """Central 95 % interval of the samples that are not NaN; (NaN, NaN) where none is left."""
    values = np.asarray(samples, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low, high = np.quantile(values, ends).tolist() if values.size else (np.nan, np.nan)
    return low, high


def bootstrap_mean(values: ArrayLike, draws: int = 2000, seed: int = 0) -> Estimate:
    """Mean over items [items] with the papers' percentile interval; none below three scored items.

    Nominally 95 %, it covers about .90 on 12 items and .93 on 30.
    """
    items = check_array(values, 1, "The values of a bootstrap mean")
    if (~np.isnan(items)).sum() < FEWEST:
        return _estimate(items, (np.nan, np.nan))
    samples = resampled_means(items, item_weights(len(items), draws, seed))
    return _estimate(items, percentile_interval(samples))


def sign_flip_p(values: ArrayLike, permutations: int = 2000, seed: int = 0) -> float:
    """Two-sided p that the mean over items is 0, by flipping the sign of whole items.

    p = (1 + number of flipped means at least as far from 0 as the observed) / (1 + permutations);
    NaN with fewer than two scored items. Under sign flips the sum of squares is fixed, so this is
    the test of the mean, Student's t and the paired effect size. The flips are independent of what
    ``item_weights`` draws with the same seed.
    """
    items = check_array(values, 1, "The values of a sign-flip test")
    items = items[~np.isnan(items)]
    if items.size < 2:
        return float("nan")
    bits = permutations * items.size
    raw = np.frombuffer(np.random.default_rng((seed, 1)).bytes(-(-bits // 8)), dtype=np.uint8)
    flips = np.unpackbits(raw, count=bits).reshape(permutations, items.size)
    # A flip of the set F changes the sum by -2 sum(F): one product instead of a sign matrix.
    sums = items.sum() - 2 * (flips.astype(np.float64) @ items)
    # Flips that equal the observed sum up to rounding count as ties.
    bar = abs(items.sum()) - 1e-12 * np.abs(items).sum()
    return float((1 + np.count_nonzero(np.abs(sums) >= bar)) / (1 + permutations))


def holm(p: ArrayLike) -> Floats:
    """[tests] p values raised so that one claim in twenty is wrong at most (Holm 1979).

    NaN, where there is no test, stays and counts for nothing.
    """
    # Not statsmodels' multipletests: it collects garbage at each call, a half second in a process
    # with torch, and sequences are looked at hundreds of times.
    adjusted = np.array(p, dtype=np.float64)
    tests = np.flatnonzero(~np.isnan(adjusted))
    order = tests[np.argsort(adjusted[tests])]
    raised = adjusted[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return adjusted


def holm_levels(p: ArrayLike, alpha: float = 0.05) -> Floats:
    """[tests] levels at which intervals leave out 0 exactly where ``holm`` makes the claim.

    The smallest p is tested at alpha / J, the next at alpha / (J - 1), until one fails, whose level
    is that of all others.
    """
    values = np.asarray(p, dtype=np.float64)
    levels = np.ones(len(values))
    for each in np.unique(values[~np.isnan(values)]):  # tests with one p have one level
        share = alpha / (values >= each).sum()
        levels[values >= each] = 1 - share
        if each > share:
            break
    return levels
