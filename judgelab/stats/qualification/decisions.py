"""Many judges, one decision, held against people's (Auto-PRE paper, sections 3 and 5).

Verdicts are 1 where the first of two answers wins, 0 where the second does, .5 for a tie and NaN
where nothing could be read, for the answers in one fixed order, whichever was shown first. ``gold``
is 1 where people prefer the first answer, -1 for the second, 0 for a tie, NaN where nobody was
asked. Every interval is over items, and every test flips the sign of whole items.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.intervals.ends import mean_ends, of_ratio, share_ends
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import sign_flip_p

# Votes closer to a draw than this share of all that was cast are ties: sums are rounded.
TOLERANCE = 1e-9
BOX = ("whisker_low", "quartile_1", "median", "quartile_3", "whisker_high")


def votes_of(verdicts: ArrayLike) -> Floats:
    """Verdicts [..., orders] as votes for the first answer, both orders as one, from -2 to 2. An
    order that is a tie or unread adds nothing. NaN where nothing was read."""
    votes = 2 * np.asarray(verdicts, dtype=np.float64) - 1
    return np.where(np.isnan(votes).all(axis=-1), np.nan, np.nansum(votes, axis=-1))


def gaps_of(scores: ArrayLike, pairs: NDArray[np.int64]) -> Floats:
    """[..., pairs] the first answer's grade minus the second's, of grades [..., agents]."""
    cells = np.asarray(scores, dtype=np.float64)
    return np.asarray(cells[..., pairs[:, 0]] - cells[..., pairs[:, 1]])


def decide(votes: ArrayLike, weight: ArrayLike) -> Floats:
    """Weighted majority [...]: 1 first answer, -1 second, 0 a tie (within TOLERANCE), NaN where no
    judge voted.

    Of votes [judges, ...] by ``votes_of`` or ``gaps_of``; NaN abstains, differences of grades count
    by their size. A weight [judges] of 0 or NaN keeps a judge out.
    """
    cells = np.asarray(votes, dtype=np.float64)
    power = np.nan_to_num(np.asarray(weight, dtype=np.float64))
    filled = np.nan_to_num(cells)
    voted = np.tensordot(power, (~np.isnan(cells)).astype(np.float64), axes=1)
    balance = np.tensordot(power, filled, axes=1)
    size = np.tensordot(power, np.abs(filled), axes=1)
    sign = np.where(np.abs(balance) <= TOLERANCE * size, 0.0, np.sign(balance))
    return np.where(voted > 0, sign, np.nan)


def pooled_scores(scores: ArrayLike, weight: ArrayLike) -> Floats:
    """[items, agents] weighted mean of the judges' grades [judges, items, agents]; NaN without any.
    Weights are [judges], or [judges, items] where every item has its own."""
    cells = np.asarray(scores, dtype=np.float64)
    power = np.nan_to_num(np.asarray(weight, dtype=np.float64))
    power = power[:, None, None] if power.ndim == 1 else power[:, :, None]
    return divide(np.nansum(power * cells, axis=0), (power * ~np.isnan(cells)).sum(axis=0))


def correct(sign: ArrayLike, gold: ArrayLike) -> Floats:
    """1 right, 0 wrong, .5 where the decision is a tie; NaN without a decision or preference. Of
    decisions [items, pairs(, orders)] and gold [items, pairs]."""
    decided, truth = _aligned(sign, gold)
    known = ~np.isnan(decided) & (np.abs(truth) == 1)
    return np.where(known, np.where(decided == 0, 0.5, decided == truth), np.nan)


def unscored_pairs(sign: ArrayLike, gold: ArrayLike) -> int:
    """Pairs without a decision on which people have a preference."""
    decided, truth = _aligned(sign, gold)
    return int(np.count_nonzero(np.isnan(decided) & (np.abs(truth) == 1)))


def _aligned(sign: ArrayLike, gold: ArrayLike) -> tuple[Floats, Floats]:
    decided, truth = np.asarray(sign, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    if decided.ndim == truth.ndim + 1:
        truth = np.broadcast_to(truth[..., None], decided.shape)
    return decided, truth


def accuracy(right: ArrayLike, *, macro: bool = False, change: bool = False) -> Estimate:
    """Mean of ``correct`` [items, ...] with an interval over items (``share_ends``).

    n: pairs; clusters: items with any. ``macro`` averages each item's share over items, instead of
    all pairs at once. ``change``: of a difference of two, within -1 and 1 (``mean_ends``).
    """
    total, count = _by_item(right)
    pairs = int(count.sum())
    if macro:
        total, count = np.nan_to_num(divide(total, count)), (count > 0).astype(np.float64)
    items = int(np.count_nonzero(count))
    low = high = float("nan")
    if items > 2:
        parts = of_ratio(total, count)
        ends = mean_ends(parts, bounds=(-1.0, 1.0)) if change else share_ends(parts)
        low, high = map(float, ends)
    return Estimate(float(divide(total.sum(), count.sum())), low, high, pairs, clusters=items)


def difference(
    right: ArrayLike, other: ArrayLike, *, macro: bool = False, draws: int = 2000, seed: int = 0
) -> Estimate:
    """Accuracy of one method minus that of another on the pairs both decided.

    Interval: ``mean_ends`` over items. p: two-sided, from flipping the sign of whole items (the
    paper's tests take pairs of answers as independent).
    """
    gap = np.asarray(right, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    total, count = _by_item(gap)
    if macro:
        total = np.nan_to_num(divide(total, count))
    p = sign_flip_p(np.where(count > 0, total, np.nan), draws, seed)
    return replace(accuracy(gap, macro=macro, change=True), p=p)


def favour_rate(favours: ArrayLike, gold: ArrayLike) -> Estimate:
    """Share of the pairs that a family should not have won which it won (equation 5).

    Of [items, pairs(, orders)] 1 where the method prefers the family's answer, 0 where it prefers
    the other or calls it a tie, NaN unscored; gold [items, pairs] is 1 where people prefer the
    family's answer, and their ties count (T_h = 0).
    """
    chosen, truth = _aligned(favours, gold)
    return accuracy(np.where(truth <= 0, chosen, np.nan))


def _by_item(values: ArrayLike) -> tuple[Floats, Floats]:
    cells = np.asarray(values, dtype=np.float64)
    flat = cells.reshape(len(cells), -1)
    return np.nansum(flat, axis=1), (~np.isnan(flat)).sum(axis=1).astype(np.float64)


def box(values: ArrayLike) -> dict[str, float]:
    """Quartiles of the values that are known, and whiskers to the last within 1.5 times their gap
    (Tukey); NaN without any."""
    cells = np.asarray(values, dtype=np.float64).ravel()
    known = cells[~np.isnan(cells)]
    if not len(known):
        return dict.fromkeys(BOX, float("nan"))
    low, middle, high = np.quantile(known, (0.25, 0.5, 0.75))
    near = known[np.abs(known - np.clip(known, low, high)) <= 1.5 * (high - low)]
    parts = min(near.min(), low), low, middle, high, max(near.max(), high)
    return dict(zip(BOX, map(float, parts), strict=True))


def alike(sign: ArrayLike, other: ArrayLike) -> Floats:
    """1 where two methods decide alike, ties included, 0 where not; NaN where either has not."""
    first, second = np.asarray(sign, dtype=np.float64), np.asarray(other, dtype=np.float64)
    known = ~np.isnan(first) & ~np.isnan(second)
    return np.where(known, (first == second).astype(np.float64), np.nan)
