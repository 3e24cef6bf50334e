"""Is one judge better than another on the same items? Exact where credits are right or wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, stdtr

from judgelab.stats.intervals.arrays import Floats, Mask, divide
from judgelab.stats.trust.agreement import Places, clustered_ends
from judgelab.stats.trust.clustered import FEWEST, cluster_sums, t_interval

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


def judge_pairs(
    credits: ArrayLike,
    cluster: Places,
    weight: ArrayLike | None = None,
    draws: ArrayLike | None = None,
) -> JudgePairs:
    """Every judge against every other.

    McNemar's exact test where each credit is 0 or 1 and no two items share a cluster: of the items
    that one alone has right, as many for either as heads of a fair coin. Else Student's t of the
    mean difference, summed within clusters, G - 1 degrees of freedom.

    Args:
        credits: [judges, items]; NaN where there is none.
        cluster: [items].
        weight: [items]; None: all alike. McNemar's test needs that.
        draws: [draws, judges] mean credits in resampled clusters, where the items alone do not tell
            how much they vary: then t of their spread, and the farther ends.
    """
    cells = np.asarray(credits, dtype=np.float64)
    w = np.ones(len(cluster)) if weight is None else np.asarray(weight, dtype=np.float64)
    single = len(np.unique(cluster)) == len(cluster) and np.ptp(w) <= 1e-12 * w.max(initial=0.0)
    crisp = np.isin(cells, (0.0, 1.0)) | np.isnan(cells)
    made = []
    for place in range(len(cells) - 1):
        off = cells[place] - cells[place + 1 :]
        exact = np.full(len(off), single) & (crisp[place] & crisp[place + 1 :]).all(axis=1)
        low, high = clustered_ends(off, cluster, (-1.0, 1.0), weight=w)
        n = (~np.isnan(off)).sum(axis=1)
        mean = divide(np.nansum(w * off, axis=1), (w * ~np.isnan(off)).sum(axis=1))
        error = None
        if draws is not None:
            exact = np.zeros(len(off), np.bool_)
            drawn = np.asarray(draws, dtype=np.float64)
            g = len(np.unique(cluster))
            error = (drawn[:, place, None] - drawn[:, place + 1 :]).std(axis=0)
            error = error * np.sqrt(g / max(g - 1, 1))
            ends = t_interval(mean, error, g)
            low, high = np.fmin(low, ends[0]), np.fmax(high, ends[1])
        p = np.where(exact, mcnemar_p(off), paired_p(off, cluster, w, error))
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


def paired_p(
    off: ArrayLike,
    cluster: Places,
    weight: ArrayLike | None = None,
    error: ArrayLike | None = None,
) -> Floats:
    """[...] two-sided p of no mean difference, by cluster; 1 where nothing differs.

    Args:
        off: [..., items] differences.
        weight: [items]; None: all alike.
        error: [...] standard error, where it is known to be larger than by cluster.
    """
    cells = np.asarray(off, dtype=np.float64)
    w = np.ones(cells.shape[-1]) if weight is None else np.asarray(weight, dtype=np.float64)
    count, total = cluster_sums(w * ~np.isnan(cells), cluster), cluster_sums(w * cells, cluster)
    mean = divide(total.sum(axis=-1), count.sum(axis=-1))
    g = (count > 0).sum(axis=-1)
    squares = ((total - mean[..., None] * count) ** 2).sum(axis=-1)
    own = divide(np.sqrt(g * squares / np.maximum(g - 1, 1)), count.sum(axis=-1))
    used = own if error is None else np.fmax(own, np.asarray(error, dtype=np.float64))
    flat = used <= 1e-12
    t = np.where(flat, np.where(np.abs(mean) <= 1e-12, 0.0, np.inf), divide(np.abs(mean), used))
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
