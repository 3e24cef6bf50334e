"""Decisions between two answers held against people's, with items as the unit.

``gold`` is 1 where people prefer the first answer, -1 for the second, 0 where they call it a
tie and NaN where nobody was asked. Pairs of one item are not independent, so every interval
resamples items and every test flips the sign of whole items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.intervals.bootstrap import item_weights, percentile_interval
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.sign_flip import sign_flip_p
from judgelab.stats.qualification.pooling import TOLERANCE


def correct(sign: ArrayLike, gold: ArrayLike) -> Floats:
    """1 right, 0 wrong, .5 where the decision is a tie; NaN without a decision or preference.

    Args:
        sign: [items, pairs] or [items, pairs, orders] of ``pooling.decide``.
        gold: [items, pairs].
    """
    decided, truth = np.asarray(sign, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    if decided.ndim == truth.ndim + 1:
        truth = np.broadcast_to(truth[..., None], decided.shape)
    known = ~np.isnan(decided) & ~np.isnan(truth) & (truth != 0)
    return np.where(known, np.where(decided == 0, 0.5, decided == truth), np.nan)


def unscored_pairs(sign: ArrayLike, gold: ArrayLike) -> int:
    """Pairs on which people have a preference but nobody decided."""
    return int(np.count_nonzero(np.isnan(_where_preferred(sign, gold))))


def ties_of(sign: ArrayLike, gold: ArrayLike) -> int:
    """Pairs on which people have a preference and the decision is a tie."""
    return int(np.count_nonzero(_where_preferred(sign, gold) == 0))


def _where_preferred(sign: ArrayLike, gold: ArrayLike) -> Floats:
    """The decisions, in a row, on pairs on which people have a preference."""
    decided, truth = np.asarray(sign, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    if decided.ndim == truth.ndim + 1:
        truth = np.broadcast_to(truth[..., None], decided.shape)
    return np.asarray(decided[~np.isnan(truth) & (truth != 0)])


def accuracy(
    right: ArrayLike, *, macro: bool = False, draws: int = 2000, seed: int = 0
) -> Estimate:
    """Share of correct decisions with an interval clustered by item.

    Args:
        right: [items, ...] of ``correct``.
        macro: mean over items of each item's share, instead of over all pairs at once.
        draws: resamples of the items.
        seed: of the resamples; the same items for the same seed.

    Returns:
        n: pairs; clusters: items with any.
    """
    total, count = by_item(right)
    if macro:
        total, count = divide(total, count), (count > 0).astype(np.float64)
        total = np.nan_to_num(total)
    value = float(divide(total.sum(), count.sum()))
    items = int(np.count_nonzero(count))
    low = high = float("nan")
    if items > 2:
        low, high = percentile_interval(ratio_samples(total, count, draws, seed))
    pairs = int(np.count_nonzero(~np.isnan(np.asarray(right, dtype=np.float64))))
    return Estimate(value, low, high, pairs, clusters=items)


def difference(
    right: ArrayLike, other: ArrayLike, *, macro: bool = False, draws: int = 2000, seed: int = 0
) -> Estimate:
    """Accuracy of one method minus that of another on the pairs both decided.

    p: two-sided, from flipping the sign of whole items' sums of differences (the paper's tests
    take pairs of answers as independent; docs/definitions.md).
    """
    first, second = np.asarray(right, dtype=np.float64), np.asarray(other, dtype=np.float64)
    gap = first - second
    total, count = by_item(gap)
    if macro:
        total = np.nan_to_num(divide(total, count))
        count = (count > 0).astype(np.float64)
    value = float(divide(total.sum(), count.sum()))
    items = int(np.count_nonzero(count))
    low = high = float("nan")
    if items > 2:
        low, high = percentile_interval(ratio_samples(total, count, draws, seed))
    p = sign_flip_p(np.where(count > 0, total, np.nan), draws, seed)
    n = int(np.count_nonzero(~np.isnan(gap)))
    return Estimate(value, low, high, n, p=p, clusters=items)


def favour_rate(favours: ArrayLike, gold: ArrayLike, draws: int = 2000, seed: int = 0) -> Estimate:
    """Share of the pairs that a family should not have won which it won (equation 5).

    Args:
        favours: [items, pairs] or [items, pairs, orders]: 1 where the method prefers the
            family's answer, 0 where it prefers the other or calls it a tie, NaN unscored.
        gold: [items, pairs], 1 where people prefer the family's answer. Ties count (T_h = 0).
        draws: resamples of the items.
        seed: of the resamples.

    Returns:
        A share between 0 and 1; n: verdicts; clusters: items with any.
    """
    chosen, truth = np.asarray(favours, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    if chosen.ndim == truth.ndim + 1:
        truth = np.broadcast_to(truth[..., None], chosen.shape)
    return accuracy(np.where(truth <= 0, chosen, np.nan), draws=draws, seed=seed)


def accuracy_samples(
    votes: ArrayLike,
    gold: ArrayLike,
    power: Floats,
    weights: Floats,
    tolerance: float = TOLERANCE,
) -> Floats:
    """[draws] accuracy over pairs of a pool that is chosen anew in each resample of the items.

    Args:
        votes: [judges, items, pairs] as for ``pooling.decide``.
        gold: [items, pairs].
        power: [draws, judges] the judges' weights in each resample; 0 or NaN keeps one out.
        weights: [draws, items] how often each item was drawn.
        tolerance: as ``pooling.decide``.
    """
    truth = np.asarray(gold, dtype=np.float64)
    usable = ~np.isnan(truth) & (truth != 0)
    cells = np.asarray(votes, dtype=np.float64)[:, usable]
    rows, where = np.unique(np.nan_to_num(power), axis=0, return_inverse=True)
    total, count = _won(rows, cells, truth[usable], np.nonzero(usable)[0], len(truth), tolerance)
    at = where.ravel()
    return divide((weights * total[at]).sum(axis=1), (weights * count[at]).sum(axis=1))


def _won(
    rows: Floats,
    votes: Floats,
    wanted: Floats,
    item: NDArray[np.int64],
    items: int,
    tolerance: float,
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
        draw = np.abs(leaning) <= tolerance * (rows[part] @ size)
        right = np.where(draw, 0.5, leaning > 0) * cast
        total[part, item[starts]] = np.add.reduceat(right, starts, axis=1)
        count[part, item[starts]] = np.add.reduceat(cast.astype(np.float64), starts, axis=1)
    return total, count


def by_item(values: ArrayLike) -> tuple[Floats, Floats]:
    """[items] sum and number of the scored entries of each item."""
    cells = np.asarray(values, dtype=np.float64)
    flat = cells.reshape(len(cells), -1)
    known = ~np.isnan(flat)
    return np.where(known, flat, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64)


def ratio_samples(total: Floats, count: Floats, draws: int, seed: int) -> Floats:
    """[draws] sum over sum in resampled items; NaN where a resample holds nothing."""
    weights = item_weights(len(total), draws, seed)
    return divide(weights @ total, weights @ count)


def alike(sign: ArrayLike, other: ArrayLike) -> Floats:
    """1 where two methods decide alike, ties included, 0 where not; NaN where either has not."""
    first, second = np.asarray(sign, dtype=np.float64), np.asarray(other, dtype=np.float64)
    known = ~np.isnan(first) & ~np.isnan(second)
    return np.where(known, (first == second).astype(np.float64), np.nan)
