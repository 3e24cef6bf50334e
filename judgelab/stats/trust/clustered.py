"""Standard errors and intervals from what each unit adds to an estimate, summed within clusters.

An estimate is written as its value plus the sum of its units' influences; units of one cluster (an
item, a document) are not independent, so influences are added within clusters first:
V = G / (G - 1) * sum over clusters of (sum of influences)^2, with Student's t of G - 1 degrees.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.intervals.ends import heavy_ends, of_ratio

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


def clustered_error(
    influence: ArrayLike, cluster: NDArray[np.intp], groups: ArrayLike | None = None
) -> Floats:
    """[...] standard error of an estimate from its influences [..., units].

    Args:
        groups: [...] clusters that took part, where not all did; NaN below ``FEWEST``.
    """
    sums = cluster_sums(influence, cluster)
    g = np.asarray(sums.shape[-1] if groups is None else groups, dtype=np.float64)
    g = np.where(g < FEWEST, np.nan, g)
    return np.asarray(np.sqrt(g / (g - 1) * (sums**2).sum(axis=-1)), dtype=np.float64)


def t_interval(
    value: ArrayLike, error: ArrayLike, groups: ArrayLike, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Ends of value -+ t(G - 1) errors, two-sided at ``level``."""
    freedom = np.asarray(groups, dtype=np.float64) - 1
    half = stdtrit(np.maximum(freedom, 1), (1 + level) / 2) * np.asarray(error)
    return np.asarray(value) - half, np.asarray(value) + half


def interval_p(low: ArrayLike, high: ArrayLike, groups: ArrayLike, level: float = 0.95) -> Floats:
    """Two-sided p that the middle of an interval is 0: below 1 - level where it leaves out 0.

    By Student's t of G - 1 degrees, with the error that gives an interval of this width.
    """
    below, above = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    freedom = np.maximum(np.asarray(groups, dtype=np.float64) - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(above + below) / (above - below) * stdtrit(freedom, (1 + level) / 2)
    return np.asarray(2 * stdtr(freedom, -t), dtype=np.float64)


def per_cluster(values: ArrayLike, cluster: NDArray[np.intp]) -> Floats:
    """[..., clusters] what each cluster adds to the mean over units of ``values`` [..., units].

    Their mean is that mean and their spread its error, so that ``stats.intervals.ends`` gives its
    interval; NaN for clusters without a scored unit.
    """
    cells = np.asarray(values, dtype=np.float64)
    return of_ratio(cluster_sums(cells, cluster), cluster_sums(~np.isnan(cells), cluster))


def left_out(information: Floats, score: Floats, there: Mask) -> Floats:
    """[judges, clusters, columns] what leaving out a cluster adds to coefficients, by one step.

    That is - (I - I_g)^-1 score_g, exact for least squares, less its mean over clusters. NaN for
    clusters that are not ``there``, and throughout a judge of which leaving out some cluster leaves
    no estimate.

    Args:
        information: [judges, clusters, columns, columns] of each cluster.
        score: [judges, clusters, columns].
        there: [judges, clusters].
    """
    whole = information.sum(axis=1)
    rest = whole[:, None] - information
    # A determinant is rounding only, where it is so small beside that of the diagonal.
    least = np.maximum(
        1e-9 * np.linalg.det(whole), 1e-14 * np.diagonal(whole, axis1=1, axis2=2).prod(axis=1)
    )
    lost = ~(np.linalg.det(rest) > least[:, None])
    rest[lost] = np.eye(rest.shape[-1])
    left = -np.linalg.solve(rest, score[..., None])[..., 0]
    left[~there | lost.any(axis=1, keepdims=True)] = np.nan
    count = np.maximum(there.sum(axis=1), 1)[:, None, None]
    total = np.where(np.isnan(left), 0.0, left).sum(axis=1, keepdims=True)
    return np.asarray(left - total / count, dtype=np.float64)


def jackknife_ends(
    value: Floats, left: Floats, groups: ArrayLike, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Ends for coefficients [judges] from ``left_out`` [judges, clusters].

    t with the degrees of freedom that the kurtosis of what clusters add leaves: where few clusters
    decide, intervals of clustered errors hold in .88 to .93 of the cases on 50 items, these in .93
    to .98 (experiments/trust).
    """
    count = np.asarray(groups, dtype=np.float64)[:, None]
    return heavy_ends(value[:, None] - (count - 1) * left, level)
