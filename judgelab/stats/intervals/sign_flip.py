"""The sign-flip permutation test for values that are symmetric about 0 under the null."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import checked


def sign_flip_p(values: ArrayLike, permutations: int = 2000, seed: int = 0) -> float:
    """Two-sided p that the mean over items is 0, by flipping the sign of whole items.

    p = (1 + number of flipped means at least as far from 0 as the observed) /
    (1 + permutations). Under sign flips the sum of squares is fixed, so the mean, Student's t
    and the paired effect size order the flips alike: this is the test of all three.

    Args:
        values: [items]; NaN entries are left out.
        permutations: number of random flips.
        seed: independent of the stream that ``item_weights`` draws with the same seed.

    Returns:
        NaN with fewer than two scored items; 1 where every value is 0.

    Raises:
        ValueError: wrong dimensions, infinities, or fewer than one permutation.
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
