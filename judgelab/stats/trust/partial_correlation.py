"""Correlation of grades with people's given the system that wrote the text."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats, average_ranks, divide
from judgelab.stats.intervals.clusters import cluster_sums, means_within
from judgelab.stats.intervals.ends import NEARLY_ONE, added, heavy_ends
from judgelab.stats.intervals.estimate import Estimate

Places = NDArray[np.intp]
Method = Literal["pearson", "spearman"]


def partial_correlations(
    scores: Floats,
    truth: Floats,
    group: Places,
    cluster: Places,
    method: Method = "pearson",
    level: float = 0.95,
) -> list[Estimate]:
    """Correlation of what is left of both grades once the mean of their system is taken out.

    As FRANK has it (2104.13346): Pearson or Spearman of the residuals from system means. The
    interval is t on Fisher's z by leaving out each cluster, with the degrees of freedom that the
    kurtosis of what clusters add leaves: errors from what each text adds, z_x z_y - r / 2 (z_x^2 +
    z_y^2), held in .91 of the cases on 50 documents of SummEval, this in .95.

    Args:
        scores: [judges, units].
        truth: [units].
        group: [units] number of the system; all 0: the plain correlation.
        cluster: [units].

    Returns:
        One for each judge; n counts texts.
    """
    return [_partial(each, truth, group, cluster, method, level) for each in scores]


def _partial(
    scores: Floats, truth: Floats, group: Places, cluster: Places, method: Method, level: float
) -> Estimate:
    known = ~np.isnan(scores) & ~np.isnan(truth)
    n = int(known.sum())
    if not n:
        return Estimate(np.nan, unscored=len(truth), clusters=0)
    systems, clusters = (np.unique(x[known], return_inverse=True)[1] for x in (group, cluster))
    x, y = (_residuals(values[known], systems, method) for values in (scores, truth))
    r = float((x * y).mean())
    low, high = np.tanh(heavy_ends(leaving_out(x, y, clusters, r), level)).tolist()
    return Estimate(r, low, high, n, len(truth) - n, clusters=int(clusters.max()) + 1)


def _residuals(values: Floats, group: Places, method: Method) -> Floats:
    """[units] from the means of groups (or their ranks), of mean 0 and mean square 1."""
    rest = values - means_within(values, group, int(group.max()) + 1)[group]
    size = np.abs(values).max()
    rest = np.where(np.abs(rest) <= 1e-12 * size, 0.0, rest)
    if method == "spearman":
        rest = average_ranks(np.round(rest / max(size, 1e-300), 12))
    return divide(rest - rest.mean(), rest.std())


def leaving_out(x: Floats, y: Floats, cluster: Places, r: float) -> Floats:
    """[clusters] Fisher's z plus what each cluster adds to it (the jackknife).

    NaN throughout where leaving out some cluster leaves no correlation.

    Args:
        x, y: [units].
        cluster: [units] numbers from 0, each taken.
        r: their correlation.
    """
    sums = cluster_sums(np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y]), cluster)
    n, *others = sums.sum(axis=1, keepdims=True) - sums
    mx, my, xx, yy, xy = (divide(each, n) for each in others)
    vx, vy = (np.where(v <= 1e-9 * s, 0.0, v) for v, s in ((xx - mx**2, xx), (yy - my**2, yy)))
    spread = np.sqrt(vx * vy)  # what is left of a variance by rounding hangs on the order of rows
    left = divide(xy - mx * my, spread)
    z, without = (np.arctanh(np.clip(v, -NEARLY_ONE, NEARLY_ONE)) for v in (r, left))
    return added(z, without)
