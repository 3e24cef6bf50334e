"""f-mutual information, the ceiling of Theorem 3.3, kappa, Youden's J and AUC (appendix F).

Where the TVD-MI paper is loose or wrong; every line is checked by a test:

* Lemma F.1 (no diagonal coupling beats the uniform one) is not true of every convex f. It needs
  phi(p) = p^2 (f(1/p) - f(0)) to be concave on (0, 1], equivalently t^2 f'' - 2 t f' +
  2 (f - f(0)) <= 0 for t >= 1: true of total variation, KL, Hellinger and Jensen-Shannon, with
  equality of chi squared; false of t^3 - 1 (supremum infinite already at M = 2) and even of the
  bounded max(t - 3, 0) at M = 2 (uniform 0; (.1, .9) gives .07). The proof of Theorem 3.3 goes
  through the lemma, so ``ceiling`` is proven for those five generators, not for "any f". Joints of
  M cells that are not diagonal are covered by data processing (garblings of their cell index).
* For total variation f(0) = 1/2, and the ceiling is exactly 1 - 1/(2 k N^2), as printed; as TV is
  below 1 anyway (at N = 2, k = 10 the ceiling is .9875) it excludes next to nothing, and does not
  "grow" with N in a way that data could feel. For KL it is exactly ln(2 k N^2).
* The proof needs samples without a repeated pair to look alike under both laws. A contingency
  table up to relabelling (Definition 3.2) still shows which pairs share a row, so the argument
  is complete for diagonal joints, or for estimators that see only how often pairs repeat.
* kappa: the printed |kappa| <= 2 TVD / (1 - p_e) is loose by a factor 2. Deviations from
  independence sum to 0, so TVD >= |p_o - p_e| and |kappa| <= TVD / (1 - p_e) for any number of
  categories, with equality for two. (The printed derivation writes p_i p_i for P_X(i) P_Y(i).)
* "For balanced prevalence TVD-MI = J/2" holds exactly, with |J|: in general the TVD between the
  joint of (truth, decision) and its marginals is 2 prev (1 - prev) |J|. Equation 3, TV >= J, is
  not contradicted: that TV is between the two class laws.
* J = 2 AUC - 1 is exact for the two-segment ROC of one yes/no decision, without any symmetry; for
  a graded score symmetry is not enough (binormal, d = 1: max J = .383, 2 AUC - 1 = .520).
* kappa = J exactly iff the prevalence is 1/2 or decisions are as frequent as the class (or
  J = 0); low chance agreement has no part in it (at prevalence 1/2, p_e is 1/2).

Numbers outside their range, and tables that are no joint distribution, are a ValueError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from judgelab.stats.intervals.arrays import Floats

Generator = Callable[[Any], ArrayLike]
"""f of D_f(P || Q) = sum of Q f(P / Q): convex on t >= 0 (a number or an array), f(1) = 0, f(0) the
right limit at 0. Values are in nats where a logarithm is taken."""

NEGLIGIBLE = 1e-300
"""Expected mass below which a cell is left out: its ratio, at most 1e150 above, may be squared."""


def tvd_generator(t: ArrayLike) -> Floats:
    """|t - 1| / 2: total variation. f(0) = 1/2."""
    return np.abs(np.asarray(t, dtype=np.float64) - 1) / 2


def kl_generator(t: ArrayLike) -> Floats:
    """t ln t: Shannon mutual information in nats. f(0) = 0."""
    ratio = np.asarray(t, dtype=np.float64)
    return np.asarray(xlogy(ratio, ratio), dtype=np.float64)


def chi2_generator(t: ArrayLike) -> Floats:
    """(t - 1)^2: Pearson chi squared. f(0) = 1; phi of Lemma F.1 is linear."""
    return (np.asarray(t, dtype=np.float64) - 1) ** 2


def hellinger_generator(t: ArrayLike) -> Floats:
    """(sqrt(t) - 1)^2 / 2: squared Hellinger distance in [0, 1]. f(0) = 1/2."""
    return (np.sqrt(np.asarray(t, dtype=np.float64)) - 1) ** 2 / 2


def jensen_shannon_generator(t: ArrayLike) -> Floats:
    """Jensen-Shannon divergence in nats, at most ln 2. f(0) = ln(2) / 2."""
    ratio = np.asarray(t, dtype=np.float64)
    middle = (ratio + 1) / 2
    return np.asarray(xlogy(ratio, ratio) / 2 - xlogy(middle, middle), dtype=np.float64)


def ceiling(f: Generator, k: int, n: int) -> float:
    """Theorem 3.3: no distribution-free lower bound on f-MI from n samples certifies more.

    With M = 2 k n^2 it is f(M) / M + (1 - 1/M) f(0), exceeded with probability at most
    ``failure_probability(delta, k)``. See the module docstring for the f it is proven for.

    Args:
        f: the generator; ``f(0)`` must return the right limit at 0, finite as f(M) is
            (Definition 3.1).
        k: integer >= 1, trades the height of the ceiling against its failure probability.
        n: sample size >= 2.
    """
    if k < 1 or n < 2:
        raise ValueError(f"Theorem 3.3 needs k >= 1 and n >= 2, got k = {k}, n = {n}.")
    size = 2.0 * k * n**2
    at_zero, at_size = float(np.asarray(f(0.0))), float(np.asarray(f(size)))
    if not (np.isfinite(at_zero) and np.isfinite(at_size)):
        raise ValueError(
            f"The generator must be finite at 0 and {size:g}, but is {at_zero} and {at_size}."
        )
    return at_size / size + (1 - 1 / size) * at_zero


def failure_probability(delta: float, k: int) -> float:
    """delta + 1/k (at most 1): how often an estimator may exceed the ceiling of Theorem 3.3."""
    if not 0 <= delta <= 1 or k < 1:
        raise ValueError(f"Needs delta in [0, 1] and k >= 1, got {delta} and {k}.")
    return min(1.0, delta + 1 / k)


def f_mutual_information(joint: ArrayLike, f: Generator) -> float:
    """D_f of a joint distribution from the product of its marginals (Definition 3.1).

    Args:
        joint: [a, b] probabilities or counts (normalised to sum 1). Rows and columns without
            mass contribute nothing, nor do cells expected less than once in 1e300.
        f: the generator, applied to arrays of t >= 0.
    """
    table, product = _joint_and_product(joint)
    present = product > NEGLIGIBLE
    ratio = table[present] / product[present]
    return float((product[present] * np.asarray(f(ratio), dtype=np.float64)).sum())


def tvd(joint: ArrayLike) -> float:
    """TVD-MI: total variation in [0, 1) between a joint and the product of its marginals."""
    table, product = _joint_and_product(joint)
    return float(np.abs(table - product).sum() / 2)


def kappa(joint: ArrayLike) -> float:
    """Cohen's kappa of two raters' joint [c, c] of probabilities or counts.

    NaN where chance agreement is 1 (both raters always say the same one category).
    """
    table, product = _joint_and_product(joint)
    if table.shape[0] != table.shape[1]:
        raise ValueError(f"Kappa needs a square table, but got shape {table.shape}.")
    by_chance = float(np.trace(product))
    if by_chance >= 1:
        return float("nan")
    return (float(np.trace(table)) - by_chance) / (1 - by_chance)


def kappa_bound(tvd: float, p_e: float) -> float:
    """2 TVD / (1 - p_e): the paper's upper bound of |kappa|; half of it is a bound too.

    p_e, in [0, 1), is the agreement by chance.
    """
    if tvd < 0 or not 0 <= p_e < 1:
        raise ValueError(f"Needs tvd >= 0 and p_e in [0, 1), got {tvd} and {p_e}.")
    return 2 * tvd / (1 - p_e)


def youden_j(tpr: float, tnr: float) -> float:
    """Informativeness TPR + TNR - 1, in [-1, 1]; 0 for guessing."""
    _within(tpr, 0, "A rate")
    _within(tnr, 0, "A rate")
    return tpr + tnr - 1


def informativeness_from_auc(auc: float) -> float:
    """2 AUC - 1: Youden's J of a yes/no decision whose ROC has this area."""
    _within(auc, 0, "An AUC")
    return 2 * auc - 1


def auc_from_youden(j: float) -> float:
    """(1 + J) / 2: area under the two-segment ROC of a yes/no decision."""
    _within(j, -1, "Youden's J")
    return (1 + j) / 2


def _within(value: float, low: int, what: str) -> None:
    """Refuse what leaves [low, 1] by more than rounding (NaN passes: unscored stays unscored)."""
    if value < low - 1e-9 or value > 1 + 1e-9:
        raise ValueError(f"{what} lies between {low} and 1, got {value}.")


def _joint_and_product(joint: ArrayLike) -> tuple[Floats, Floats]:
    table = np.asarray(joint, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all() or (table < 0).any() or table.sum() <= 0:
        raise ValueError(
            "A joint distribution is a table [a, b] of non-negative numbers with some mass, "
            f"but got shape {table.shape} with sum {table.sum()}."
        )
    table = table / table.sum()
    return table, np.outer(table.sum(axis=1), table.sum(axis=0))
