"""Area under the ROC curve per item, ties counted one half, and its mean over items.

An AUC per item that is then averaged (TVD-MI paper, appendix A.3) does not mix items, whose levels
differ. NaN is unscored throughout.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import ROUNDING, Floats, Mask, average_ranks, divide
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import Kind, with_p

Indices = NDArray[np.intp]


def row_auc(positives: ArrayLike, negatives: ArrayLike) -> Floats:
    """[items] P(positive > negative) + P(positive = negative) / 2 of scores [items, P] and
    [items, N], from average ranks (Mann-Whitney); NaN without a scored cell of either class."""
    first = np.asarray(positives, dtype=np.float64)
    second = np.asarray(negatives, dtype=np.float64)
    width = first.shape[1]
    ranks = average_ranks(np.concatenate([first, second], axis=1))[:, :width]
    n_positive = np.count_nonzero(~np.isnan(first), axis=1)
    n_negative = np.count_nonzero(~np.isnan(second), axis=1)
    wins = np.nansum(ranks, axis=1) - n_positive * (n_positive + 1) / 2
    return divide(wins, n_positive * n_negative)


def item_auc(scores: ArrayLike, positive: Mask, negative: Mask) -> Floats:
    """[items] agent-level AUC: positive (good-faith) against negative (problematic) agents, of
    scores [items, agents] and disjoint masks [agents]; NaN where either group has no score."""
    table = np.asarray(scores, dtype=np.float64)
    return row_auc(table[:, positive], table[:, negative])


def pair_auc(
    pair: ArrayLike, positive: Indices, negative: Indices, item_seeds: Sequence[int] | None = None
) -> Floats:
    """Pair-level AUC [items] (Table 3): positive x positive against positive x negative pairs; NaN
    where a class has no scored pair.

    Args:
        pair: [items, agents, agents], symmetric; the diagonal is never read.
        positive, negative: agent indices, none twice; their order matters beside seeds alone.
        item_seeds: one per item; then the larger class of every item is down-sampled to the smaller
            as the released code does for Table 3 (not for Table 5): by
            ``RandomState(item_seed).choice`` over pairs listed as (p1, p2), (p1, p3), ..., and
            positive-major, before NaN cells are ignored.
    """
    table = np.asarray(pair, dtype=np.float64)
    first, second = np.asarray(positive, np.intp), np.asarray(negative, np.intp)
    row, column = np.triu_indices(len(first), k=1)
    positives = table[:, first[row], first[column]]
    negatives = table[:, np.repeat(first, len(second)), np.tile(second, len(first))]
    if item_seeds is not None:
        positives, negatives = _balance(positives, negatives, item_seeds)
    return row_auc(positives, negatives)


def macro_auc(
    row_aucs: ArrayLike, draws: int = 1000, seed: int = 0, interval: Kind = "items"
) -> Estimate:
    """Mean AUC over items with Wilson's interval (``share_ends``), or the papers' ``percentile``.

    p: two-sided, of 1/2, by the same test; beside the percentile by ``draws`` sign flips of items.
    """
    return with_p(row_aucs, interval, draws, seed, null=0.5, bounds=(0.0, 1.0))


def same_order(scores: ArrayLike, human: ArrayLike) -> Floats:
    """[items] share of an item's pairs, of those that people tell apart, that scores order alike.

    Of [items, agents] each. A tie of the scores earns one half; NaN leaves a response out, and an
    item without such a pair is NaN.
    """
    first, second = np.asarray(scores, np.float64), np.asarray(human, np.float64)
    i, j = np.triu_indices(first.shape[1], k=1)
    signs, human_signs = (_sign(values[:, i], values[:, j]) for values in (first, second))
    apart = ~np.isnan(signs) & ~np.isnan(human_signs) & (human_signs != 0)
    credit = np.where(apart, (1 + signs * human_signs) / 2, 0.0)
    return divide(credit.sum(axis=1), apart.sum(axis=1))


def _balance(positives: Floats, negatives: Floats, seeds: Sequence[int]) -> tuple[Floats, Floats]:
    smaller, larger = sorted(side.shape[1] for side in (positives, negatives))
    if smaller == larger:
        return positives, negatives
    samples = [np.random.RandomState(s).choice(larger, smaller, replace=False) for s in seeds]
    columns = np.array(samples, dtype=np.intp).reshape(len(seeds), smaller)
    if positives.shape[1] == larger:
        return np.take_along_axis(positives, columns, axis=1), negatives
    return positives, np.take_along_axis(negatives, columns, axis=1)


def _sign(first: Floats, second: Floats) -> Floats:
    """1, 0, -1 or NaN; equal up to rounding is equal: a mean of .7 and .1 is one of .4 and .4."""
    apart = first - second
    largest = np.maximum(np.abs(first), np.abs(second))
    return np.where(np.abs(apart) <= ROUNDING * largest, 0.0, np.sign(apart))
