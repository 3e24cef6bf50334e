"""Is a mean surely above 0? An answer by betting, exact for every distribution and at every look.

Waudby-Smith & Ramdas (2010.09686): somebody with wealth 1 bets on each gain, in [-1, 1], before it
is seen. Where the mean is at most 0 the wealth cannot be expected to grow, and exceeds 1 / alpha at
any time with probability alpha at most (Ville). So p = 1 / (largest wealth so far) may be looked at
after every item, which a t test may not. Items in the order in which they were asked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import Floats

BOLDEST = 0.75
"""Largest share of the wealth in one bet."""
PSEUDO_SQUARE = 0.25
"""The one pseudo-value of the mean square; the one of the mean is 0."""


def betting_p(gains: ArrayLike, pool: int | None = None) -> Floats:
    """[...] p that the mean is at most 0, at any number of looks; 1 without items.

    The bet on item s is lambda_s = clip(mean / mean square, 0, .75) of the items before s, with one
    pseudo-value each (0 and .25): sum g / (.25 + sum g^2).

    Of a pool gains are bet on above their mean, were the pool's 0: -(sum so far) / (items left).
    Wealth is infinite once no items that are left could bring the pool's mean down to 0. NaN before
    the last gain are of items without one; those after it are not asked yet.

    Args:
        gains: [..., items] in [-1, 1]; NaN: no bet.
        pool: the mean is that of so many items, of which these were drawn at random
            (sampling without replacement); None: of all items like these. Exact where none is NaN.

    Raises:
        ValueError: a gain lies outside.
    """
    g = np.asarray(gains, dtype=np.float64)
    known = ~np.isnan(g)
    g = np.where(known, g, 0.0)
    if g.size and np.abs(g).max() > 1 + 1e-9:
        raise ValueError("Gains to be bet on lie in [-1, 1].")
    expected, certain = np.zeros(g.shape), np.zeros(g.shape, np.bool_)
    if pool is not None:
        total, asked = np.cumsum(g, axis=-1), np.arange(1, g.shape[-1] + 1)
        left = np.maximum(pool - asked, 0)
        expected = np.clip(-(total - g) / np.maximum(left + known, 1), -1.0, 1.0)
        certain = known & (total > left + 1e-9)
    above = np.where(known, g - expected, 0.0)
    before = np.cumsum(above, axis=-1) - above
    squares = PSEUDO_SQUARE + np.cumsum(above**2, axis=-1) - above**2
    bets = np.clip(before / squares, 0, BOLDEST / (1 + np.maximum(expected, 0)))
    log_wealth = np.where(certain, np.inf, np.cumsum(np.log1p(bets * above), axis=-1))
    return np.asarray(np.exp(-log_wealth.max(axis=-1, initial=0.0)))
