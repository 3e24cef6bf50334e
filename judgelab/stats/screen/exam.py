"""Scores of texts across items, within blocks of them, and an exam whose labels cost nothing: are
two texts about the same item?

Scores have the shape [blocks, agents, peers, m, m]: entry [k, a, b, i, j] is that of agent a's text
about the i-th item of block k with b's about the j-th. NaN is unscored, and fills up small blocks.

In the exam positives are two agents' texts of one item, negatives their texts of two items of a
block. A threshold is learnt on one half of the blocks and tried on the other, both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from judgelab.stats.discrimination.auc import row_auc
from judgelab.stats.intervals.arrays import Floats, Mask, divide, row_means
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_change, item_mean

Places = NDArray[np.intp]
FEWEST_ITEMS = 4  # items of the smallest block: 24 permutations


def deal(keys: Sequence[str], size: int) -> list[Places]:
    """Places of the items, in blocks of about ``size``, by keys that are made of what each item
    holds, so that neither order nor names decide which items meet."""
    order = np.argsort(np.array(keys, dtype=object), kind="stable")
    count = max(len(keys) // max(size, FEWEST_ITEMS), 2)  # one learns what is tried on the other
    return [order[first::count] for first in range(count)]


def as_blocks(cells: Floats, agents: int) -> Floats:
    """[blocks, agents, peers, m, m] from [blocks, m agents, m agents], whose rows run over agents
    within items."""
    m = cells.shape[1] // agents
    parts = cells.reshape(len(cells), m, agents, m, agents)
    return np.ascontiguousarray(parts.transpose(0, 2, 4, 1, 3))


def centre(scores: Floats) -> Floats:
    """The same without what a text has with all texts of a peer, its length and its style: mean of
    both directions, less the means over either text's items in each block and pair of agents. These
    stay where an agent's texts change places, so a permutation test is the same without them."""
    turned = scores.transpose(0, 2, 1, 4, 3)
    both = row_means(np.stack([scores, turned]), 0)
    rows, columns = row_means(both, -1)[..., None], row_means(both, -2)[..., None, :]
    return both - rows - columns + row_means(both, (-2, -1))[..., None, None]


def by_item(blocks: Sequence[Places], values: Floats) -> Floats:
    """[items, ...] from values [blocks, m, ...]."""
    items = np.full((sum(map(len, blocks)), *values.shape[2:]), np.nan)
    for places, row in zip(blocks, values, strict=True):
        items[places] = row[: len(places)]
    return items


def match_effect(cells: Floats) -> Floats:
    """[blocks, m] what texts of one item have more than texts of two, from centred [blocks, m, m]:
    its mean over items is that of matched scores less that of mismatched. What an item adds to
    either is in its own value, so that items are the units of an interval."""
    has_score = ~np.isnan(cells)
    rows, columns = has_score.any(axis=2).sum(axis=1), has_score.any(axis=1).sum(axis=1)
    both = np.einsum("kii->ki", has_score).sum(axis=1)
    # what is left of 1 on the diagonal after the means have been taken away
    remainder = 1 - divide(1, columns) - divide(1, rows) + divide(both, rows * columns)
    # of one text of a peer or an agent nothing is
    remainder = np.where(remainder > 1e-9, remainder, np.nan)
    return np.asarray(divide(np.einsum("kii->ki", cells), remainder[:, None]))


def with_peers(cells: Floats, agent: int, group: Places) -> Floats:
    """[blocks, m, m] mean over an agent's peers of its scores [blocks, peers, m, m]. Those with one
    number in ``group`` [agents] wrote the same texts: one peer, and none to each other."""
    share = (group != group[agent]) / np.bincount(group)[group]
    has_score = ~np.isnan(cells)
    over = share[:, None, None] * has_score
    return divide((np.where(has_score, cells, 0.0) * over).sum(axis=1), over.sum(axis=1))


def effects(scores: Sequence[Floats], blocks: Sequence[Places], group: Places) -> Floats:
    """[items, agents] ``match_effect`` of the scores of each agent with its peers."""
    each = (with_peers(cells, agent, group) for agent, cells in enumerate(scores))
    return np.stack([by_item(blocks, match_effect(own)) for own in each], axis=1)


def correlation(x: Floats, y: Floats) -> float:
    """Pearson's, over what both know; NaN of fewer than three or where one never changes."""
    both = ~np.isnan(x) & ~np.isnan(y)
    if both.sum() < 3 or np.ptp(x[both]) == 0 or np.ptp(y[both]) == 0:
        return np.nan
    return float(np.corrcoef(x[both], y[both])[0, 1])


