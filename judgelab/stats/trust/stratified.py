"""Means of strata put together by the strata's shares of the pool (arXiv 2406.04291)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats, Mask, divide
from judgelab.stats.trust.prediction_powered import Corrected, LabelledPool, Target, ends_of

FEWEST = 10
"""Labels that every stratum needs."""


def by_stratum(
    pool: Callable[[Mask], LabelledPool],
    corrected_in: Callable[[LabelledPool], Corrected],
    stratum: NDArray[np.intp],
    target: Target = "population",
    *,
    level: float = 0.95,
    share: bool = False,
) -> Corrected:
    """The mean over strata of the estimates in each; lambda is tuned in each.

    Strata weigh by their shares among the judged units; for the population those shares vary, too:
    sum of W (theta_s - theta)^2 / M. Degrees of freedom by Satterthwaite. Clusters lie within
    strata. NaN for a judge without an estimate in some stratum.

    Args:
        pool: units that are chosen -> their pool.
        stratum: [units] numbers.
    """
    parts = [corrected_in(pool(stratum == k)) for k in np.unique(stratum)]

    def each(name: str) -> Floats:
        return np.array([getattr(one, name) for one in parts], dtype=np.float64)

    n, size, groups = (each(name).sum(axis=0).astype(np.int64) for name in ("n", "pool", "groups"))
    shares = divide(each("pool"), size)
    value, tuning = ((shares * each(name)).sum(axis=0) for name in ("value", "tuning"))
    variances = (shares * each("error")) ** 2
    variance = variances.sum(axis=0)
    if target == "population":
        variance = variance + divide((shares * (each("value") - value) ** 2).sum(axis=0), size)
    freedom = divide(variance**2, divide(variances**2, each("groups") - 2).sum(axis=0))
    freedom = np.where(freedom > 0, freedom, groups - 2 * len(parts))
    error = np.sqrt(variance)
    low, high = ends_of(value, error, freedom + 1, level, share)
    return Corrected(value, error, low, high, tuning, n, size, groups)
