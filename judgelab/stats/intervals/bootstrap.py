"""The item bootstrap and the sign-flip test. One seed means one set of items: results are paired.

Items, not calls or agents, are the unit that was sampled, so whole items are resampled. Percentile
intervals are the papers' (``definition=paper|released``) and too narrow on few items; those of
``definition=corrected`` are in ``ends`` and ``means``. A resample is held as a row of counts: the
statistic of all resamples is then a product of matrices, and two mechanisms scored on the same
items share their resamples even where one of them left an item unscored.

Throughout, NaN is unscored; shapes other than named, and infinities, are a ValueError.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats, checked, divide
from judgelab.stats.intervals.estimate import Estimate

LEVEL = 0.95  # of every percentile interval


def item_draws(n_items: int, draws: int, seed: int) -> NDArray[np.int64]:
    """Resampled item indices [draws, n_items], uniform with replacement."""
    if n_items < 1 or draws < 1:
        raise ValueError(f"A bootstrap needs items and draws, got {n_items} and {draws}.")
    generator = np.random.default_rng(seed)
    return generator.integers(0, n_items, size=(draws, n_items), dtype=np.int64)


def item_weights(n_items: int, draws: int, seed: int) -> Floats:
    """How often each item occurs in the resamples of ``item_draws``: counts [draws, n_items]."""
    cells = item_draws(n_items, draws, seed) + n_items * np.arange(draws)[:, None]
    counts = np.bincount(cells.ravel(), minlength=draws * n_items)
    return counts.reshape(draws, n_items).astype(np.float64)


def resampled_means(values: Floats, weights: Floats) -> Floats:
    """Mean of the scored items in each resample [draws]; NaN where a resample holds none."""
    scored = ~np.isnan(values)
    if not scored.any():
        return np.full(len(weights), np.nan)
    centre = float(values[scored].mean())
    offsets = np.where(scored, values - centre, 0.0)
    shifts = divide(weights @ offsets, weights @ scored.astype(np.float64))
    return np.asarray(centre + shifts, dtype=np.float64)


def percentile_interval(samples: ArrayLike) -> tuple[float, float]:
    """Central 95 % interval of the samples that are not NaN; (NaN, NaN) where none is left."""
    drawn = np.asarray(samples, dtype=np.float64).ravel()
    drawn = drawn[~np.isnan(drawn)]
    if drawn.size == 0:
        return float("nan"), float("nan")
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def bootstrap_mean(values: ArrayLike, draws: int = 2000, seed: int = 0) -> Estimate:
    """Mean over items with the papers' percentile interval from resampled items.

    Nominally 95 %, it covers about .90 on 12 items and .93 on 30: ``means.item_mean`` holds.

    Args:
        values: [items].
        draws, seed: resamples; one seed draws the same items for arrays of one length.

    Returns:
        n scored items, the rest as ``unscored``; with one or two of them there is no interval, as
        they say too little about the spread between items.
    """
    items = checked(values, 1, "The values of a bootstrap mean")
    scored = ~np.isnan(items)
    n = int(np.count_nonzero(scored))
    low = high = float("nan")
    if n > 2:
        samples = resampled_means(items, item_weights(len(items), draws, seed))
        low, high = percentile_interval(samples)
    value = float(items[scored].mean()) if n else float("nan")
    return Estimate(value, low, high, n, len(items) - n)


def sign_flip_p(values: ArrayLike, permutations: int = 2000, seed: int = 0) -> float:
    """Two-sided p that the mean over items is 0, by flipping the sign of whole items.

    p = (1 + number of flipped means at least as far from 0 as the observed) /
    (1 + permutations). Under sign flips the sum of squares is fixed, so the mean, Student's t
    and the paired effect size order the flips alike: this is the test of all three.

    NaN with fewer than two scored items; 1 where every value is 0. The flips are independent of
    what ``item_weights`` draws with the same seed.
    """
    items = checked(values, 1, "The values of a sign-flip test")
    items = items[~np.isnan(items)]
    if permutations < 1:
        raise ValueError(f"A sign-flip test needs permutations, got {permutations}.")
    if items.size < 2:
        return float("nan")
    bits = permutations * items.size
    raw = np.frombuffer(np.random.default_rng((seed, 1)).bytes(-(-bits // 8)), dtype=np.uint8)
    flipped = np.unpackbits(raw, count=bits).reshape(permutations, items.size)
    # A flip of the set F changes the sum by -2 sum(F): one product instead of a sign matrix.
    sums = items.sum() - 2 * (flipped.astype(np.float64) @ items)
    # Flips that equal the observed sum up to rounding count as ties.
    bar = abs(items.sum()) - 1e-12 * np.abs(items).sum()
    return float((1 + np.count_nonzero(np.abs(sums) >= bar)) / (1 + permutations))
