"""A mean from few labels and many verdicts: people alone, PPI, PPI++, and the judge alone.

Estimators are written over the whole pool of M units that a judge judged, n of them labelled:

    theta = mean_n(Y) + b (mean_M(F) - mean_n(F)),    b = lambda M / N,    N = M - n,

which is Angelopoulos et al. 2023 (arXiv 2301.09633) for lambda = 1, and with power tuning (arXiv
2311.01453) the regression estimator with lambda = Cov(Y, F) / ((1 + n / N) Var(F)). A unit's
influence is w (r - mean r) + b (F - mean F) / M with r = Y - b F, the first term only where it is
labelled; influences are added within clusters. For one cluster a unit the variance is
s^2(Y - lambda F) / n + lambda^2 s^2(F) / N. For the mean of this very pool the second term falls
away and the first is multiplied by 1 - n / M.

Arrays: ``truth`` [units] (NaN: no label), ``values`` [judges, units] (NaN: not judged), ``cluster``
[units] numbers from 0, ``chance`` [units] probabilities of being labelled (weights 1 / chance).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.intervals.ends import mean_ends, of_ratio, share_ends
from judgelab.stats.trust.clustered import FEWEST, cluster_sums, t_interval
from judgelab.stats.trust.labelled_pool import LabelledPool

Tuning = Literal["power", "scaled", "unclipped", "full", "none"]
"""lambda: tuned, within [0, 1]; at least 0 (values on another scale than people's); also negative
(grades that run backwards); 1; 0."""

Target = Literal["population", "pool"]
"""What the mean is of: all items like these, or the units of this pool alone."""


@dataclass(frozen=True)
class Corrected:
    """Estimates of a mean [judges], NaN where there are too few labels.

    Attributes:
        value, error, low, high: the estimate, its standard error and the ends of its interval.
        tuning: lambda, how far the judge is relied on; of cross-fitted ones the mean.
        n, pool: units with a label, and all units that the judge judged.
        groups: clusters with a label.
    """

    value: Floats
    error: Floats
    low: Floats
    high: Floats
    tuning: Floats
    n: NDArray[np.int64]
    pool: NDArray[np.int64]
    groups: NDArray[np.int64]


def estimate(
    pool: LabelledPool,
    tuning: Tuning = "power",
    target: Target = "population",
    *,
    folds: int = 0,
    level: float = 0.95,
    share: bool = False,
    skewed: bool = False,
) -> Corrected:
    """The mean by the estimator of ``tuning``: ``none`` is people alone, ``full`` is PPI.

    Student's t with clusters - 2 degrees (- 1 for people alone, whose slope is not fitted).

    Args:
        folds: of the clusters; lambda for each comes from the others (0: from all).
        level: of the interval.
        share: of a rate: the interval is taken on the logit scale, so that it stays within [0, 1].
        skewed: Hall's correction of t for the skewness of what labelled clusters add: of 30 FRANK
            articles, whose grades lie near 0, t holds in .92, this in .955.
    """
    n, size = (pool.weight > 0).sum(axis=1), pool.size
    slope = slopes(pool, tuning, divide(size, size - n), folds)
    value = pool.weight @ pool.truth[pool.columns]
    value = value - np.einsum("ij,ij->i", pool.weight * slope, pool.centred[:, pool.columns])
    value = np.where(pool.groups < FEWEST, np.nan, value)
    errors = pool.errors(slope, value)
    mean_slope = (pool.weight * slope).sum(axis=1)
    part = divide(mean_slope, size)
    if target == "pool":
        errors, part = errors * np.sqrt(pool.kept), np.zeros(len(n))
    squared = pool.squared(errors, part)
    groups = np.where(pool.groups < FEWEST, np.nan, pool.groups)
    freedom = groups - (1 if tuning == "none" else 2)
    error = np.sqrt(divide(groups, freedom) * np.maximum(squared, 0.0))
    low, high = ends_of(value, error, freedom + 1, level, share)
    if skewed:
        low, high = _hall_ends(pool, value, error, errors, part, level)
    return Corrected(
        value, error, low, high, mean_slope * divide(size - n, size), n, size, pool.groups
    )


def slopes(pool: LabelledPool, tuning: Tuning, most: Floats, folds: int) -> Floats:
    """[judges, columns or 1] b of labels: lambda in [0, 1] is b in [0, M / N]; 0 without a rest."""
    known = np.isfinite(most)
    limit = np.where(known, most, 0.0)
    if tuning == "none":
        return np.zeros((len(most), 1))
    if tuning == "full":
        return limit[:, None]

    def bounded(slope: Floats) -> Floats:
        ends = {"unclipped": (-np.inf, np.inf), "scaled": (0.0, np.inf)}.get(tuning, (0.0, limit))
        return np.where(known, np.clip(slope, *ends), 0.0)

    if folds < 2:
        return bounded(pool.slope())[:, None]
    fold = pool.cluster[pool.columns] % folds
    each = [bounded(pool.slope(fold != k)) for k in range(folds)]
    return np.asarray(np.stack(each, axis=1)[:, fold], dtype=np.float64)


def ends_of(
    value: Floats, error: Floats, groups: Floats, level: float, share: bool
) -> tuple[Floats, Floats]:
    """Ends by Student's t, of a share on the logit scale where that is possible."""
    low, high = t_interval(value, error, groups, level)
    if not share:
        return low, high
    inside = (value > 0) & (value < 1)
    safe = np.where(inside, value, 0.5)
    ends = t_interval(logit(safe), divide(error, safe * (1 - safe)), groups, level)
    return (
        np.where(inside, expit(ends[0]), np.maximum(low, 0.0)),
        np.where(inside, expit(ends[1]), np.minimum(high, 1.0)),
    )


def people_alone(
    pool: LabelledPool, target: Target = "population", level: float = 0.95, share: bool = False
) -> Corrected:
    """The mean of labels: ``estimate`` with ``none``; of a rate Wilson's interval, else Hall's."""
    made = estimate(pool, "none", target, level=level, skewed=not share)
    if not share:
        return made
    cluster = np.unique(pool.cluster[pool.columns], return_inverse=True)[1]
    total = cluster_sums(pool.weight * pool.truth[pool.columns], cluster)
    low, high = share_ends(of_ratio(total, cluster_sums(pool.weight, cluster)), level)
    if target == "pool":
        factor = np.sqrt((pool.weight * pool.kept).sum(axis=1))
        low, high = (made.value + factor * (end - made.value) for end in (low, high))
    return replace(made, low=low, high=high)


def _hall_ends(
    pool: LabelledPool, value: Floats, error: Floats, errors: Floats, part: Floats, level: float
) -> tuple[Floats, Floats]:
    """Hall's ends of what labelled clusters add, as wide as the error of the whole estimate."""
    names, place = np.unique(pool.cluster[pool.columns], return_inverse=True)
    there = cluster_sums(pool.weight > 0, place) > 0
    adds = cluster_sums(errors, place) + part[:, None] * pool.pooled[:, names]
    groups = pool.groups.astype(np.float64)
    mean = divide((adds * there).sum(axis=1), groups)
    off = np.where(there, (adds - mean[:, None]) * groups[:, None], np.nan)
    own = np.sqrt(divide(np.nansum(off**2, axis=1), groups * (groups - 1)))
    low, high = mean_ends(off, level)
    return value + low * divide(error, own), value + high * divide(error, own)


def judge_alone(pool: LabelledPool, level: float = 0.95) -> Corrected:
    """The judge's own mean over the pool: an interval for what it says, not for what is true."""
    groups = (cluster_sums(pool.judged, pool.cluster) > 0).sum(axis=1)
    error = divide(np.sqrt(divide(groups, groups - 1) * pool.squares), pool.size)
    low, high = t_interval(pool.mean, error, groups, level)
    n = (pool.weight > 0).sum(axis=1)
    return Corrected(pool.mean, error, low, high, np.ones(len(n)), n, pool.size, groups)
