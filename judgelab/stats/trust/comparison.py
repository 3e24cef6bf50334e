"""Is one judge better than another on the same items? Exact where credits are right or wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, stdtr

from judgelab.stats.intervals.arrays import Floats, Mask, divide
from judgelab.stats.trust.agreement import Places, clustered_ends
from judgelab.stats.trust.clustered import FEWEST, cluster_sums

MCNEMAR, PAIRED_T = "exact McNemar", "paired t"


@dataclass(frozen=True)
class JudgePairs:
    """All pairs of judges.

    Attributes:
        one, other: [pairs] places of the judges.
        difference, low, high: [pairs] mean credit of the one minus that of the other, interval.
        n: [pairs] items that both were credited on.
        p: [pairs] two-sided, of no difference.
        holm: [pairs] the same after Holm over all pairs.
        exact: [pairs] whether p is that of McNemar's test; else of a paired t by cluster.
    """

    one: Places
    other: Places
    difference: Floats
    low: Floats
    high: Floats
    n: Places
    p: Floats
    holm: Floats
    exact: Mask


def judge_pairs(credits: ArrayLike, cluster: Places) -> JudgePairs:
    """Every judge against every other.

    McNemar's exact test where each credit is 0 or 1 and no two items share a cluster: of the items
    that one alone has right, as many for either as heads of a fair coin. Else Student's t of the
    mean difference, summed within clusters, G - 1 degrees of freedom.

    Args:
        credits: [judges, items]; NaN where there is none.
        cluster: [items].
    """
    cells = np.asarray(credits, dtype=np.float64)
    single = len(np.unique(cluster)) == len(cluster)
    crisp = np.isin(cells, (0.0, 1.0)) | np.isnan(cells)
    made = []
    for place in range(len(cells) - 1):
        off = cells[place] - cells[place + 1 :]
        exact = np.full(len(off), single) & (crisp[place] & crisp[place + 1 :]).all(axis=1)
        low, high = clustered_ends(off, cluster, (-1.0, 1.0))
        n = (~np.isnan(off)).sum(axis=1)
        mean = divide(np.nansum(off, axis=1), n)
        p = np.where(exact, mcnemar_p(off), paired_p(off, cluster))
        made.append((mean, low, high, n, p, exact))
    one, other = np.triu_indices(len(cells), k=1)
    parts = [np.concatenate(part) for part in zip(*made, strict=True)] or [np.zeros(0)] * 6
    mean, low, high, n, p, exact = parts
    return JudgePairs(one, other, mean, low, high, n, p, holm(p), exact.astype(np.bool_))


def mcnemar_p(off: ArrayLike) -> Floats:
    """[...] exact two-sided p from differences 1, 0, -1 [..., items]; 1 where there is none."""
    cells = np.asarray(off, dtype=np.float64)
    more, less = (cells > 0).sum(axis=-1), (cells < 0).sum(axis=-1)
    tail = bdtr(np.minimum(more, less).astype(np.float64), more + less, 0.5)
    return np.asarray(np.where(more + less == 0, 1.0, np.minimum(2 * tail, 1.0)))


def paired_p(off: ArrayLike, cluster: Places) -> Floats:
    """[...] two-sided p of no mean difference, by cluster; 1 where nothing differs."""
    cells = np.asarray(off, dtype=np.float64)
    known = ~np.isnan(cells)
    count, total = cluster_sums(known, cluster), cluster_sums(cells, cluster)
    mean = divide(total.sum(axis=-1), count.sum(axis=-1))
    g = (count > 0).sum(axis=-1)
    squares = ((total - mean[..., None] * count) ** 2).sum(axis=-1)
    error = divide(np.sqrt(g * squares / np.maximum(g - 1, 1)), count.sum(axis=-1))
    flat = error <= 1e-12
    t = np.where(flat, np.where(np.abs(mean) <= 1e-12, 0.0, np.inf), divide(np.abs(mean), error))
    p = 2 * stdtr(np.maximum(g - 1, 1), -t)
    return np.asarray(np.where(g < FEWEST, np.nan, p), dtype=np.float64)


def holm(p: ArrayLike) -> Floats:
    """p adjusted by Holm [tests]; NaN is not counted as a test."""
    values = np.asarray(p, dtype=np.float64)
    made, known = np.full(values.shape, np.nan), ~np.isnan(values)
    if not known.any():
        return made
    order = np.argsort(values[known], kind="stable")
    m = len(order)
    stepped = np.maximum.accumulate(values[known][order] * np.arange(m, 0, -1))
    back: NDArray[np.float64] = np.empty(m)
    back[order] = np.minimum(stepped, 1.0)
    made[known] = back
    return made
