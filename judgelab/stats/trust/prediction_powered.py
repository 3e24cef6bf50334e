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
from judgelab.stats.trust.clustered import FEWEST, cluster_sums, t_interval

Tuning = Literal["power", "unclipped", "full", "none"]
"""lambda: tuned and within [0, 1]; tuned, also negative (grades that run backwards); 1; 0."""

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


@dataclass(frozen=True)
class LabelledPool:
    """One quantity and the judges' values of it; see the module.

    Attributes:
        weight: [judges, units] of the labelled units, summing to 1; 0 elsewhere.
    """

    truth: Floats
    values: Floats
    cluster: NDArray[np.intp]
    weight: Floats

    @staticmethod
    def of(
        truth: Floats, values: Floats, cluster: NDArray[np.intp], chance: Floats | None = None
    ) -> LabelledPool:
        """From the data; units without a label by that judge weigh nothing."""
        there = ~np.isnan(truth) & ~np.isnan(values)
        inverse = np.ones(len(truth)) if chance is None else divide(1.0, chance)
        weight = np.where(there, inverse, 0.0)
        return LabelledPool(
            np.where(np.isnan(truth), 0.0, truth),
            values,
            cluster,
            divide(weight, weight.sum(axis=1, keepdims=True)),
        )

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """[judges, units]."""
        return np.asarray(np.nan_to_num(self.weight) > 0)

    @property
    def judged(self) -> NDArray[np.bool_]:
        """[judges, units]."""
        return ~np.isnan(self.values)

    @property
    def centred(self) -> Floats:
        """[judges, units] values minus the pool's mean, 0 where not judged."""
        mean = divide(np.nansum(self.values, axis=1), self.judged.sum(axis=1))
        return np.where(self.judged, self.values - mean[:, None], 0.0)

    @property
    def groups(self) -> NDArray[np.int64]:
        """[judges] clusters with a labelled unit."""
        return np.asarray((cluster_sums(self.labelled, self.cluster) > 0).sum(axis=1), np.int64)

    def slope(self, chosen: NDArray[np.bool_] | None = None) -> Floats:
        """[judges] b of the power-tuned lambda: Cov(Y, F) of labels over Var(F) of the pool."""
        weight = self.weight if chosen is None else np.where(chosen, self.weight, 0.0)
        weight = divide(weight, weight.sum(axis=1, keepdims=True))
        f, y = self.centred, np.broadcast_to(self.truth, self.values.shape)
        mean_f, mean_y = ((weight * x).sum(axis=1, keepdims=True) for x in (f, y))
        covariance = (weight * (f - mean_f) * (y - mean_y)).sum(axis=1)
        spread = divide((f**2).sum(axis=1), self.judged.sum(axis=1) - 1)
        return np.nan_to_num(divide(covariance, spread))


def estimate(
    pool: LabelledPool,
    tuning: Tuning = "power",
    target: Target = "population",
    *,
    folds: int = 0,
    level: float = 0.95,
    share: bool = False,
) -> Corrected:
    """The mean by the estimator of ``tuning``: ``none`` is people alone, ``full`` is PPI.

    Student's t with clusters - 2 degrees (- 1 for people alone, whose slope is not fitted).

    Args:
        folds: of the clusters; lambda for each comes from the others (0: from all).
        level: of the interval.
        share: of a rate: the interval is taken on the logit scale, so that it stays within [0, 1].
    """
    n, size = pool.labelled.sum(axis=1), pool.judged.sum(axis=1)
    rest = size - n
    slopes = _slopes(pool, tuning, divide(size, rest), folds)
    f = pool.centred
    residual = np.where(pool.labelled, pool.truth - slopes * f, 0.0)
    value = (pool.weight * residual).sum(axis=1)
    value = np.where(pool.groups < FEWEST, np.nan, value)
    influence = pool.weight * (residual - value[:, None])
    mean_slope = (pool.weight * slopes).sum(axis=1)
    if target == "pool":
        influence = influence * np.sqrt(divide(rest, size))[:, None]
    else:
        influence = influence + divide(mean_slope, size)[:, None] * f
    sums = cluster_sums(influence, pool.cluster)
    groups = np.where(pool.groups < FEWEST, np.nan, pool.groups)
    freedom = groups - (1 if tuning == "none" else 2)
    error = np.sqrt(divide(groups, freedom) * (sums**2).sum(axis=1))
    low, high = _ends(value, error, freedom + 1, level, share)
    lambdas = mean_slope * divide(rest, size)
    return Corrected(value, error, low, high, lambdas, n, size, pool.groups)


def _slopes(pool: LabelledPool, tuning: Tuning, most: Floats, folds: int) -> Floats:
    """[judges, units] b of each unit: lambda in [0, 1] is b in [0, M / N]; 0 without a rest."""
    known, shape = np.isfinite(most), pool.values.shape
    if tuning == "none":
        return np.zeros(shape)
    if tuning == "full":
        return np.broadcast_to(np.where(known, most, 0.0)[:, None], shape)

    def bounded(slope: Floats) -> Floats:
        kept = slope if tuning == "unclipped" else np.clip(slope, 0.0, np.where(known, most, 0.0))
        return np.where(known, kept, 0.0)

    if folds < 2:
        return np.broadcast_to(bounded(pool.slope())[:, None], shape)
    fold = pool.cluster % folds
    each = [bounded(pool.slope(np.broadcast_to(fold != k, shape))) for k in range(folds)]
    return np.asarray(np.stack(each, axis=1)[:, fold], dtype=np.float64)


def _ends(
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


def judge_alone(pool: LabelledPool, level: float = 0.95) -> Corrected:
    """The judge's own mean over the pool: an interval for what it says, not for what is true."""
    size = pool.judged.sum(axis=1)
    value = divide(np.nansum(pool.values, axis=1), size)
    sums = cluster_sums(divide(pool.centred, size[:, None]), pool.cluster)
    groups = (cluster_sums(pool.judged, pool.cluster) > 0).sum(axis=1)
    error = np.sqrt(divide(groups, groups - 1) * (sums**2).sum(axis=1))
    low, high = t_interval(value, error, groups, level)
    one = np.ones(len(value))
    return Corrected(value, error, low, high, one, pool.labelled.sum(axis=1), size, groups)


def shift(pool: LabelledPool, level: float = 0.95) -> Corrected:
    """The judge's own mean minus the corrected one (PPI++): how far its number is off."""
    made, alone = estimate(pool, level=level), judge_alone(pool, level)
    slopes = _slopes(pool, "power", divide(made.pool, made.pool - made.n), 0)
    residual = np.where(pool.labelled, pool.truth - slopes * pool.centred, 0.0)
    own = divide(1 - slopes, made.pool[:, None]) * pool.centred
    influence = own - pool.weight * (residual - made.value[:, None])
    groups = np.where(made.groups < FEWEST, np.nan, made.groups)
    factor = divide(groups, groups - 2)
    error = np.sqrt(factor * (cluster_sums(influence, pool.cluster) ** 2).sum(axis=1))
    value = alone.value - made.value
    low, high = t_interval(value, error, groups - 1, level)
    return replace(made, value=value, error=error, low=low, high=high)
