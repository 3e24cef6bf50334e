"""How sure is the order of two systems that differ by delta, under a metric of correlation r?

Stureborg, Alikaniotis, Suhara: "Characterizing the Confidence of Large Language Model-Based
Automatic Evaluation Metrics". Their metric is the human score plus Gaussian noise, with a noise
level that gives the correlation r with people. The mean of N metric scores then has variance
v / N with v = s^2 / r^2 (s: sd of human scores; a kernel density adds its bandwidth), and

    confidence = Phi( |delta| / sqrt( 2 v (1 - c) / N + 2 b^2 ) )

Two terms are ours. c, the correlation of two systems' metric scores on one item, counts where both
answer the same items (``paired``), which the paper's text says but its Algorithm 1 does not do.
b is the sd over systems of an error that all scores of one system share: an error of *all* systems
does no harm, as the paper holds, but one that differs between systems does not average out, and
caps the confidence at Phi(|delta| / (b sqrt 2)) however large N gets.

Units: delta, the sd and b are in the unit of the human scores; N counts items. Numbers outside
their range are a ValueError.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.ranking.simulation import (
    Draws,
    Population,
    Relation,
    noise_sd,
    population,
    simulate,
)

Method = Literal["monte_carlo", "closed_form"]


class Circumstances(TypedDict, total=False):
    """What all questions share; each as in ``confidence``."""

    sd: float | None
    paired: bool
    item_correlation: float
    system_bias_sd: float


@dataclass(frozen=True)
class Confidence:
    """Probabilities of the right order.

    Attributes:
        value: in the common shape of r, n and delta; () for three numbers.
        standard_error: of the simulation; 0 in closed form.
        ceiling: what the value tends to as N grows; 1 without a bias between systems.
    """

    value: Floats
    standard_error: Floats
    ceiling: Floats


def confidence(
    r: ArrayLike,
    n: ArrayLike,
    delta: ArrayLike,
    scores: ArrayLike | None = None,
    *,
    sd: float | None = None,
    method: Method = "monte_carlo",
    paired: bool = False,
    item_correlation: float = 0.0,
    system_bias_sd: float = 0.0,
    draws: Draws | None = None,
) -> Confidence:
    """Probability that the metric's means rank two systems as people would (appendix B).

    Args:
        r: correlation of the metric with people over single texts, above 0.
        n: items each system is rated on.
        delta: difference of the two systems' true means, not 0 (with equal systems no order is
            right); its sign does not matter.
        scores: human scores of texts, which the paper smooths by a kernel; NaN is left out.
        sd: of human scores, in place of ``scores`` (a normal population); without either, delta
            is in standard deviations.
        method: ``monte_carlo`` (Algorithm 1), or ``closed_form``.
        paired: whether both systems answer the same items; only then ``item_correlation`` counts.
        item_correlation: of the two systems' metric scores on one item, in [0, 1).
        system_bias_sd: as b of the module, on top of the noise that r implies (an r over texts of
            several systems holds some of it already: its square / N is counted twice).
        draws: size and seed of the simulation; 100 pairs x 200 evaluations as in the paper.
    """
    source, relation = _model(scores, sd, paired, item_correlation, system_bias_sd)
    grid = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (r, n, delta)))
    shape = grid[0].shape
    cells = np.stack([part.ravel() for part in grid], axis=-1)
    _checked(cells)
    if method == "closed_form":
        value, error = _closed(cells, source, relation), np.zeros(len(cells))
    elif method == "monte_carlo":
        above, error = simulate(cells, source, relation, draws or Draws())
        value = np.where(cells[:, 2] > 0, above, 1 - above)
    else:
        raise ValueError(f"method must be monte_carlo or closed_form, got {method!r}.")
    parts = value, error, _ceiling(cells[:, 2], relation.bias_sd)
    return Confidence(*(part.reshape(shape) for part in parts))


def required_n(
    r: float,
    delta: float,
    confidence: float = 0.95,
    scores: ArrayLike | None = None,
    **known: Unpack[Circumstances],
) -> float:
    """Fewest items that give this confidence; infinite where its ceiling is not above it.

    Arguments as of ``confidence``; the target must lie between .5 and 1. In closed form.
    """
    if not 0.5 < confidence < 1:
        raise ValueError(f"The confidence asked for must be above .5 and below 1: {confidence}.")
    source, relation = _model(scores, **known)
    _checked(np.array([[r, 1.0, delta]], dtype=np.float64))
    rated = source.variance + float(noise_sd(r, source.sd)) ** 2
    room = (delta / float(ndtri(confidence))) ** 2 - 2 * relation.bias_sd**2
    items = 2 * rated * (1 - relation.shared) / room if room > 0 else math.inf
    if math.isinf(items):  # no number of items, or none that can be written down
        return math.inf
    return float(max(1, math.ceil(items - 1e-9)))


def right_order(
    delta: ArrayLike, rated: ArrayLike, n: ArrayLike, shared: ArrayLike, bias_sd: ArrayLike
) -> Floats:
    """The closed form itself, Phi(delta / sqrt(2 rated (1 - shared) / n + 2 bias_sd^2)).

    In the common shape; nothing is checked, and NaN stays NaN.

    Args:
        delta: difference of true means; below 0 the result is the probability of an error.
        rated: variance of a metric score, in human units squared.
        shared: correlation of the two systems' metric scores on an item.
        bias_sd: sd over systems of the error that a system's scores share.
    """
    gap, v, size, c, b = (
        np.asarray(part, dtype=np.float64) for part in (delta, rated, n, shared, bias_sd)
    )
    return np.asarray(ndtr(gap / np.sqrt(2 * v * (1 - c) / size + 2 * b**2)), dtype=np.float64)


def _model(
    scores: ArrayLike | None,
    sd: float | None = None,
    paired: bool = False,
    item_correlation: float = 0.0,
    system_bias_sd: float = 0.0,
) -> tuple[Population, Relation]:
    """Human scores and two systems' errors, as the arguments of ``confidence`` have them."""
    relation = Relation(item_correlation, system_bias_sd)  # refused even where it does not count
    return population(scores, sd), relation if paired else replace(relation, shared=0.0)


def _closed(cells: Floats, source: Population, relation: Relation) -> Floats:
    rated = source.variance + noise_sd(cells[:, 0], source.sd) ** 2
    delta = np.abs(cells[:, 2])
    return right_order(delta, rated, cells[:, 1], relation.shared, relation.bias_sd)


def _ceiling(delta: Floats, bias_sd: float) -> Floats:
    if bias_sd == 0:
        return np.ones_like(delta)
    return np.asarray(ndtr(np.abs(delta) / (bias_sd * math.sqrt(2))), dtype=np.float64)


def _checked(cells: Floats) -> None:
    r, n, delta = cells.T
    if not ((r > 0) & (r <= 1)).all():
        raise ValueError("A correlation with people must be above 0 and at most 1.")
    if not ((n >= 1) & np.isfinite(n) & (n == np.floor(n))).all():
        raise ValueError("N must be a whole number of items, at least 1.")
    if not (np.isfinite(delta) & (delta != 0)).all():
        raise ValueError(
            "delta must be a number other than 0: with equal systems no order is the right one."
        )
