"""Generators f of f-divergences: convex on t >= 0, f(1) = 0, f(0) the right limit at 0.

D_f(P || Q) = sum of Q f(P / Q). Values are in nats where a logarithm is taken. Each takes a
number or an array of t >= 0. ``concave`` in a docstring says whether phi(p) = p^2 (f(1/p) -
f(0)) is concave on (0, 1], the condition under which Lemma F.1 of the TVD-MI paper holds (see
``judgelab.stats.discrimination.information``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from judgelab.stats.intervals.arrays import Floats

Generator = Callable[[Any], ArrayLike]
"""f: takes t >= 0 (a number or an array) and returns f(t) of the same shape."""


def tvd_generator(t: ArrayLike) -> Floats:
    """|t - 1| / 2: total variation. f(0) = 1/2; concave."""
    return np.abs(np.asarray(t, dtype=np.float64) - 1) / 2


def kl_generator(t: ArrayLike) -> Floats:
    """t ln t: Shannon mutual information in nats. f(0) = 0; concave."""
    ratio = np.asarray(t, dtype=np.float64)
    return np.asarray(xlogy(ratio, ratio), dtype=np.float64)


def chi2_generator(t: ArrayLike) -> Floats:
    """(t - 1)^2: Pearson chi squared. f(0) = 1; phi is linear, the border of concave."""
    return (np.asarray(t, dtype=np.float64) - 1) ** 2


def hellinger_generator(t: ArrayLike) -> Floats:
    """(sqrt(t) - 1)^2 / 2: squared Hellinger distance in [0, 1]. f(0) = 1/2; concave."""
    return (np.sqrt(np.asarray(t, dtype=np.float64)) - 1) ** 2 / 2


def jensen_shannon_generator(t: ArrayLike) -> Floats:
    """Jensen-Shannon divergence in nats, at most ln 2. f(0) = ln(2) / 2; concave."""
    ratio = np.asarray(t, dtype=np.float64)
    middle = (ratio + 1) / 2
    return np.asarray(xlogy(ratio, ratio) / 2 - xlogy(middle, middle), dtype=np.float64)
