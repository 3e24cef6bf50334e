"""Correlation of two lists: rows that belong to items, or the models of two leaderboards.

The first is how a metric is held against human grades (GEM paper, section 4.1), the second how
two benchmarks, or one benchmark under two evaluation LMs, are compared (its appendix A.2). What
the paper prints there as Spearman is Pearson (docs/definitions.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from judgelab.stats.arrays import Floats, checked_pair
from judgelab.stats.correlation import Method, clustered_correlation
from judgelab.stats.estimate import Estimate


def row_correlation(
    x: ArrayLike,
    y: ArrayLike,
    cluster: ArrayLike,
    method: Method = "spearman",
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Correlation over rows, with interval and p over the items the rows belong to.

    ``clustered_correlation`` for rows in any number per item and in any order.

    Args:
        x: [rows], NaN where unscored.
        y: [rows], human grades, say; NaN where there is none.
        cluster: [rows], the item of each row: integers or strings.
        method: spearman, pearson or kendall (tau-b).
        draws: bootstrap resamples of items.
        seed: of the resamples.

    Returns:
        n: rows with both numbers; unscored: the other rows; clusters: items with such a row.

    Raises:
        ValueError: shapes differ, infinities, or an unknown method.
    """
    first, second = checked_pair(x, y, 1, "The correlation over rows")
    items = np.asarray(cluster)
    if items.shape != first.shape:
        raise ValueError(
            f"Every row needs its item: {len(first)} rows, but cluster has shape {items.shape}."
        )
    number = np.unique(items, return_inverse=True)[1]
    table_x, table_y = _packed(first, number), _packed(second, number)
    found = clustered_correlation(table_x, table_y, method, draws, seed)
    n = int(np.count_nonzero(~np.isnan(first + second)))
    return replace(found, n=n, unscored=len(first) - n, clusters=found.n)


def model_correlation(
    x: ArrayLike,
    y: ArrayLike,
    method: Literal["spearman", "pearson"] = "spearman",
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Agreement of two leaderboards over the models that are in both.

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
    first, second = checked_pair(x, y, 1, "The correlation of leaderboards")
    found = clustered_correlation(first[:, None], second[:, None], method, draws, seed)
    return replace(found, p=_student_p(found.value, found.n))


def _packed(values: Floats, number: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Floats:
    """[items, rows of the fullest item], filled up with NaN."""
    order = np.argsort(number, kind="stable")
    sizes = np.bincount(number)
    starts = np.cumsum(sizes) - sizes
    table = np.full((len(sizes), int(sizes.max(initial=0))), np.nan)
    table[number[order], np.arange(len(order)) - starts[number[order]]] = values[order]
    return table


def _student_p(r: float, n: int) -> float:
    if np.isnan(r) or n < 3:
        return float("nan")
    if abs(r) >= 1:
        return 0.0
    return float(2 * stats.t.sf(abs(r) * np.sqrt((n - 2) / (1 - r * r)), n - 2))
