"""The percentile bootstrap of PPI++ for many judges at once, as ``ppi_py.ppboot`` has it.

The page shows intervals from influences (``prediction_powered``), which need no draws and hold
better on few labels; these stand beside them where the two are compared (experiments/trust,
``make bench``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats, Mask, divide
from judgelab.stats.intervals.bootstrap import item_weights
from judgelab.stats.trust.clustered import cluster_sums
from judgelab.stats.trust.labelled_pool import LabelledPool


def resampled_means(pool: LabelledPool, tuning: Floats, draws: int, seed: int) -> Floats:
    """[draws, judges] mean(Y - lambda F) of resampled labels + lambda mean(F) of resampled others.

    Clusters with a label are resampled among themselves, and so are those without; lambda stays.

    Args:
        pool: labels weigh alike: for probabilities of being labelled there is ``estimate``.
        tuning: [judges] lambda.
    """
    with_label: Mask = np.asarray(
        (cluster_sums(pool.labelled, pool.cluster) > 0).any(axis=0), np.bool_
    )
    said = np.where(pool.judged, pool.values, 0.0)
    left = np.where(pool.labelled, pool.truth - tuning[:, None] * said, 0.0)
    rest = pool.judged & ~with_label[pool.cluster]
    return np.asarray(
        _means(left, pool.labelled, pool.cluster, with_label, draws, seed)
        + tuning * _means(said, rest, pool.cluster, ~with_label, draws, seed + 1)
    )


def _means(
    values: Floats,
    chosen: Mask,
    cluster: NDArray[np.intp],
    clusters: Mask,
    draws: int,
    seed: int,
) -> Floats:
    """[draws, judges] means of the chosen values over resampled clusters."""
    total = cluster_sums(np.where(chosen, values, 0.0), cluster)[:, clusters]
    count = cluster_sums(chosen, cluster)[:, clusters]
    times = item_weights(total.shape[1], draws, seed)
    alike = (count == count[:1]).all()
    counted = times @ count[:1].T if alike else times @ count.T
    return divide(times @ total.T, counted)
