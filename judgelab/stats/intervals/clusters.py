"""Units of one cluster (an item, a document) are not independent: sums and means within clusters.

An estimate is written as its value plus the sum of its units' influences, which are added within
clusters first (Liang and Zeger 1986): V = G / (G - 1) * sum over clusters of (sum of influences)^2,
with Student's t of G - 1 degrees.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.intervals.ends import of_ratio

FEWEST = 3
"""Clusters below which there is no interval."""


def cluster_sums(influence: ArrayLike, cluster: NDArray[np.intp]) -> Floats:
    """[..., clusters] influences [..., units] added within clusters; NaN counts as 0.

    Args:
        cluster: [units] numbers from 0.
    """
    values = np.asarray(influence, dtype=np.float64)
    values = np.where(np.isnan(values), 0.0, values)
    count = int(cluster.max(initial=-1)) + 1
    steps = np.diff(cluster)
    if count == len(cluster) and (steps == 1).all():
        return values  # every unit is its own cluster
    flat = values.reshape(-1, values.shape[-1])
    sums = np.zeros((len(flat), count))
    if (steps < 0).any():
        order = np.argsort(cluster, kind="stable")
        flat, cluster, steps = flat[:, order], cluster[order], np.diff(cluster[order])
    if len(cluster):
        starts = np.flatnonzero(np.r_[True, steps > 0])
        sums[:, cluster[starts]] = np.add.reduceat(flat, starts, axis=1)
    return np.asarray(sums.reshape(*values.shape[:-1], count), dtype=np.float64)


def t_interval(
    value: ArrayLike, error: ArrayLike, groups: ArrayLike, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Ends of value -+ t(G - 1) errors, two-sided at ``level``."""
    freedom = np.asarray(groups, dtype=np.float64) - 1
    half = stdtrit(np.maximum(freedom, 1), (1 + level) / 2) * np.asarray(error)
    return np.asarray(value) - half, np.asarray(value) + half


def per_cluster(values: ArrayLike, cluster: NDArray[np.intp]) -> Floats:
    """[..., clusters] what each cluster adds to the mean over units of ``values`` [..., units].

    Their mean is that mean and their spread its error, so that ``stats.intervals.ends`` gives its
    interval; NaN for clusters without a scored unit.
    """
    cells = np.asarray(values, dtype=np.float64)
    return of_ratio(cluster_sums(cells, cluster), cluster_sums(~np.isnan(cells), cluster))


def means_within(values: ArrayLike, group: NDArray[np.intp], count: int) -> Floats:
    """[..., groups] mean of what is known of [..., units] within each group; NaN without any."""
    cells = np.asarray(values, dtype=np.float64)
    known = divide(cluster_sums(cells, group), cluster_sums(~np.isnan(cells), group))
    means = np.full((*cells.shape[:-1], count), np.nan)
    means[..., : known.shape[-1]] = known
    return means
