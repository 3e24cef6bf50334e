"""An exam whose labels cost nothing: are two texts about the same item?

Positives are two agents' texts of one item, negatives their texts of two items of a block. A
threshold is learnt on one half of the blocks and tried on the other, both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from judgelab.stats.discrimination.auc import row_auc
from judgelab.stats.intervals.arrays import Floats, Mask, divide
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_change, item_mean
from judgelab.stats.screen.blocks import Places, by_item, centred

SHARE = (0.0, 1.0)


@dataclass(frozen=True)
class SourceExam:
    """How a critic did."""

    auc: Floats  # [items] share of its same-item pairs that score above its others
    hits: Floats  # [items] share of same-item pairs above the threshold: TPR
    rejections: Floats  # [items] share of the other pairs below it: TNR

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
        return {name: item_mean(values, SHARE) for name, values in parts.items()}

    def ahead(self, other: SourceExam | None) -> Estimate:
        """AUC less another's on the same items; None: less chance."""
        bar = 0.5 if other is None else other.auc
        return item_change(self.auc - bar, 1.0)


def sit(scores: Floats, blocks: Sequence[Places]) -> SourceExam:
    """The exam of one critic, by its scores [blocks, agents, peers, m, m] as they were measured."""
    even = centred(scores)
    return SourceExam(_aucs(even, blocks), *_decisions(even, blocks))


def beyond(scores: Floats, other: Floats, blocks: Sequence[Places]) -> Floats:
    """[items] AUC of what is left of a critic's scores without another's, both as ranks: a critic
    that only orders pairs as the other does has nothing left, and .5."""
    x, y = (
        centred(rankdata(one.ravel(), nan_policy="omit").reshape(one.shape))
        for one in (other, scores)
    )
    slope = np.nansum(x * y) / (np.nansum(x * x) or 1.0)
    return _aucs(y - slope * x, blocks)


def weight(even: Floats, blocks: Sequence[Places], agents: Mask) -> float:
    """TPR + TNR - 1 of centred scores among some agents [agents]."""
    part = even[:, agents][:, :, agents]
    if part.shape[1] < 2:
        return 0.0
    return SourceExam(np.empty(0), *_decisions(part, blocks)).weight


def _split(even: Floats) -> tuple[Floats, Floats]:
    """Positives [blocks, m, pairs] and negatives [blocks, m, pairs x m], by the item of the first
    text; pairs are unordered."""
    first, second = np.triu_indices(even.shape[1], 1)
    cells = even[:, first, second]
    same = np.eye(cells.shape[-1], dtype=np.bool_)
    positive = np.einsum("kpii->kip", cells)
    negative = np.where(same, np.nan, cells).transpose(0, 2, 1, 3)
    return positive, negative.reshape(*negative.shape[:2], -1)


def _aucs(even: Floats, blocks: Sequence[Places]) -> Floats:
    positive, negative = (by_item(blocks, one) for one in _split(even))
    return row_auc(positive, negative)


def _decisions(even: Floats, blocks: Sequence[Places]) -> tuple[Floats, Floats]:
    """[items] TPR and TNR, each by the threshold of the other half of the blocks."""
    positive, negative = _split(even)
    half = np.arange(len(blocks)) % 2
    hits, rejections = np.full(positive.shape[:2], np.nan), np.full(positive.shape[:2], np.nan)
    for fold in (0, 1):
        own, rest = half == fold, half != fold
        bar = _threshold(positive[rest], negative[rest])
        hits[own], rejections[own] = _share(positive[own], bar), 1 - _share(negative[own], bar)
    return by_item(blocks, hits), by_item(blocks, rejections)


def _threshold(positive: Floats, negative: Floats) -> float:
    """Where TPR + TNR is largest."""
    yes, no = (one[~np.isnan(one)] for one in (positive, negative))
    if not len(yes) or not len(no):
        return np.nan
    values = np.concatenate([yes, no])
    order = np.argsort(-values, kind="stable")
    gain = np.where(order < len(yes), 1 / len(yes), -1 / len(no)).cumsum()
    ends = np.append(np.diff(values[order]) < 0, True)  # of values that are alike
    best = int(np.argmax(np.where(ends, gain, -np.inf)))
    after = values[order][best + 1] if best + 1 < len(values) else values[order][best] - 1
    return float((values[order][best] + after) / 2)


def _share(values: Floats, bar: float) -> Floats:
    known = ~np.isnan(values)
    over = (values > bar) & known
    return divide(over.sum(axis=-1), known.sum(axis=-1) * (1.0 if bar == bar else np.nan))
