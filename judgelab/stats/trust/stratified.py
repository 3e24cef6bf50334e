"""Means of strata put together by the strata's shares of the pool (arXiv 2406.04291)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

from judgelab.stats.intervals.arrays import Floats, Mask, divide
from judgelab.stats.trust.labelled_pool import LabelledPool
from judgelab.stats.trust.prediction_powered import Corrected, Target, ends_of

FEWEST = 10
"""Labels of a stratum below which it is joined with others."""


def strata_of(names: NDArray[np.object_], labelled: Mask) -> NDArray[np.intp]:
    """[units] numbers of strata with enough labels; small ones are one, or join the smallest."""
    known = {name: int(labelled[names == name].sum()) for name in dict.fromkeys(names)}
    kept = [name for name, n in known.items() if n >= FEWEST]
    small = sum(n for name, n in known.items() if name not in kept)
    rest = len(kept)
    if kept and len(known) - len(kept) > 0 and small < FEWEST:
        rest = kept.index(min(kept, key=lambda name: known[name]))
    place = {name: k for k, name in enumerate(kept)}
    return np.array([place.get(name, rest) for name in names], np.intp)


def unevenly_labelled(names: NDArray[np.object_], labelled: Mask, level: float = 0.05) -> bool:
    """Whether some strata were labelled more often than others, by a chi-square test."""
    counts = [
        [int(labelled[names == name].sum()), int((~labelled[names == name]).sum())]
        for name in dict.fromkeys(names)
    ]
    table = np.array(counts)
    if len(table) < 2 or not (table.sum(axis=0) > 0).all():
        return False
    return bool(chi2_contingency(table).pvalue < level)


def by_stratum(
    pool: Callable[[Mask], LabelledPool],
    made: Callable[[LabelledPool], Corrected],
    stratum: NDArray[np.intp],
    target: Target = "population",
    *,
    level: float = 0.95,
    share: bool = False,
) -> Corrected:
    """The mean over strata of what ``made`` finds in each; lambda is tuned in each.

    Strata weigh by their shares among the judged units; for the population those shares vary, too:
    sum of W (theta_s - theta)^2 / M. Degrees of freedom by Satterthwaite. Clusters lie within
    strata. NaN for a judge without an estimate in some stratum.

    Args:
        pool: units that are chosen -> their pool.
        stratum: [units] numbers.
    """
    parts = [made(pool(stratum == k)) for k in np.unique(stratum)]

    def each(name: str) -> Floats:
        return np.array([getattr(one, name) for one in parts], dtype=np.float64)

    size = each("pool").sum(axis=0)
    shares = divide(each("pool"), size)
    value = (shares * each("value")).sum(axis=0)
    variances = (shares * each("error")) ** 2
    variance = variances.sum(axis=0)
    if target == "population":
        variance = variance + divide((shares * (each("value") - value) ** 2).sum(axis=0), size)
    freedom = divide(variance**2, divide(variances**2, each("groups") - 2).sum(axis=0))
    freedom = np.where(freedom > 0, freedom, each("groups").sum(axis=0) - 2 * len(parts))
    error = np.sqrt(variance)
    low, high = ends_of(value, error, freedom + 1, level, share)
    whole = _joined(parts)
    tuning = (shares * each("tuning")).sum(axis=0)
    return replace(whole, value=value, error=error, low=low, high=high, tuning=tuning)


def _joined(parts: Sequence[Corrected]) -> Corrected:
    """Counts added up."""
    n, pool, groups = (
        np.sum([getattr(one, name) for one in parts], axis=0) for name in ("n", "pool", "groups")
    )
    return replace(parts[0], n=n, pool=pool, groups=groups)
