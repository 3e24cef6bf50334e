"""The true rate behind a judge that errs at known rates (Rogan and Gladen 1978; arXiv 2511.21140).

theta = (p + q0 - 1) / J with p the judge's rate, q1 = P(judge says 1 | truth 1), q0 = P(judge says
0 | truth 0) and J = q0 + q1 - 1. Only q0 and q1 carry over from the labelled items: the labels may
come from a population with another rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.trust.clustered import cluster_sums
from judgelab.stats.trust.labelled_pool import LabelledPool

FEWEST = 5
"""Labels of each class below which the judge's error rates are not known."""


@dataclass(frozen=True)
class TrueRate:
    """Arrays of one shape.

    Attributes:
        value, low, high: the rate within [0, 1]; NaN where ``refused``.
        youden, youden_low: J and the lower end of its interval: at 0 the judge says nothing.
        refused: the lower end of J is not above 0, or a class has too few labels.
    """

    value: Floats
    low: Floats
    high: Floats
    youden: Floats
    youden_low: Floats
    refused: NDArray[np.bool_]


def true_rate(
    rate: ArrayLike,
    count: ArrayLike,
    q0: ArrayLike,
    m0: ArrayLike,
    q1: ArrayLike,
    m1: ArrayLike,
    level: float = 0.95,
) -> TrueRate:
    """The interval of arXiv 2511.21140: smoothed rates, and a centre shifted for their error.

    Args:
        rate, count: the judge's rate p, and of how many items without a label.
        q0, m0: share of the m0 items labelled 0 that the judge calls 0.
        q1, m1: share of the m1 items labelled 1 that the judge calls 1.
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    p, n, a0, k0, a1, k1 = (np.asarray(x, dtype=np.float64) for x in (rate, count, q0, m0, q1, m1))
    youden = a0 + a1 - 1
    value = np.clip(divide(p + a0 - 1, youden), 0, 1)
    smooth = divide(n * p + z**2 / 2, n + z**2)
    s0, s1 = divide(k0 * a0 + 1, k0 + 2), divide(k1 * a1 + 1, k1 + 2)
    gap = s0 + s1 - 1
    centre = np.clip(divide(smooth + s0 - 1, gap), 0, 1)
    noise0, noise1 = divide(s0 * (1 - s0), k0 + 2), divide(s1 * (1 - s1), k1 + 2)
    shift = 2 * z**2 * (-(1 - centre) * noise0 + centre * noise1)
    sampling = divide(smooth * (1 - smooth), n + z**2)
    variance = sampling + (1 - centre) ** 2 * noise0 + centre**2 * noise1
    half = divide(z * np.sqrt(variance), gap)
    middle = centre + shift
    youden_low = gap - z * np.sqrt(noise0 + noise1)
    refused = (youden_low <= 0) | (k0 < FEWEST) | (k1 < FEWEST)

    def shown(x: Floats) -> Floats:
        return np.where(refused, np.nan, np.clip(x, 0, 1))

    return TrueRate(shown(value), shown(middle - half), shown(middle + half), youden, youden_low,
                    np.asarray(refused, np.bool_))  # fmt: skip


def rate_behind(pool: LabelledPool, level: float = 0.95) -> TrueRate:
    """Of the units without a label, from how often the judge errs on those that have one.

    Units count for as many independent ones as would vary as much between clusters. Values between
    0 and 1 (orders that differ) vary less than this allows for. Without such units, or with labels
    other than 0 and 1 (ties, raters who differ), there is no answer.
    """
    y, f = pool.truth[pool.columns], np.nan_to_num(pool.values[:, pool.columns])
    cluster = np.unique(pool.cluster[pool.columns], return_inverse=True)[1]
    q1, m1 = _share(pool.weight * y * f, pool.weight * y, cluster)
    q0, m0 = _share(pool.weight * (1 - y) * (1 - f), pool.weight * (1 - y), cluster)
    rest = pool.judged & ~pool.labelled
    p, count = _share(
        np.where(rest, np.nan_to_num(pool.values), 0.0), np.asarray(rest, np.float64), pool.cluster
    )
    made = true_rate(p, count, q0, m0, q1, m1, level)
    unfit = made.refused | ~(count > 0) | (not np.isin(y, (0.0, 1.0)).all())
    hidden = {
        name: np.where(unfit, np.nan, getattr(made, name)) for name in ("value", "low", "high")
    }
    return replace(made, **hidden, refused=unfit)


def _share(top: Floats, bottom: Floats, cluster: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """[judges] sum(top) / sum(bottom), and how many independent units it is of."""
    total, count = cluster_sums(top, cluster), cluster_sums(bottom, cluster)
    rate = divide(total.sum(axis=1), count.sum(axis=1))
    off = divide(total - rate[:, None] * count, count.sum(axis=1, keepdims=True))
    units = (bottom > 0).sum(axis=1).astype(np.float64)
    as_many = divide(rate * (1 - rate), (off**2).sum(axis=1))
    return rate, np.where(as_many > 0, np.fmin(as_many, units), units)
