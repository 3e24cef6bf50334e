"""What one verdict is worth in labels, and how many labels a question needs.

A judge whose values F have squared correlation rho^2 with people's Y brings the variance of a mean
to 1 - rho^2 N / M of that of people alone (PPI++, N of M units unlabelled). rho^2 must be net of
what is known for free: the system that wrote a text, its domain, its length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.trust.clustered import FEWEST, cluster_sums

ALMOST_ONE = 1 - 1e-9


@dataclass(frozen=True)
class Saving:
    """rho^2 of judges [judges], the share of labels that they save at best.

    Attributes:
        value: adjusted for the number of units and of what was taken out; never below 0.
        low, high: ends of its interval; the lower one is 0 where the correlation may be 0, and
            where it is negative (a judge that runs backwards saves nothing as it stands).
        correlation: r itself.
        n: units.
    """

    value: Floats
    low: Floats
    high: Floats
    correlation: Floats
    n: NDArray[np.int64]


def saving(
    truth: Floats,
    values: Floats,
    cluster: NDArray[np.intp],
    free: Floats | None = None,
    level: float = 0.95,
) -> Saving:
    """rho^2 with the interval that holds for odd distributions, too.

    On artanh r, with error sd(y f - (r / 2)(y^2 + f^2)) / ((1 - r^2) sqrt n) of standardised y and
    f, summed within clusters, and t of clusters - 2 degrees.

    Args:
        truth: [units], NaN without a label.
        values: [judges, units].
        free: [units, columns] what is known without a judge (dummies of systems, words); taken out
            of both by least squares.
    """
    made = [_one(truth, row, cluster, free, level) for row in values]
    columns = np.array(made, dtype=np.float64).reshape(len(made), 5).T
    value, low, high, correlation, n = columns
    return Saving(value, low, high, correlation, n.astype(np.int64))


def _one(
    truth: Floats, row: Floats, cluster: NDArray[np.intp], free: Floats | None, level: float
) -> tuple[float, float, float, float, float]:
    there = ~np.isnan(truth) & ~np.isnan(row)
    n = int(there.sum())
    groups = len(np.unique(cluster[there]))
    nothing = (math.nan,) * 4
    if groups < FEWEST + 1:
        return (*nothing, n)
    base = np.ones((n, 1)) if free is None else np.column_stack([np.ones(n), free[there]])
    taken = int(np.linalg.matrix_rank(base))
    y, f = (_standardised(x[there], base) for x in (truth, row))
    if y is None or f is None or n <= taken + 1:
        return (*nothing, n)
    r = float(np.clip((y * f).mean(), -ALMOST_ONE, ALMOST_ONE))
    influence = (y * f - r / 2 * (y**2 + f**2)) / ((1 - r**2) * n)
    sums = cluster_sums(influence, np.unique(cluster[there], return_inverse=True)[1])
    error = math.sqrt(groups / (groups - 1) * float((sums**2).sum()))
    half = float(stdtrit(groups - 2, (1 + level) / 2)) * error
    low, high = math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
    adjusted = max(0.0, 1 - (1 - r**2) * (n - taken) / (n - taken - 1)) if r > 0 else 0.0
    return adjusted, max(low, 0.0) ** 2, max(high, 0.0) ** 2, r, n


def _standardised(values: Floats, base: Floats) -> Floats | None:
    """What is left of the values beyond ``base``, with variance 1; None if nothing."""
    left = values - base @ np.linalg.lstsq(base, values, rcond=None)[0]
    spread = float(np.sqrt((left**2).mean()))
    scale = float(np.abs(values).max(initial=0.0))
    return None if spread <= 1e-9 * max(scale, 1e-300) else left / spread


def dummies(names: NDArray[np.object_]) -> Floats:
    """[units, names - 1] which of the names a unit has; no columns for a single name."""
    known = list(dict.fromkeys(names))[1:]
    return np.array([[name == one for one in known] for name in names], float).reshape(
        len(names), len(known)
    )


def worth(rho2: ArrayLike, n: ArrayLike, rest: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Effective labels, labels that one verdict is worth, and the most that verdicts can multiply.

    n_eff = n / (1 - rho^2 N / M); (n_eff - n) / N; 1 / (1 - rho^2).
    """
    r2, few, many = (np.asarray(x, dtype=np.float64) for x in (rho2, n, rest))
    effective = divide(few, 1 - r2 * divide(many, few + many))
    return effective, divide(effective - few, many), divide(1.0, 1 - r2)


def labels_for_width(
    half_width: float,
    variance: float,
    rho2: float,
    pool: float = math.inf,
    target: str = "population",
    level: float = 0.95,
) -> float:
    """Labels for an interval of +-half_width; infinite where no number is enough.

    Population: s^2 (1 - rho^2) / ((w / z)^2 - s^2 rho^2 / M). The mean of this very pool:
    s^2 (1 - rho^2) / ((w / z)^2 + s^2 (1 - rho^2) / M), never more than M.
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    return _labels((half_width / z) ** 2, variance, rho2, pool, target)


def labels_for_difference(
    difference: float,
    variance: float,
    rho2: float,
    pool: float = math.inf,
    power: float = 0.8,
    level: float = 0.95,
) -> float:
    """Labelled items that show a difference of two systems with this power.

    ``variance`` and ``rho2`` are of the difference Y_A - Y_B of an item.
    """
    z = NormalDist().inv_cdf
    return _labels(
        (difference / (z((1 + level) / 2) + z(power))) ** 2, variance, rho2, pool, "population"
    )


def _labels(room: float, variance: float, rho2: float, pool: float, target: str) -> float:
    left = variance * (1 - rho2)
    if target == "pool":
        bottom = room + (left / pool if math.isfinite(pool) else 0.0)
    else:
        bottom = room - (variance * rho2 / pool if math.isfinite(pool) else 0.0)
    if not bottom > 0:
        return math.inf
    needed = math.ceil(left / bottom - 1e-9)
    return math.inf if needed > pool else float(needed)
