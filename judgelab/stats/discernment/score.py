"""Discernment scores: how surely a judge rates degraded texts lower (DHP paper, section 2.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from judgelab.stats.discernment.wilcoxon import Method, ZeroMethod, signed_rank_log_p
from judgelab.stats.intervals.arrays import Floats, checked_pair

Combine = Literal["harmonic", "printed"]
"""How p values of several metrics become one without weights: their harmonic mean,
M / sum(1/p), or as the paper prints it, 1 / sum(1/p), which is no mean: it is smaller by the
factor M, adds ln M / ln 20 to D (.463 for four metrics), and lets a judge that rates at random
pass D > 1 in a quarter of all cases."""

UNIT = math.log(20)  # nats in one unit of D: p = .05


class DiscernmentScores(NamedTuple):
    """Scores of one judge on one perturbation.

    Attributes:
        d: discernment without weights, log_.05 of the combined p: 0 for p = 1, 1 for p = .05.
        d_ew: with the weights (the paper's D^EW).
        p: [metrics] one-sided p of each metric; 0 only where it is too small for a float.
    """

    d: float
    d_ew: float
    p: Floats


def discernment(
    original: ArrayLike,
    perturbed: ArrayLike,
    weights: Sequence[float] | None = None,
    zero_method: ZeroMethod = "wilcox",
    combine: Combine = "harmonic",
    method: Method = "auto",
) -> DiscernmentScores:
    """Does the judge rate the perturbed texts lower? Wilcoxon per metric, then combined.

    Args:
        original: [items, metrics] ratings of the texts as they were; NaN where unscored. An item
            counts for a metric where both its ratings are there.
        perturbed: [items, metrics] ratings of the same items' perturbed texts.
        weights: of the metrics, adding up to 1; None weighs all alike.
        zero_method: what becomes of items rated alike. ``wilcox`` drops them, so that a fall of 3
            in 100 items passes D > 1 under the normal approximation; with ``zsplit`` it does not.
        combine: see ``Combine``; it concerns ``d`` only.
        method: null distribution of each test.

    Returns:
        All ratings alike: p = 1 and D = 0. NaN where a metric that counts has no pair of ratings.

    Raises:
        ValueError: the shapes differ, there is no metric, or the weights do not fit.
    """
    first, second = checked_pair(original, perturbed, 2, "Discernment")
    log_p = signed_rank_log_p((first - second).T, zero_method, method)
    weight = metric_weights(first.shape[1], weights)
    d, d_ew = combined(log_p, weight, combine)
    return DiscernmentScores(float(d), float(d_ew), np.exp(log_p))


def combined(
    log_p: Floats, weights: Floats, combine: Combine = "harmonic"
) -> tuple[Floats, Floats]:
    """D and D^EW [...] from log p [..., metrics] (equations of section 2.3).

    Raises:
        ValueError: an unknown way to combine.
    """
    if combine not in ("harmonic", "printed"):
        raise ValueError(f"combine={combine!r} must be harmonic or printed.")
    share = np.full_like(weights, 1 / len(weights) if combine == "harmonic" else 1.0)
    return _score(log_p, share), _score(log_p, weights)


def ceilings(items: int, method: Method = "auto") -> tuple[float, float]:
    """The largest D there is on so many items: where all fall alike, and each by its own amount.

    With the exact distribution both are those of p = 2^-items; with the normal approximation a
    judge of few grades can go higher than one whose falls all differ. Harmonic means of several
    metrics do not exceed them.

    Raises:
        ValueError: no items, or too many for ``exact``.
    """
    if items < 1:
        raise ValueError("Without items there is no discernment.")
    none = np.zeros((items, 1))
    falls = np.ones((items, 1)), np.arange(1.0, items + 1)[:, None]
    alike, own = (discernment(fall, none, method=method).d for fall in falls)
    return alike, own


def metric_weights(metrics: int, weights: Sequence[float] | None) -> Floats:
    """The weights [metrics] as an array; equal ones for None.

    Raises:
        ValueError: another length, a negative weight, or a sum that is not 1.
    """
    if metrics < 1:
        raise ValueError("Discernment needs at least one metric.")
    if weights is None:
        return np.full(metrics, 1 / metrics)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (metrics,) or not (given >= 0).all() or abs(given.sum() - 1) > 1e-6:
        raise ValueError(
            f"Weights of {metrics} metrics must be {metrics} numbers from 0 up that add up to 1, "
            f"but are {given.tolist()}."
        )
    return given


def level_balanced(values: ArrayLike, levels: Sequence[str]) -> Floats:
    """Mean over levels of the mean within each [...] of values [..., perturbations].

    Every level counts alike, however many perturbations it holds (section 2.3 gives no formula;
    this is its natural reading). NaN where a perturbation has no score.

    Raises:
        ValueError: as many levels as perturbations are needed, and at least one.
    """
    given = np.asarray(values, dtype=np.float64)
    if given.shape[-1:] != (len(levels),) or not levels:
        raise ValueError(f"{given.shape} values need one level each, but there are {len(levels)}.")
    names = np.array(levels)
    means = [given[..., names == level].mean(axis=-1) for level in dict.fromkeys(levels)]
    return np.asarray(np.mean(means, axis=0), dtype=np.float64)


def _score(log_p: Floats, weights: Floats) -> Floats:
    """-ln(1 / sum(w/p)) / ln 20, all in logarithms; metrics without weight are left out."""
    used = weights > 0
    total = logsumexp(-log_p[..., used], axis=-1, b=weights[used])
    return np.asarray(total / UNIT, dtype=np.float64) + 0.0
