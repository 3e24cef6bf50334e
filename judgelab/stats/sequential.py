"""What is sure at every look, so that a run may stop when it likes: means and orders.

An interval for one look holds 95 times in 100 where the number of items was fixed beforehand; who
looks after every batch and stops at a narrow one is wrong far more often. These are wider, and hold
at all looks together.

- Bounded values, any distribution: the hedged capital of Waudby-Smith & Ramdas (*Estimating means
  of bounded random variables by betting*, arXiv 2010.09686) with their predictable plug-in bets.
- Values without bounds: Wang & Ramdas (*Anytime-valid t-tests and confidence sequences for Gaussian
  means with unknown variance*, arXiv 2310.03722), a Gaussian mixture of Student's t (the ratio is
  the Bayes factor of Gonen et al., *The Bayesian two-sample t test*, 2005), exact for normal values
  and tried on others (experiments/stopping).

Values are [..., items] in the order in which they were asked, NaN where unscored or not asked. Ends
are the overlap of the intervals at all looks so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import Floats, Mask, check_array
from judgelab.stats.intervals.ends import Ends
from judgelab.stats.intervals.means import Bounds, holm

CAP = (0.5, 0.75)
"""Largest share of the wealth that one bet can lose: of the first ``CAREFUL`` bets, and later."""
CAREFUL = 10
"""Bets before the spread is known a little: large ones would ruin on coins, small ones waste time
on values that hardly differ."""
HALVINGS = 30  # of [0, 1] to find an end
EFFECT_VARIANCE = 1 / 16  # of the effect sizes (mean / sd) that the mixture expects
FIRST = 20  # values before the first look at a t, which says little of fewer that are not normal
BOLDEST = 0.75  # largest share of the wealth in one bet of ``betting_p``
PSEUDO_SQUARE = 0.25  # the one pseudo-value of the mean square; the one of the mean is 0


def sequence_ends(values: ArrayLike, level: float, bounds: Bounds | None) -> Ends:
    """``betting_ends`` of values with bounds, ``t_sequence_ends`` of others."""
    return t_sequence_ends(values, level) if bounds is None else betting_ends(values, level, bounds)


def betting_ends(values: ArrayLike, level: float = 0.95, bounds: Bounds = (0.0, 1.0)) -> Ends:
    """Means that no bet excludes: who bets that the mean is higher, or lower, got too rich
    (ValueError: a value lies outside of its bounds)."""
    least, most = bounds
    x = (np.asarray(values, dtype=np.float64) - least) / (most - least)
    numbers = x[~np.isnan(x)]
    if numbers.size and (numbers.min() < -1e-9 or numbers.max() > 1 + 1e-9):
        raise ValueError(f"Values to be bet on lie within {bounds}.")
    x = np.clip(x, 0.0, 1.0)
    low, high = _lower_end(x, level), 1 - _lower_end(1 - x, level)
    return least + (most - least) * low, least + (most - least) * np.maximum(high, low)


def _lower_end(values: Floats, level: float) -> Floats:
    """[...] the largest mean that a bettor excludes: wealth falls in the mean."""
    rich = _bettor(values, level)
    low, high = np.zeros(values.shape[:-1]), np.ones(values.shape[:-1])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        much = rich(middle)
        low, high = np.where(much, middle, low), np.where(much, high, middle)
    return low


def _bettor(values: Floats, level: float) -> Callable[[Floats], Mask]:
    """Whether who bets that the mean of [..., items] is above m [...] got too rich.

    Bets are sqrt(2 log(2 / alpha) / (s^2 t log(t + 1))), s^2 of the items before, and wealth is
    prod(1 + min(bet, cap / m) (x - m)).
    """
    has_value = ~np.isnan(values)
    x = np.where(has_value, values, 0.0)
    count, total = np.cumsum(has_value, axis=-1), np.cumsum(x, axis=-1)
    own = np.where(has_value, (x - (0.5 + total) / (count + 1)) ** 2, 0.0)
    before = (0.25 + np.cumsum(own, axis=-1) - own) / np.maximum(count - has_value + 1, 1)
    t, bar = np.maximum(count, 1), np.log(2 / (1 - level))
    bets, cap = np.sqrt(2 * bar / (before * t * np.log(t + 1))), np.where(count <= CAREFUL, *CAP)

    def rich(m: Floats) -> Mask:
        gain = np.log1p(np.minimum(bets, cap / m[..., None]) * (x - m[..., None]))
        wealth = np.cumsum(np.where(has_value, gain, 0.0), axis=-1)
        return np.asarray((wealth >= bar).any(axis=-1))

    return rich


def betting_p(gains: ArrayLike) -> Floats:
    """[...] p that the mean of gains [..., items] is at most 0, at any look; 1 without items.

    1 / (largest wealth so far), by Ville's inequality. The bet on an item is mean / mean square of
    the items before, cut to [0, .75], with one pseudo-value each: sum g / (.25 + sum g^2). Gains
    lie in [-1, 1] (else ValueError); NaN is no bet.
    """
    g = np.nan_to_num(np.asarray(gains, dtype=np.float64))
    if g.size and np.abs(g).max() > 1 + 1e-9:
        raise ValueError("Gains to be bet on lie in [-1, 1].")
    before = np.cumsum(g, axis=-1) - g
    squares = PSEUDO_SQUARE + np.cumsum(g**2, axis=-1) - g**2
    wealth = np.cumsum(np.log1p(np.clip(before / squares, 0, BOLDEST) * g), axis=-1)
    return np.asarray(np.exp(-wealth.max(axis=-1, initial=0.0)))


def t_sequence_ends(values: ArrayLike, level: float = 0.95) -> Ends:
    """Mean -+ t_n s / sqrt(n), overlapped over all n so far; NaN before 20 values.

    t_n^2 = (n - 1) (a - 1) / (1 - a / k), k = 1 + n / 16, a = (sqrt(k) / alpha)^(2 / n).
    """
    n, mean, error = _moments(values)
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
    n, mean, error = _moments(values)
    k = 1 + n * EFFECT_VARIANCE
    with np.errstate(divide="ignore", invalid="ignore"):
        square = np.where(error > 0, (mean / error) ** 2, 0.0) / np.maximum(n - 1, 1)
        ratio = np.where(np.isfinite(square), (1 + square) / (1 + square / k), k)
        log = -np.log(k) / 2 + n / 2 * np.log(ratio)
    usable = (n >= FIRST) & (mean > 0)
    return np.asarray(np.exp(-np.where(usable, log, 0.0).max(axis=-1, initial=0.0)))


def _moments(values: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """[..., items] how many, their mean and its standard error, after each item."""
    x = np.asarray(values, dtype=np.float64)
    has_value = ~np.isnan(x)
    n = np.cumsum(has_value, axis=-1).astype(np.float64)
    at_least = np.maximum(n, 1)
    # about the row's own level, so that squares do not cancel
    cells = np.where(has_value, x, 0.0)
    level = cells.sum(axis=-1, keepdims=True) / np.maximum(has_value.sum(axis=-1, keepdims=True), 1)
    centred = np.where(has_value, x - level, 0.0)
    shift = np.cumsum(centred, axis=-1) / at_least
    square = np.maximum(np.cumsum(centred**2, axis=-1) - at_least * shift**2, 0.0)
    scale = np.abs(cells).max(axis=-1, initial=0.0)[..., None]
    square = np.where(square <= at_least * (1e-12 * scale) ** 2, 0.0, square)
    error = np.sqrt(square / np.maximum(n - 1, 1) / at_least)
    return n, level + shift, error


@dataclass(frozen=True)
class Standing:
    """What is sure of competitors after some items."""

    # [competitors, competitors] whether the row is surely above the column (with what follows from
    # a above b, b above c)
    above: Mask

    def open_pairs(self, top: int | None) -> Mask:
        """[competitors, competitors] pairs of which neither order is sure; with ``top`` those alone
        that decide who is among the best so many."""
        unsure = ~(self.above | self.above.T | np.eye(len(self.above), dtype=np.bool_))
        if top is not None:
            out, inside = self.rank_low > top, self.rank_high <= top
            unsure[out] = unsure[:, out] = False
            unsure[np.ix_(inside, inside)] = False
        return np.asarray(unsure)

    @property
    def rank_low(self) -> Floats:
        """[competitors] best rank that is left: 1 + those surely above."""
        return np.asarray(1.0 + self.above.sum(axis=0))

    @property
    def rank_high(self) -> Floats:
        """[competitors] worst rank that is left."""
        return np.asarray(float(len(self.above)) - self.above.sum(axis=1))


def standing(
    scores: ArrayLike, confidence: float, bounds: Bounds | None, *, stepwise: bool = True
) -> Standing:
    """Which orders are sure; the chance that any is wrong, at any time, is 1 - confidence at most.

    Each pair is compared on the items that both were asked about.

    Args:
        scores: [items, competitors], higher is better. A competitor that dropped out has NaN from
            then on.
        bounds: least and largest score; None: there are none.
        stepwise: Holm over both orders of all pairs; else Bonferroni, which leaves room for
            ``ties`` of the same confidence.
    """
    table = check_array(scores, 2, "The scores of a race").T
    gaps = table[:, None] - table[None]
    if bounds is None:
        p = t_above_p(gaps)
    else:
        p = betting_p(np.clip(gaps / (bounds[1] - bounds[0]), -1, 1))
    apart, above = ~np.eye(len(table), dtype=np.bool_), np.zeros(p.shape, np.bool_)
    adjusted = holm(p[apart]) if stepwise else np.minimum(1.0, p[apart] * apart.sum())
    above[apart] = adjusted <= 1 - confidence
    for k in range(len(above)):  # with all that follows from what is sure
        above |= above[:, [k]] & above[[k]]
    return Standing(above & ~above.T)  # what contradicts another is not sure


def ties(scores: ArrayLike, reach: float, confidence: float, bounds: Bounds | None) -> Mask:
    """[competitors, competitors] pairs whose means surely differ by less than ``reach``.

    ``confidence``: that all ties are right, and all orders of ``standing`` without steps. Of each
    pair (1 - confidence) / pairs is spent on at most two wrong answers that it can have, the two
    orders of equals, or an order and a tie of others, half on each (Holm's steps would count on
    hypotheses that ties leave open). Over all pairs, not the open ones alone: which these are was
    found by looking.
    """
    table = check_array(scores, 2, "The scores of a race").T
    first, second = np.triu_indices(len(table), 1)
    near = np.zeros((len(table),) * 2, np.bool_)
    if first.size:
        each, gaps = 1 - (1 - confidence) / len(first), table[first] - table[second]
        if bounds is None:
            low, high = t_sequence_ends(gaps, each)
            near[first, second] = (low >= -reach) & (high <= reach)
        else:  # one bet at the width on either side: whole intervals of all pairs take seconds
            scale = bounds[1] - bounds[0]
            share, width = gaps / scale, reach / scale
            m = np.array(max((1 - width) / 2, 1e-9))  # of a width beyond the bounds: nearly 0
            sides = [_bettor(np.clip((1 + x) / 2, 0, 1), each)(m) for x in (share, -share)]
            near[first, second] = sides[0] & sides[1]
    return np.asarray(near | near.T)
