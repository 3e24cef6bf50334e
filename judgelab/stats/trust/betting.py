"""Is a mean surely above 0? An answer by betting, exact for every distribution and at every look.

Waudby-Smith & Ramdas (2010.09686): somebody with wealth 1 bets on each gain, in [-1, 1], before it
is seen. Where the mean is at most 0 the wealth cannot be expected to grow, and exceeds 1 / alpha at
any time with probability alpha at most (Ville). So p = 1 / (largest wealth so far) may be looked at
after every label, which a t test may not. Items in the order in which they were labelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats

BOLDEST = 0.75
"""Largest share of the wealth in one bet."""
PSEUDO_SQUARE = 0.25
"""The one pseudo-value of the mean square; the one of the mean is 0."""
RESERVE = 1.25
"""Labels asked for above those that the pilot predicts."""
HALVINGS = 30


def label_order(names: Sequence[str], turn: ArrayLike) -> NDArray[np.intp]:
    """[items] places in the order to be bet on: by turn, and within one by a hash of the name.

    The hash keeps the order of a file, which may be sorted by anything, out of the answer.

    Args:
        turn: [items] when the label came; NaN: not known, after all others.
    """
    hashed = np.array(
        [int.from_bytes(blake2b(str(name).encode(), digest_size=8).digest()) for name in names],
        dtype=np.uint64,
    )
    return np.lexsort((hashed, np.asarray(turn, dtype=np.float64)))


def log_wealth(gains: ArrayLike, pool: int | None = None) -> Floats:
    """[..., items] logarithm of the wealth after each item.

    The bet on item s is lambda_s = clip(mean / mean square, 0, .75) of the items before s, with one
    pseudo-value each (0 and .25): sum g / (.25 + sum g^2).

    Args:
        gains: [..., items] in [-1, 1], in label order; NaN: no bet.
        pool: the mean is that of so many items, of which these were drawn at random
            (sampling without replacement); None: of all items like these. Exact where none is NaN.

    Raises:
        ValueError: a gain lies outside.
    """
    if pool is not None:
        return _log_wealth_of_pool(np.asarray(gains, dtype=np.float64), pool)
    g = np.nan_to_num(np.asarray(gains, dtype=np.float64))
    _refuse_large(g)
    before = np.cumsum(g, axis=-1) - g
    squares = PSEUDO_SQUARE + np.cumsum(g**2, axis=-1) - g**2
    return np.asarray(np.cumsum(np.log1p(np.clip(before / squares, 0, BOLDEST) * g), axis=-1))


def _log_wealth_of_pool(gains: Floats, pool: int) -> Floats:
    """Bets on what a gain is above its mean, were the pool's 0: -(sum so far) / (items left).

    Wealth is infinite once no items that are left could bring the pool's mean down to 0. NaN before
    the last gain are of items without one; those after it are not asked yet.
    """
    known = ~np.isnan(gains)
    g = np.where(known, gains, 0.0)
    _refuse_large(g)
    total, unscored = np.cumsum(g, axis=-1), np.cumsum(~known, axis=-1)
    drawn = np.cumsum(known, axis=-1)
    left = np.maximum(pool - unscored - drawn, 0)
    expected = np.clip(-(total - g) / np.maximum(left + known, 1), -1.0, 1.0)
    above = np.where(known, g - expected, 0.0)
    before = np.cumsum(above, axis=-1) - above
    squares = PSEUDO_SQUARE + np.cumsum(above**2, axis=-1) - above**2
    bets = np.clip(before / squares, 0, BOLDEST / (1 + np.maximum(expected, 0)))
    wealth = np.cumsum(np.log1p(bets * above), axis=-1)
    return np.asarray(np.where(known & (total > left + 1e-9), np.inf, wealth))


def _refuse_large(gains: Floats) -> None:
    if gains.size and np.abs(gains).max() > 1 + 1e-9:
        raise ValueError("Gains to be bet on lie in [-1, 1].")


def betting_p(gains: ArrayLike, pool: int | None = None) -> Floats:
    """[...] p that the mean is at most 0, at any number of looks; 1 without items.

    Args:
        gains, pool: as of ``log_wealth``.
    """
    return np.asarray(np.exp(-log_wealth(gains, pool).max(axis=-1, initial=0.0)))


def holm(p: ArrayLike) -> Floats:
    """[..., tests] p values after Holm (1979), over the last axis; NaN: no test."""
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, axis=-1)  # NaN last
    known = (~np.isnan(values)).sum(axis=-1, keepdims=True)
    left = np.maximum(known - np.arange(values.shape[-1]), 1)
    ordered = np.take_along_axis(values, order, axis=-1)
    raised = np.maximum.accumulate(np.minimum(ordered * left, 1.0), axis=-1)
    made = np.empty_like(values)
    np.put_along_axis(made, order, raised, axis=-1)
    return made


def gate_p(gains: Floats) -> Floats:
    """[..., judges] p that a judge is no better than some control, after Holm over the judges.

    Better than every control is an intersection: the largest p of a judge is its p.

    Args:
        gains: [..., judges, controls, items] credit minus the control's, in label order.
    """
    if not gains.shape[-2]:
        return np.ones(gains.shape[:-2])
    return holm(betting_p(gains).max(axis=-1))


def growth(gains: ArrayLike) -> Floats:
    """[...] largest mean of log(1 + lambda g) over bets lambda in [0, .75]: gained per item.

    Concave in lambda, so its slope is bisected.
    """
    g = np.asarray(gains, dtype=np.float64)
    low, high = np.zeros(g.shape[:-1]), np.full(g.shape[:-1], BOLDEST)
    for _ in range(HALVINGS):
        bet = (low + high) / 2
        rising = np.nansum(g / (1 + bet[..., None] * g), axis=-1) > 0
        low, high = np.where(rising, bet, low), np.where(rising, high, bet)
    n = (~np.isnan(g)).sum(axis=-1)
    total = np.nansum(np.log1p(((low + high) / 2)[..., None] * g), axis=-1)
    return np.asarray(np.where(n > 0, np.maximum(total, 0.0) / np.maximum(n, 1), 0.0))


def labels_more(gains: Floats, alpha: float) -> Floats:
    """[judges] labels more after which a judge as good as its pilot says would pass the gate.

    1.25 (log(J / alpha) - log wealth now) / growth, of the control that takes longest; J are the
    judges that have not passed, the most that Holm can ask for. 0 once passed, infinite where the
    pilot is no better than a control.

    Args:
        gains: as of ``gate_p``.
    """
    passed = gate_p(gains) <= alpha
    wanted = np.log(max(int((~passed).sum()), 1) / alpha)
    wealth = log_wealth(gains)
    now = wealth[..., -1] if wealth.shape[-1] else np.zeros(wealth.shape[:-1])
    rate = growth(gains)
    needed = RESERVE * np.maximum(wanted - now, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(needed > 0, np.where(rate > 1e-9, needed / rate, np.inf), 0.0)
    most = np.ceil(each.max(axis=1, initial=0.0))
    return np.where(passed, 0.0, most)
