"""Ends of a mean's interval that hold at every look, so that a run may stop when it likes.

An interval for one look holds 95 times in 100 where the number of items was fixed beforehand. Who
looks after every batch and stops at a narrow one is wrong far more often. These intervals hold at
all looks together, and are wider for that.

- Bounded values, any distribution: ``betting_ends``, the hedged capital of Waudby-Smith & Ramdas
  (*Estimating means of bounded random variables by betting*, arXiv 2010.09686) with their
  predictable plug-in bets, cut off at ``CUT``; for the mean of a pool their martingale for sampling
  without replacement.
  ``betting_p`` is the test that such a mean is above 0.
- Values without bounds: ``t_ends``, Wang & Ramdas (*Anytime-valid t-tests and confidence sequences
  for Gaussian means with unknown variance*, arXiv 2310.03722), a Gaussian mixture of Student's t
  (the ratio is the Bayes factor of Gonen et al., *The Bayesian two-sample t test*, 2005), exact for
  normal values and tried on others (experiments/stopping).

All take ``values`` [..., items] in the order in which they were asked, NaN where unscored, and
return (low, high) [...] after the last: the overlap of the intervals at all looks so far. NaN after
the last value are of items that were not asked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import Floats, Mask

Ends = tuple[Floats, Floats]
Bounds = tuple[float, float]

CUT = (0.5, 0.75)
"""Largest share of the wealth that one bet can lose: of the first ``CAREFUL`` bets, and later."""
CAREFUL = 10
"""Bets before the spread is known a little: large ones would ruin on coins, small ones waste time
on values that hardly differ."""
HALVINGS = 30
"""Of [0, 1] to find an end."""
EFFECT_VARIANCE = 1 / 16
"""Of the effect sizes (mean / sd) that the mixture expects."""
FIRST = 20
"""Values before the first look at a t, which says little of fewer that are not normal."""


def sequence_ends(
    values: ArrayLike, level: float, bounds: Bounds | None, pool: int | None = None
) -> Ends:
    """``betting_ends`` of values with bounds, ``t_ends`` of others."""
    return t_ends(values, level) if bounds is None else betting_ends(values, level, bounds, pool)


def betting_ends(
    values: ArrayLike, level: float = 0.95, bounds: Bounds = (0.0, 1.0), pool: int | None = None
) -> Ends:
    """Means excluded by no bet: somebody who bets that the mean is higher, or lower, got too rich.

    Wealth K+(m) = prod(1 + min(l_t, c / m) (x_t - m)) falls in m, so its end is bisected.

    Args:
        values: within ``bounds``.
        level: of the two-sided interval.
        bounds: least and largest value there can be.
        pool: the mean is that of so many items, of which these were drawn at random; None: of all
            items like these. Exact where none is NaN.

    Raises:
        ValueError: a value lies outside.
    """
    x, low, span = _scaled(values, bounds)
    below, above = _lower(x, level, pool), 1 - _lower(1 - x, level, pool)
    return low + span * below, low + span * np.maximum(above, below)


def surely_within(
    values: ArrayLike, reach: float, level: float, bounds: Bounds | None, pool: int | None = None
) -> Mask:
    """[...] whether the interval of ``sequence_ends`` lies within -+ reach: a mean next to 0."""
    if bounds is None:
        low, high = t_ends(values, level)
        return np.asarray((low >= -reach) & (high <= reach), np.bool_)
    x, least, span = _scaled(values, bounds)
    sides = ((x, (-reach - least) / span), (1 - x, 1 - (reach - least) / span))
    shape = x.shape[:-1]
    inside = [
        np.full(shape, True)
        if end <= 0
        else _Bettor(one, level, pool).excludes(np.full(shape, end))
        for one, end in sides
    ]
    return np.asarray(inside[0] & inside[1], np.bool_)


def _scaled(values: ArrayLike, bounds: Bounds) -> tuple[Floats, float, float]:
    """Values as shares of their range, its lower end and its length."""
    low, high = bounds
    x = (np.asarray(values, dtype=np.float64) - low) / (high - low)
    known = x[~np.isnan(x)]
    if known.size and (known.min() < -1e-9 or known.max() > 1 + 1e-9):
        raise ValueError(f"Values to be bet on lie within {bounds}.")
    return np.clip(x, 0.0, 1.0), low, high - low


def _lower(x: Floats, level: float, pool: int | None) -> Floats:
    """[...] the largest mean that the bets on a higher one exclude; 0 where they exclude none."""
    bettor = _Bettor(x, level, pool)
    low, high = np.zeros(x.shape[:-1]), np.ones(x.shape[:-1])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        excluded = bettor.excludes(middle)
        low, high = np.where(excluded, middle, low), np.where(excluded, high, middle)
    return np.maximum(low, bettor.least)


class _Bettor:
    """Somebody who bets that the mean of values [..., items] in [0, 1] is higher."""

    def __init__(self, x: Floats, level: float, pool: int | None) -> None:
        self.known = ~np.isnan(x)
        self.x = np.where(self.known, x, 0.0)
        self.count, self.total = np.cumsum(self.known, axis=-1), np.cumsum(self.x, axis=-1)
        self.bets = _bets(self.x, self.known, self.count, self.total, level)
        self.cut = np.where(self.count <= CAREFUL, *CUT)
        self.size = None if pool is None else pool - np.cumsum(~self.known, axis=-1)
        self.bar = np.log(2 / (1 - level))

    @property
    def least(self) -> Floats:
        """[...] of a pool: its mean if all that is left were 0; else 0."""
        if self.size is None:
            return np.zeros(self.x.shape[:-1])
        least = np.where(self.known, self.total / np.maximum(self.size, 1), 0.0)
        return np.asarray(least.max(axis=-1, initial=0.0))

    def excludes(self, middle: Floats) -> Mask:
        """[...] whether its bets against the mean ``middle`` made it too rich at some look."""
        mean = _expected(middle[..., None], self.x, self.total, self.count, self.size)
        possible = mean > 0
        bet = np.minimum(self.bets, self.cut / np.where(possible, mean, np.inf))
        gain = np.where(self.known, np.log1p(bet * (self.x - mean) * possible), 0.0)
        rich = np.cumsum(np.where(self.known & (mean < 0), np.inf, gain), axis=-1)
        return np.asarray((rich >= self.bar).any(axis=-1) | (middle < self.least), np.bool_)


def _bets(x: Floats, known: Mask, count: Floats, total: Floats, level: float) -> Floats:
    """[..., items] sqrt(2 log(2 / alpha) / (s^2 t log(t + 1))), s^2 of the items before."""
    mean = (0.5 + total) / (count + 1)
    square = np.cumsum(np.where(known, (x - mean) ** 2, 0.0), axis=-1)
    own = np.where(known, (x - mean) ** 2, 0.0)
    before = (0.25 + square - own) / np.maximum(count - known + 1, 1)
    t = np.maximum(count, 1)
    return np.asarray(np.sqrt(2 * np.log(2 / (1 - level)) / (before * t * np.log(t + 1))))


def _expected(mean: Floats, x: Floats, total: Floats, count: Floats, size: Floats | None) -> Floats:
    """[..., items] the mean of the next item, if that of all is ``mean``."""
    if size is None:
        return np.broadcast_to(mean, x.shape)
    return np.asarray((size * mean - (total - x)) / np.maximum(size - count + 1, 1))


def t_ends(values: ArrayLike, level: float = 0.95) -> Ends:
    """Mean -+ t_n s / sqrt(n), overlapped over all n so far; none before 20 values.

    t_n^2 = (n - 1) (a - 1) / (1 - a / k), k = 1 + n / 16, a = (sqrt(k) / alpha)^(2 / n).
    """
    x = np.asarray(values, dtype=np.float64)
    n, mean, error = _moments(x)
    k = 1 + n * EFFECT_VARIANCE
    with np.errstate(divide="ignore", invalid="ignore"):
        a = (np.sqrt(k) / (1 - level)) ** (2 / np.maximum(n, 1))
        reach = np.sqrt(np.where(a < k, (n - 1) * (a - 1) / (1 - a / k), np.inf)) * error
    usable = (n >= FIRST) & (error > 0) & np.isfinite(reach)
    low = np.where(usable, mean - reach, -np.inf).max(axis=-1, initial=-np.inf)
    high = np.where(usable, mean + reach, np.inf).min(axis=-1, initial=np.inf)
    return np.where(np.isfinite(low), low, np.nan), np.where(np.isfinite(high), high, np.nan)


def t_above_p(values: ArrayLike) -> Floats:
    """[...] p that the mean is at most 0, at any number of looks; 1 of fewer than 20 values.

    1 / (largest mixture likelihood ratio at a look where the mean was above 0):
    k^(-1/2) ((1 + t^2 / v) / (1 + t^2 / (v k)))^(n / 2), v = n - 1, k = 1 + n / 16. Values that
    are all alike show nothing: t knows no spread, and rare others may come.
    """
    x = np.asarray(values, dtype=np.float64)
    n, mean, error = _moments(x)
    k = 1 + n * EFFECT_VARIANCE
    with np.errstate(divide="ignore", invalid="ignore"):
        square = np.where(error > 0, (mean / error) ** 2, 0.0) / np.maximum(n - 1, 1)
        ratio = np.where(np.isfinite(square), (1 + square) / (1 + square / k), k)
        log = -np.log(k) / 2 + n / 2 * np.log(ratio)
    seen = (n >= FIRST) & (mean > 0)
    return np.asarray(np.exp(-np.where(seen, log, 0.0).max(axis=-1, initial=0.0)))


def _moments(x: Floats) -> tuple[Floats, Floats, Floats]:
    """[..., items] how many, their mean and its standard error, after each item."""
    known = ~np.isnan(x)
    n = np.cumsum(known, axis=-1).astype(np.float64)
    at_least = np.maximum(n, 1)
    # about the row's own level, so that squares do not cancel
    filled = np.where(known, x, 0.0)
    level = filled.sum(axis=-1, keepdims=True) / np.maximum(known.sum(axis=-1, keepdims=True), 1)
    centred = np.where(known, x - level, 0.0)
    shift = np.cumsum(centred, axis=-1) / at_least
    square = np.maximum(np.cumsum(centred**2, axis=-1) - at_least * shift**2, 0.0)
    scale = np.abs(filled).max(axis=-1, initial=0.0)[..., None]
    square = np.where(square <= at_least * (1e-12 * scale) ** 2, 0.0, square)
    error = np.sqrt(square / np.maximum(n - 1, 1) / at_least)
    return n, level + shift, error


BOLDEST = 0.75
"""Largest share of the wealth in one bet."""
PSEUDO_SQUARE = 0.25
"""The one pseudo-value of the mean square; the one of the mean is 0."""


def betting_p(gains: ArrayLike, pool: int | None = None) -> Floats:
    """[...] p that the mean is at most 0, at any number of looks; 1 without items.

    Somebody with wealth 1 bets on each gain before it is seen. Where the mean is at most 0 the
    wealth exceeds 1 / alpha at any time with probability alpha at most (Ville), so p is
    1 / (largest wealth so far). The bet on item s is lambda_s = clip(mean / mean square, 0, .75)
    of the items before s, with one pseudo-value each (0 and .25): sum g / (.25 + sum g^2).

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
