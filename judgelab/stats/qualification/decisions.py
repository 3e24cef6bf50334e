"""Many judges, one decision, held against people's (Auto-PRE paper, sections 3 and 5).

Verdicts are 1 where the first of two answers wins, 0 where the second does, .5 for a tie and NaN
where nothing could be read, always for the answers in one fixed order, whichever was shown first.
``gold`` is 1 where people prefer the first answer, -1 for the second, 0 where they call it a tie
and NaN where nobody was asked. Pairs of one item are not independent, so every interval is over
items and every test flips the sign of whole items.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.intervals.ends import mean_ends, of_ratio, share_ends
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import sign_flip_p

Weighting = Literal["equal", "score", "mean"]
Orders = Literal["merged", "per_order"]

TOLERANCE = 1e-9
"""Votes closer to a draw than this share of all that was cast are ties: sums are rounded."""

BOX = ("whisker_low", "quartile_1", "median", "quartile_3", "whisker_high")
"""Quartiles, and whiskers to the last value within 1.5 times their gap."""


def fusion_weights(exams: ArrayLike, admitting: ArrayLike, rule: Weighting) -> Floats:
    """Weight of every judge.

    Args:
        exams: [..., exams, judges] the judges' numbers, NaN where one was not taken.
        admitting: [exams] which of them admit to the pool.
        rule: ``equal`` 1; ``score`` the mean number over the exams that admit to the pool (the
            paper's rule, stated for the pool of all three); ``mean`` the mean over all exams,
            also those that the pool does not require.

    Returns:
        [..., judges], not negative; NaN where the judge took none of the exams that count.
    """
    values = np.asarray(exams, dtype=np.float64)
    chosen = np.asarray(admitting, dtype=np.bool_)
    used = values if rule == "mean" or not chosen.any() else values[..., chosen, :]
    known = ~np.isnan(used)
    score = divide(np.nansum(used, axis=-2), known.sum(axis=-2))
    return np.ones(score.shape) if rule == "equal" else score


def votes_of(verdicts: ArrayLike, orders: Orders = "merged") -> Floats:
    """Verdicts [..., orders] as votes for the first answer, -1 to 1 from each order.

    ``merged``: both orders are one vote, from -2 to 2; one that is a tie or unread adds nothing.
    ``per_order`` keeps the axis. NaN where nothing was read.
    """
    votes = 2 * np.asarray(verdicts, dtype=np.float64) - 1
    if orders == "per_order":
        return votes
    return np.where(np.isnan(votes).all(axis=-1), np.nan, np.nansum(votes, axis=-1))


def gaps_of(scores: ArrayLike, pairs: NDArray[np.int64]) -> Floats:
    """[..., pairs] the first answer's grade minus the second's, of grades [..., agents]."""
    cells = np.asarray(scores, dtype=np.float64)
    return np.asarray(cells[..., pairs[:, 0]] - cells[..., pairs[:, 1]])


def decide(votes: ArrayLike, weight: ArrayLike) -> Floats:
    """Weighted majority [...]: 1 first answer, -1 second, 0 a tie, NaN where no judge voted.

    Of votes [judges, ...] by ``votes_of`` or ``gaps_of``; NaN abstains. Differences of grades count
    by their size, so that a judge who saw no difference does not count. A weight [judges] of 0 or
    NaN keeps a judge out. A balance within TOLERANCE of all that was cast is a tie.
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
    """[items, agents] weighted mean of the judges' grades [judges, items, agents].

    Weights are [judges], or [judges, items] where every item has its own. A judge without a grade
    has no part in that answer's mean. NaN where no judge of the pool graded.
    """
    cells = np.asarray(scores, dtype=np.float64)
    power = np.nan_to_num(np.asarray(weight, dtype=np.float64))
    power = power[:, None, None] if power.ndim == 1 else power[:, :, None]
    return divide(np.nansum(power * cells, axis=0), (power * ~np.isnan(cells)).sum(axis=0))


def correct(sign: ArrayLike, gold: ArrayLike) -> Floats:
    """1 right, 0 wrong, .5 where the decision is a tie; NaN without a decision or preference.

    Of decisions [items, pairs(, orders)] and gold [items, pairs].
    """
    decided, truth = _aligned(sign, gold)
    known = ~np.isnan(decided) & _preferred(truth)
    return np.where(known, np.where(decided == 0, 0.5, decided == truth), np.nan)


def unscored_pairs(sign: ArrayLike, gold: ArrayLike) -> int:
    """Pairs without a decision on which people have a preference."""
    decided, truth = _aligned(sign, gold)
    return int(np.count_nonzero(np.isnan(decided) & _preferred(truth)))


def ties_of(sign: ArrayLike, gold: ArrayLike) -> int:
    """Pairs on which people have a preference and the decision is a tie."""
    decided, truth = _aligned(sign, gold)
    return int(np.count_nonzero((decided == 0) & _preferred(truth)))


def _aligned(sign: ArrayLike, gold: ArrayLike) -> tuple[Floats, Floats]:
    """Decisions, and people's in their shape."""
    decided, truth = np.asarray(sign, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    if decided.ndim == truth.ndim + 1:
        truth = np.broadcast_to(truth[..., None], decided.shape)
    return decided, truth


def _preferred(gold: Floats) -> NDArray[np.bool_]:
    return np.asarray(~np.isnan(gold) & (gold != 0))


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

    Interval: ``mean_ends`` over items. p: two-sided, from flipping the sign of whole items' sums of
    differences (the paper's tests take pairs of answers as independent; docs/definitions.md).
    """
    gap = np.asarray(right, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    total, count = _by_item(gap)
    if macro:
        total = np.nan_to_num(divide(total, count))
    p = sign_flip_p(np.where(count > 0, total, np.nan), draws, seed)
    return replace(accuracy(gap, macro=macro, change=True), p=p)


def favour_rate(favours: ArrayLike, gold: ArrayLike) -> Estimate:
    """Share of the pairs that a family should not have won which it won (equation 5).

    Args:
        favours: [items, pairs(, orders)] 1 where the method prefers the family's answer, 0 where
            it prefers the other or calls it a tie, NaN unscored.
        gold: [items, pairs] 1 where people prefer the family's answer. Ties count (T_h = 0).
    """
    chosen, truth = _aligned(favours, gold)
    return accuracy(np.where(truth <= 0, chosen, np.nan))


def accuracy_samples(
    votes: ArrayLike,
    gold: ArrayLike,
    power: Floats,
    weights: Floats,
) -> Floats:
    """[draws] accuracy over pairs of a pool that is chosen anew in each resample of the items.

    Of votes [judges, items, pairs] and gold [items, pairs]; with the judges' weights ``power``
    [draws, judges], and ``weights`` [draws, items], how often each item was drawn.
    """
    truth = np.asarray(gold, dtype=np.float64)
    usable = _preferred(truth)
    cells = np.asarray(votes, dtype=np.float64)[:, usable]
    rows, where = np.unique(np.nan_to_num(power), axis=0, return_inverse=True)
    total, count = _won(rows, cells, truth[usable], np.nonzero(usable)[0], len(truth))
    at = where.ravel()
    return divide((weights * total[at]).sum(axis=1), (weights * count[at]).sum(axis=1))


def _won(
    rows: Floats, votes: Floats, wanted: Floats, item: NDArray[np.int64], items: int
) -> tuple[Floats, Floats]:
    """[pools, items] sums of correct decisions, and how many were made."""
    starts = np.flatnonzero(np.diff(item, prepend=-1))  # the cells come item by item
    total, count = np.zeros((len(rows), items)), np.zeros((len(rows), items))
    if not len(starts):
        return total, count
    towards = np.nan_to_num(votes) * wanted
    size, voted = np.abs(towards), (~np.isnan(votes)).astype(np.float64)
    for begin in range(0, len(rows), 250):  # keeps the temporary arrays small
        part = slice(begin, begin + 250)
        leaning, cast = rows[part] @ towards, (rows[part] @ voted) > 0
        draw = np.abs(leaning) <= TOLERANCE * (rows[part] @ size)
        right = np.where(draw, 0.5, leaning > 0) * cast
        total[part, item[starts]] = np.add.reduceat(right, starts, axis=1)
        count[part, item[starts]] = np.add.reduceat(cast.astype(np.float64), starts, axis=1)
    return total, count


def _by_item(values: ArrayLike) -> tuple[Floats, Floats]:
    """[items] sum and number of the scored entries of each item."""
    cells = np.asarray(values, dtype=np.float64)
    flat = cells.reshape(len(cells), -1)
    return np.nansum(flat, axis=1), (~np.isnan(flat)).sum(axis=1).astype(np.float64)


def box(values: ArrayLike) -> dict[str, float]:
    """``BOX`` of the values that are known, by Tukey's rule; NaN without any."""
    cells = np.asarray(values, dtype=np.float64).ravel()
    known = cells[~np.isnan(cells)]
    if not len(known):
        return dict.fromkeys(BOX, float("nan"))
    low, middle, high = np.quantile(known, (0.25, 0.5, 0.75))
    near = known[np.abs(known - np.clip(known, low, high)) <= 1.5 * (high - low)]
    ends = min(near.min(), low), max(near.max(), high)
    return dict(zip(BOX, map(float, (ends[0], low, middle, high, ends[1])), strict=True))


def alike(sign: ArrayLike, other: ArrayLike) -> Floats:
    """1 where two methods decide alike, ties included, 0 where not; NaN where either has not."""
    first, second = np.asarray(sign, dtype=np.float64), np.asarray(other, dtype=np.float64)
    known = ~np.isnan(first) & ~np.isnan(second)
    return np.where(known, (first == second).astype(np.float64), np.nan)
