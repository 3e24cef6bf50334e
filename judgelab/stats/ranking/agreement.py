"""Agreement of two leaderboards (GEM paper, appendix A.2).

The models are the points: one benchmark under two evaluation LMs, or two benchmarks. What the
paper prints there as Spearman is Pearson (docs/definitions.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from judgelab.stats.discrimination.correlation import clustered_correlation
from judgelab.stats.intervals.arrays import checked_pair
from judgelab.stats.intervals.estimate import Estimate


def agreement(
    x: ArrayLike,
    y: ArrayLike,
    method: Literal["spearman", "pearson"] = "spearman",
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Correlation over the models that are in both lists.

    Args:
        x: [models], one number each; NaN where a model is missing.
        y: [models], the same models.
        method: spearman or pearson.
        draws: bootstrap resamples of models.
        seed: of the resamples.

    Returns:
        n: models in both; unscored: the others. Percentile interval over resampled models, none
        with fewer than three. p: the classical one, Student's t of r with n - 2 degrees of
        freedom (exact for Pearson on normal data, approximate for Spearman). Models of one
        family are not independent, so both are optimistic.

    Raises:
        ValueError: shapes differ, infinities, or another method.
    """
    if method not in ("spearman", "pearson"):
        raise ValueError(f"Leaderboards are compared by spearman or pearson, not {method!r}.")
    first, second = checked_pair(x, y, 1, "The agreement of leaderboards")
    found = clustered_correlation(first[:, None], second[:, None], method, draws, seed)
    return replace(found, p=_student_p(found.value, found.n))


def _student_p(r: float, n: int) -> float:
    if np.isnan(r) or n < 3:
        return float("nan")
    if abs(r) >= 1:
        return 0.0
    return float(2 * stdtr(n - 2, -abs(r) * np.sqrt((n - 2) / (1 - r * r))))
