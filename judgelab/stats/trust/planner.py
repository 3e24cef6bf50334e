"""How many labels a question needs, with a judge's verdicts beside them and without.

n labels among M units with verdicts of squared correlation rho^2 give a mean the variance
s^2 (1 - rho^2) / n + s^2 rho^2 / M (PPI++), for the mean of this very pool
(1 - n / M) s^2 (1 - rho^2) / n. Solved for n. s^2 is the variance of one label, times the
``design_effect`` where labels come in clusters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.trust.clustered import clustered_error

VERDICTS_A_LABEL = 10
"""Verdicts without a label that are planned for each label where a pool is too small."""


@dataclass(frozen=True)
class LabelPlan:
    """What gives the precision that is asked for.

    Attributes:
        labels: items to be labelled.
        items: that need a verdict, those with a label among them.
    """

    labels: int
    items: float


def room_for_width(half_width: float, level: float = 0.95) -> float:
    """The variance of an estimate whose interval is so wide."""
    return (half_width / NormalDist().inv_cdf((1 + level) / 2)) ** 2


def room_for_difference(difference: float, power: float = 0.8, level: float = 0.95) -> float:
    """The variance with which so large a difference is seen with this power."""
    z = NormalDist().inv_cdf
    return (difference / (z((1 + level) / 2) + z(power))) ** 2


def label_plan(
    room: float, variance: float, rho2: float, pool: float = math.inf, target: str = "population"
) -> LabelPlan:
    """Labels among the pool's verdicts; where it is too small, with ten verdicts more a label."""
    needed = labels(room, variance, rho2, pool, target)
    if math.isfinite(needed):
        return LabelPlan(int(needed), pool)
    judged = VERDICTS_A_LABEL / (1 + VERDICTS_A_LABEL)
    grown = max(1, math.ceil(variance * (1 - rho2 * judged) / room - 1e-9))
    return LabelPlan(grown, (1 + VERDICTS_A_LABEL) * grown)


def labels(
    room: float, variance: float, rho2: float, pool: float = math.inf, target: str = "population"
) -> float:
    """Labels for an estimate of variance ``room``; infinite where the pool is too small.

    Population: s^2 (1 - rho^2) / (room - s^2 rho^2 / M). The mean of this very pool:
    s^2 (1 - rho^2) / (room + s^2 (1 - rho^2) / M), never more than M.
    """
    left = variance * (1 - rho2)
    bottom = room + left / pool if target == "pool" else room - variance * rho2 / pool
    if not bottom > 0:
        return math.inf
    needed = max(1, math.ceil(left / bottom - 1e-9))
    return math.inf if needed > pool else float(needed)


def weighted_variance(values: Floats, weight: Floats) -> float:
    """Of one label [units], weights [units] 1 / chance of it; NaN of fewer than two."""
    n = len(values)
    if n < 2:
        return math.nan
    off = values - np.average(values, weights=weight)
    return float(np.average(off**2, weights=weight)) * n / (n - 1)


def design_effect(truth: Floats, cluster: NDArray[np.intp]) -> float:
    """Variance of the mean of ``truth`` [units] over that of as many independent units.

    Never below 1, as fewer labels than independent ones would need are not planned for; NaN with
    fewer than three clusters or without spread.
    """
    known = ~np.isnan(truth)
    y = truth[known]
    numbers = np.unique(cluster[known], return_inverse=True)[1]
    n, groups = len(y), int(numbers.max(initial=-1)) + 1
    if groups < 3 or not y.var() > 0:
        return math.nan
    error = float(clustered_error((y - y.mean()) / n, numbers))
    return max(1.0, error**2 / (float(y.var(ddof=1)) / n))


def reliability(labels: Floats) -> float:
    """Share of the variance of people's mean label that another set of such people would repeat.

    One-way analysis of variance of [units, raters], NaN where a rater was not asked: 1 - MSW / MSB,
    never below 0. No judge's rho^2 with that mean can be above it. NaN where no three units have
    two raters.
    """
    known = ~np.isnan(labels)
    chosen: Mask = np.asarray(known.sum(axis=1) > 1, np.bool_)
    if chosen.sum() < 3:
        return math.nan
    there = known[chosen]
    x, k = np.where(there, labels[chosen], 0.0), there.sum(axis=1)
    mean = x.sum(axis=1) / k
    within = float((np.where(there, x - mean[:, None], 0.0) ** 2).sum() / (k - 1).sum())
    grand = x.sum() / k.sum()
    between = float((k * (mean - grand) ** 2).sum() / (len(k) - 1))
    return math.nan if not between > 0 else max(0.0, 1 - within / between)
