"""Where judges contradict themselves or each other: what foretells on which items they err."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judgelab.core.judgments import JudgmentTable
from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.trust.agreement import means_within


def order_doubt(table: JudgmentTable) -> Floats:
    """[judges, units] by how much the two orders' verdicts differ; NaN without both."""
    if table.verdicts.shape[2] < 2:
        return np.full(table.verdicts.shape[:2], np.nan)
    return np.asarray(np.abs(table.verdicts[..., 0] - table.verdicts[..., 1]))


def peer_doubt(table: JudgmentTable) -> Floats:
    """[judges, units] how far the other judges are from this one; NaN where nobody else judged.

    Of categories the share of others with another one; of preferences and grades (in standard
    deviations of each judge's) the distance to their mean. Controls are nobody's peers.
    """
    values, peers = table.values, ~table.controls
    known = ~np.isnan(values) & peers[:, None]
    if table.kind == "category":
        made = np.full(values.shape, np.nan)
        for level in range(len(table.levels)):
            same = known & (values == level)
            others = known.sum(axis=0) - known
            alike = divide(same.sum(axis=0) - same, others)
            made = np.where(values == level, 1 - alike, made)
        return made
    if table.kind == "grade":
        none = np.asarray(np.isnan(values).all(axis=1), np.bool_)[:, None]
        spread = np.nanstd(np.where(none, 0, values), axis=1)
        centre = divide(np.nansum(values, axis=1), (~np.isnan(values)).sum(axis=1))
        values = divide(values - centre[:, None], spread[:, None])
        known &= ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    others = divide(filled.sum(axis=0) - filled, known.sum(axis=0) - known)
    return np.asarray(np.abs(values - others))


def doubts(table: JudgmentTable, place: NDArray[np.intp], items: int) -> Floats:
    """[judges, items, 2] both doubts, means over units; where unknown the judge's mean."""
    made = np.stack(
        [means_within(one, place, items) for one in (order_doubt(table), peer_doubt(table))], axis=2
    )
    known = ~np.isnan(made)
    mean = divide(np.where(known, made, 0).sum(axis=1), known.sum(axis=1))
    return np.asarray(np.where(known, made, np.nan_to_num(mean)[:, None]))
