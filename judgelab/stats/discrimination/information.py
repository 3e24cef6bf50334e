"""f-mutual information, the ceiling of Theorem 3.3, kappa, Youden's J and AUC (appendix F).

Counts of truth by decision are [items, ...]: intervals leave out an item at a time (t with n - 1
degrees of freedom); the estimate is of the counts summed over items.

Where the TVD-MI paper is loose or wrong; every line is checked by a test:

* Lemma F.1 (no diagonal coupling beats the uniform one) is not true of every convex f. It needs
  phi(p) = p^2 (f(1/p) - f(0)) to be concave on (0, 1]: true of total variation, KL, Hellinger and
  Jensen-Shannon, with equality of chi squared; false of t^3 - 1 and even of the bounded
  max(t - 3, 0). The proof of Theorem 3.3 goes through the lemma, so ``ceiling`` is proven for
  those five, not for "any f". Joints that are not diagonal are covered by data processing.
* For total variation the ceiling is exactly 1 - 1/(2 k N^2), as printed; as TV is below 1 anyway it
  excludes next to nothing. For KL it is exactly ln(2 k N^2).
* The proof needs samples without a repeated pair to look alike under both laws. A contingency
  table up to relabelling (Definition 3.2) still shows which pairs share a row, so the argument
  is complete for diagonal joints, or for estimators that see only how often pairs repeat.
* kappa: the printed |kappa| <= 2 TVD / (1 - p_e) is loose by a factor 2: deviations from
  independence sum to 0, so TVD >= |p_o - p_e|, with equality for two categories.
* "For balanced prevalence TVD-MI = J/2" holds exactly, with |J|: in general the TVD between the
  joint of (truth, decision) and its marginals is 2 prev (1 - prev) |J|.
* J = 2 AUC - 1 is exact for the two-segment ROC of one yes/no decision; for a graded score
  symmetry is not enough (binormal, d = 1: max J = .383, 2 AUC - 1 = .520).
* kappa = J exactly iff the prevalence is 1/2 or decisions are as frequent as the class (or J = 0).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from judgelab.stats.intervals.arrays import Floats, checked
from judgelab.stats.intervals.ends import added, t_ends
from judgelab.stats.intervals.estimate import Estimate

NEGLIGIBLE = 1e-300
"""Expected mass below which a cell is left out: its ratio, at most 1e150 above, may be squared."""


class Divergence(NamedTuple):
    """D_f(P || Q) = sum of Q f(P / Q), in nats where a logarithm is taken."""

    # convex on t >= 0 (a number or an array), f(1) = 0, f(0) the right limit at 0
    f: Callable[[Any], ArrayLike]
    slope: float  # limit of f(t) / t as t grows: what mass of P without a counterpart adds

    @property
    def most(self) -> float:
        """What D_f cannot exceed."""
        return float(np.asarray(self.f(0.0))) + self.slope


def _jensen_shannon(t: ArrayLike) -> Floats:
    ratio = np.asarray(t, dtype=np.float64)
    return np.asarray(xlogy(ratio, ratio) / 2 - xlogy((ratio + 1) / 2, (ratio + 1) / 2))


DIVERGENCES: Mapping[str, Divergence] = {
    "tvd": Divergence(lambda t: np.abs(np.asarray(t) - 1) / 2, 0.5),
    "kl": Divergence(lambda t: xlogy(t, t), math.inf),
    "hellinger": Divergence(lambda t: (np.sqrt(np.asarray(t)) - 1) ** 2 / 2, 0.5),
    "jensen_shannon": Divergence(_jensen_shannon, math.log(2) / 2),
    "chi2": Divergence(lambda t: (np.asarray(t) - 1.0) ** 2, math.inf),
}
"""Those for which Theorem 3.3 is proven."""


def ceiling(name: str, k: int, n: int) -> float:
    """Theorem 3.3: no distribution-free lower bound on f-MI from n samples certifies more.

    With M = 2 k n^2 it is f(M) / M + (1 - 1/M) f(0), exceeded with probability at most
    delta + 1/k. k >= 1 trades the height of the ceiling against that; n >= 2.
    """
    if k < 1 or n < 2:
        raise ValueError(f"Theorem 3.3 needs k >= 1 and n >= 2, got k = {k}, n = {n}.")
    size, f = 2.0 * k * n**2, DIVERGENCES[name].f
    return float(np.asarray(f(size)) / size + (1 - 1 / size) * np.asarray(f(0.0)))


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


def f_information(joint: ArrayLike, f: Callable[[Any], ArrayLike]) -> float:
    """D_f of a joint [a, b] of counts from the product of its marginals (Definition 3.1).

    NaN of an empty table. Rows and columns without mass contribute nothing.
    """
    table = np.asarray(joint, dtype=np.float64)
    if not table.sum() > 0:
        return math.nan
    table = table / table.sum()
    product = np.outer(table.sum(axis=1), table.sum(axis=0))
    present = product > NEGLIGIBLE
    ratio = table[present] / product[present]
    return float((product[present] * np.asarray(f(ratio), dtype=np.float64)).sum())


MEASURES: Mapping[str, tuple[float, float]] = {
    "youden_j": (-1.0, 1.0),
    "auc": (0.0, 1.0),
    "tvd": (0.0, 1.0),
    "tvd_from_j": (0.0, 1.0),
    "kappa": (-1.0, 1.0),
    "kappa_bound": (0.0, math.inf),
    "kappa_bound_printed": (0.0, math.inf),
}
"""Appendix F's, and between which values they lie."""