@dataclass(frozen=True)
class SourceExam:
    """How a critic did."""

    auc: Floats  # [items] share of its same-item pairs that score above its others
    hits: Floats  # [items] share of same-item pairs above the threshold: TPR
    rejections: Floats  # [items] share of the other pairs below it: TNR
    orders: float  # correlation of the scores of two agents' texts in both orders

    @staticmethod
    def of(scores: Floats, blocks: Sequence[Places]) -> SourceExam:
        """Of one critic, by its scores [blocks, agents, peers, m, m] as they were measured."""
        even = centre(scores)
        first, second = _pairs(scores.shape[1])
        turned = scores[:, second, first].transpose(0, 1, 3, 2)
        orders = correlation(scores[:, first, second], turned)
        return SourceExam(_aucs(even, blocks), *_decisions(even, blocks), orders)

    @property
    def weight(self) -> float:
        """TPR + TNR - 1, at least 0: a lower bound of the total variation distance."""
        if np.isnan(self.hits).all() or np.isnan(self.rejections).all():
            return 0.0
        return max(float(np.nanmean(self.hits) + np.nanmean(self.rejections)) - 1, 0.0)

    @property
    def estimates(self) -> dict[str, Estimate]:
        """AUC, TPR and TNR with intervals over items."""
        parts = {"auc": self.auc, "tpr": self.hits, "tnr": self.rejections}
        return {name: item_mean(values, (0.0, 1.0)) for name, values in parts.items()}

    def lead(self, other: SourceExam | None) -> Estimate:
        """AUC less another's on the same items; None: less chance."""
        bar = 0.5 if other is None else other.auc
        return item_change(self.auc - bar, 0.5 if other is None else 1.0)


def residual_auc(scores: Floats, other: Floats, blocks: Sequence[Places]) -> Floats:
    """[items] AUC of what is left of a critic's scores without another's, both as ranks: a critic
    that only orders pairs as the other does has nothing left, and .5."""
    x, y = (
        centre(rankdata(one.ravel(), nan_policy="omit").reshape(one.shape))
        for one in (other, scores)
    )
    slope = np.nansum(x * y) / (np.nansum(x * x) or 1.0)
    return _aucs(y - slope * x, blocks)


def weight(even: Floats, blocks: Sequence[Places], agents: Mask) -> float:
    """TPR + TNR - 1, at least 0, of centred scores among some agents [agents]."""
    part = even[:, agents][:, :, agents]
    if part.shape[1] < 2:
        return 0.0
    return SourceExam(np.empty(0), *_decisions(part, blocks), np.nan).weight


def _pairs(agents: int) -> tuple[Places, Places]:
    """Of agents, in both orders: which of two comes first in a table must not count."""
    first, second = np.nonzero(~np.eye(agents, dtype=np.bool_))
    return first, second


def _classes(even: Floats) -> tuple[Floats, Floats]:
    """Positives [blocks, m, pairs] and negatives [blocks, m, pairs x m], by the item of the first
    text."""
    first, second = _pairs(even.shape[1])
    cells = even[:, first, second]
    same = np.eye(cells.shape[-1], dtype=np.bool_)
    positive = np.einsum("kpii->kip", cells)
    negative = np.where(same, np.nan, cells).transpose(0, 2, 1, 3)
    return positive, negative.reshape(*negative.shape[:2], -1)


def _aucs(even: Floats, blocks: Sequence[Places]) -> Floats:
    positive, negative = (by_item(blocks, one) for one in _classes(even))
    return row_auc(positive, negative)


def _decisions(even: Floats, blocks: Sequence[Places]) -> tuple[Floats, Floats]:
    """[items] TPR and TNR, each by the threshold of the other half of the blocks."""
    positive, negative = _classes(even)
    above = np.full((2, *positive.shape[:2]), np.nan)
    for fold in (0, 1):
        bar = _threshold(positive[1 - fold :: 2], negative[1 - fold :: 2])
        above[:, fold::2] = [_share(one[fold::2], bar) for one in (positive, negative)]
    return by_item(blocks, above[0]), by_item(blocks, 1 - above[1])


def _threshold(positive: Floats, negative: Floats) -> float:
    """Where TPR + TNR is largest."""
    yes, no = (one[~np.isnan(one)] for one in (positive, negative))
    if not len(yes) or not len(no):
        return np.nan
    values = np.concatenate([yes, no])
    order = np.argsort(-values, kind="stable")
    gain = np.where(order < len(yes), 1 / len(yes), -1 / len(no)).cumsum()
    is_last = np.append(np.diff(values[order]) < 0, True)  # of values that are alike
    best = int(np.argmax(np.where(is_last, gain, -np.inf)))
    after = values[order][best + 1] if best + 1 < len(values) else values[order][best] - 1
    return float((values[order][best] + after) / 2)


def _share(values: Floats, bar: float) -> Floats:
    has_score = ~np.isnan(values)
    over = (values > bar) & has_score
    return divide(over.sum(axis=-1), has_score.sum(axis=-1) * (1.0 if bar == bar else np.nan))
