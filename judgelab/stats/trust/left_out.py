"""Correlations by leaving out each cluster (the jackknife, on Fisher's z)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.intervals.ends import NEARLY_ONE
from judgelab.stats.trust.clustered import cluster_sums


def leaving_out(
    x: Floats, y: Floats, cluster: NDArray[np.intp], z: Floats, weight: Floats | None = None
) -> Floats:
    """[judges, clusters] z plus what each cluster adds to it; NaN for clusters without a unit.

    NaN throughout where leaving out some cluster leaves no correlation.

    Args:
        x, y: [judges, units], NaN in both where either is missing.
        z: [judges] artanh of the correlations.
        weight: [units]; None: all alike.
    """
    w = np.ones(x.shape[1]) if weight is None else weight
    counts = cluster_sums(~np.isnan(x), cluster)
    n, sx, sy, sxx, syy, sxy = (
        part.sum(axis=1, keepdims=True) - part
        for part in (
            cluster_sums(w * v, cluster) for v in (~np.isnan(x), x, y, x * x, y * y, x * y)
        )
    )
    mx, my = divide(sx, n), divide(sy, n)
    spread = np.maximum((divide(sxx, n) - mx**2) * (divide(syy, n) - my**2), 0.0)
    r = divide(divide(sxy, n) - mx * my, np.sqrt(spread))
    left = np.where(counts > 0, np.arctanh(np.clip(r, -NEARLY_ONE, NEARLY_ONE)), np.nan)
    g = (counts > 0).sum(axis=1, keepdims=True)
    total = np.where(counts > 0, left, 0.0).sum(axis=1, keepdims=True)
    return np.asarray(z[:, None] + (g - 1) * (divide(total, g) - left), dtype=np.float64)
