"""Tables of truth by decision: f-information beside Theorem 3.3, and appendix F's measures.

Counts are [items, ...], so that intervals leave out an item at a time (t with n - 1 degrees of
freedom); the estimate itself is of the counts summed over items. What is wrong or loose in the
appendix is told in ``information``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.discrimination.information import (
    Generator,
    auc_from_youden,
    chi2_generator,
    f_mutual_information,
    hellinger_generator,
    jensen_shannon_generator,
    kappa,
    kappa_bound,
    kl_generator,
    tvd,
    tvd_generator,
    youden_j,
)
from judgelab.stats.intervals.arrays import Floats, checked
from judgelab.stats.intervals.ends import added, t_ends
from judgelab.stats.intervals.estimate import Estimate


class Divergence(NamedTuple):
    """A generator, and the limit of f(t) / t as t grows: what mass without a counterpart adds."""

    f: Generator
    slope: float

    @property
    def most(self) -> float:
        """What D_f cannot exceed: f(0), and what mass without a counterpart adds."""
        return float(np.asarray(self.f(0.0))) + self.slope


DIVERGENCES: Mapping[str, Divergence] = MappingProxyType(
    {
        "tvd": Divergence(tvd_generator, 0.5),
        "kl": Divergence(kl_generator, math.inf),
        "hellinger": Divergence(hellinger_generator, 0.5),
        "jensen_shannon": Divergence(jensen_shannon_generator, math.log(2) / 2),
        "chi2": Divergence(chi2_generator, math.inf),
    }
)
"""Those for which Theorem 3.3 is proven."""


def divergence(counts: ArrayLike, name: str) -> float:
    """D_f of the first row of [2, outcomes] from the second: at most I_f, by data processing.

    Infinite for KL and chi squared where an outcome of the first row is none of the second; NaN
    where a row is empty.
    """
    table = np.asarray(counts, dtype=np.float64)
    if not table.sum(axis=1).all():
        return math.nan
    p, q = table / table.sum(axis=1, keepdims=True)
    f, slope = DIVERGENCES[name]
    shared = q > 0
    alone = float(p[~shared].sum())
    inside = float((q[shared] * np.asarray(f(p[shared] / q[shared]), dtype=np.float64)).sum())
    return inside + (alone * slope if alone > 0 else 0.0)


def information(counts: ArrayLike, name: str) -> float:
    """I_f of truth and decision (Definition 3.1) from their counts; NaN of an empty table."""
    table = np.asarray(counts, dtype=np.float64)
    return f_mutual_information(table, DIVERGENCES[name].f) if table.sum() > 0 else math.nan


def measures(counts: ArrayLike) -> dict[str, float]:
    """Appendix F's measures of a table [[true positives, false negatives], [false positives, ...]].

    ``youden_j`` = TPR + TNR - 1; ``auc`` = (1 + J) / 2; ``tvd`` of the joint from the product of
    its marginals, and ``tvd_from_j`` = 2 pi (1 - pi) |J|, the same number; ``kappa`` with
    ``kappa_bound`` = TVD / (1 - p_e) and ``kappa_bound_printed``, twice that. NaN where a row is
    empty.
    """
    table = np.asarray(counts, dtype=np.float64)
    sums = table.sum(axis=1)
    if not sums.all():
        return dict.fromkeys(MEASURES, math.nan)
    tpr, tnr = float(table[0, 0] / sums[0]), float(table[1, 1] / sums[1])
    j, prevalence, distance = youden_j(tpr, tnr), float(sums[0] / sums.sum()), tvd(table)
    joint = table / table.sum()
    by_chance = float(joint.sum(axis=1) @ joint.sum(axis=0))
    printed = kappa_bound(distance, by_chance) if by_chance < 1 else math.nan
    from_j = 2 * prevalence * (1 - prevalence) * abs(j)
    found = [prevalence, tpr, tnr, j, auc_from_youden(j), distance, from_j, kappa(table)]
    return dict(zip(MEASURES, [*found, printed / 2, printed], strict=True))


def measure(counts: ArrayLike, name: str) -> float:
    """One of them."""
    return measures(counts)[name]


MEASURES = (
    *("prevalence", "tpr", "tnr", "youden_j", "auc", "tvd", "tvd_from_j"),
    *("kappa", "kappa_bound", "kappa_bound_printed"),
)
SIGNED = frozenset({"youden_j", "kappa"})
"""Measures that may be below 0."""
UNBOUNDED = frozenset({"kappa_bound", "kappa_bound_printed"})
"""Measures that may be above 1."""


def over_items(
    counts: ArrayLike,
    measure: Callable[[Floats], float],
    least: float = 0.0,
    most: float = math.inf,
) -> Estimate:
    """A measure of counts [items, a, b] summed over items, with its interval.

    n counts items with any count, unscored the others. No interval where the measure, or that
    without some item, is not finite; none reaches below the ``least`` or above the ``most`` there
    can be.
    """
    table = checked(counts, 3, "The counts")
    kept = table[table.sum(axis=(1, 2)) > 0]
    n, whole = len(kept), kept.sum(axis=0)
    value = measure(whole)
    if n < 3 or not math.isfinite(value):
        return Estimate(value, n=n, unscored=len(table) - n)
    without = np.array([measure(whole - one) for one in kept])
    if not np.isfinite(without).all():
        return Estimate(value, n=n, unscored=len(table) - n)
    low, high = (float(end) for end in t_ends(added(value, without)))
    return Estimate(value, max(low, least), min(high, most), n, len(table) - n)