def measures(counts: ArrayLike) -> dict[str, float]:
    """``MEASURES`` of a table [[true positives, false negatives], [false positives, true ...]].

    ``youden_j`` = TPR + TNR - 1; ``auc`` = (1 + J) / 2; ``tvd`` of the joint from the product of
    its marginals, and ``tvd_from_j`` = 2 pi (1 - pi) |J|, the same number; ``kappa`` with
    ``kappa_bound`` = TVD / (1 - p_e) and ``kappa_bound_printed``, twice that. NaN where a row is
    empty; of kappa and its bounds also where both always say the same.
    """
    table = np.asarray(counts, dtype=np.float64)
    rows = table.sum(axis=1)
    if not rows.all():
        return dict.fromkeys(MEASURES, math.nan)
    j = float(table[0, 0] / rows[0] + table[1, 1] / rows[1] - 1)
    prevalence, distance = float(rows[0] / rows.sum()), f_information(table, DIVERGENCES["tvd"].f)
    joint = table / table.sum()
    chance = float(joint.sum(axis=1) @ joint.sum(axis=0))
    apart = 1 - chance  # above 0, as neither row is empty
    return {
        "youden_j": j,
        "auc": (1 + j) / 2,
        "tvd": distance,
        "tvd_from_j": 2 * prevalence * (1 - prevalence) * abs(j),
        "kappa": (float(np.trace(joint)) - chance) / apart,
        "kappa_bound": distance / apart,
        "kappa_bound_printed": 2 * distance / apart,
    }


def over_items(
    counts: ArrayLike, measure: Callable[[Floats], float], least: float, most: float
) -> Estimate:
    """A measure of counts [items, a, b] summed over items, with its interval.

    n counts items with any count, unscored the others. No interval where the measure, or that
    without some item, is not finite; none reaches beyond the ``least`` and ``most`` there can be.
    """
    table = checked(counts, 3, "The counts")
    kept = table[table.sum(axis=(1, 2)) > 0]
    n, whole = len(kept), kept.sum(axis=0)
    value = measure(whole)
    without = np.array([measure(whole - one) for one in kept])
    if n < 3 or not (math.isfinite(value) and np.isfinite(without).all()):
        return Estimate(value, n=n, unscored=len(table) - n)
    low, high = (float(end) for end in t_ends(added(value, without)))
    return Estimate(value, max(low, least), min(high, most), n, len(table) - n)
