"""When a judge may decide alone: risk and coverage of abstaining below a confidence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.ends import share_ends
from judgelab.stats.trust.clustered import cluster_sums, per_cluster


@dataclass(frozen=True)
class Abstaining:
    """A judge that decides where its confidence is at least ``confidence``.

    Attributes:
        coverage: share of all its units on which it decides.
        n, clusters: labelled units among these.
        wrong: share of them in which it is wrong; interval low, high.
        p: that it is wrong more often than tolerated.
        accepted: p <= delta here and at all stricter thresholds.
    """

    confidence: float
    coverage: float
    n: int
    clusters: int
    wrong: float
    low: float
    high: float
    p: float
    accepted: bool


def labels_needed(risk: float, delta: float) -> int:
    """Labels without an error from which a threshold can be accepted: 29 at .1 and .05."""
    return math.ceil(math.log(delta) / math.log(1 - risk))


def risk_p(wrong: Floats, cluster: NDArray[np.intp], risk: float) -> float:
    """p that units are wrong more often than ``risk``: P(Bin(m, risk) <= errors).

    Where clusters have several units it is Bentkus' bound for means of values between 0 and 1,
    e times that of the errors of clusters, rounded up.
    """
    if not len(wrong):
        return 1.0
    count = cluster_sums(np.ones(len(wrong)), cluster)
    errors = cluster_sums(wrong, cluster)[count > 0] / count[count > 0]
    total = math.ceil(round(float(errors.sum()), 9))
    p = float(bdtr(total, len(errors), risk))
    return p if count.max() <= 1 and np.isin(wrong, (0, 1)).all() else min(1.0, math.e * p)


def thresholds(
    confidence: Floats,
    wrong: Floats,
    cluster: NDArray[np.intp],
    grid: Floats,
    risk: float = 0.1,
    delta: float = 0.05,
    level: float = 0.95,
) -> Iterator[Abstaining]:
    """Fixed-sequence testing (2110.01052, 2407.18370), from the strictest threshold on.

    With probability 1 - delta at least, the most lenient accepted threshold errs in at most
    ``risk`` of the units that it decides. Thresholds with fewer labels than could be accepted
    without an error are shown and passed over: their number does not depend on errors.

    Args:
        confidence: [units]; NaN where the judge gave no value.
        wrong: [units] 1 where it is wrong, 0 where not; NaN without a label.
        cluster: [units] numbers from 0.
        grid: thresholds, fixed without a look at labels.
    """
    needed, still = labels_needed(risk, delta), True
    for least in np.sort(np.unique(grid))[::-1]:
        decided = confidence >= least
        labelled = decided & ~np.isnan(wrong)
        _, group = np.unique(cluster[labelled], return_inverse=True)
        errors = wrong[labelled]
        p = risk_p(errors, group, risk)
        clusters = len(np.unique(group))
        if clusters >= needed:
            still = still and p <= delta
        low, high = share_ends(per_cluster(errors, group), level)
        yield Abstaining(
            float(least),
            float(decided.mean()),
            int(labelled.sum()),
            clusters,
            float(errors.mean()) if len(errors) else float("nan"),
            float(low),
            float(high),
            p,
            still and clusters >= needed,
        )
