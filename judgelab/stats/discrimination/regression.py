"""Does a curve fit better than a line? (TVD-MI paper, appendix B.1: the inverted U.)"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import Floats, checked_pair

if TYPE_CHECKING:
    import statsmodels.api as sm  # type: ignore[import-untyped, unused-ignore]

ROUNDING = 1e-12
"""Relative size below which a sum of squares or a curvature is rounding noise."""


@dataclass(frozen=True)
class QuadraticFit:
    """y = a + b x + c x^2 against y = a + b x.

    Attributes:
        r2_linear: share of the variance of y explained by the line.
        r2_quadratic: share explained by the parabola.
        f: F(1, n - 3) of the quadratic term; infinite for a perfect parabola.
        p: its p value.
        peak: x of the parabola's turning point (a minimum where curvature is positive; it may
            lie outside the data); NaN where curvature is 0.
        curvature: c, in units of y / x^2.
        n: points used (those with NaN are left out).
    """

    r2_linear: float
    r2_quadratic: float
    f: float
    p: float
    peak: float
    curvature: float
    n: int


def quadratic_against_linear(x: ArrayLike, y: ArrayLike) -> QuadraticFit:
    """Least squares of degree 1 and 2, and the F test between them.

    The paper fits |d| on the compression ratio. Its text calls the quadratic term significant
    for every mechanism; on its own Table 2 (n = 10) that of MI is not (p = .32).

    Args:
        x: [points]; NaN is left out together with its partner.
        y: [points].

    Returns:
        Everything NaN (but n) with fewer than four points, fewer than three distinct x, or a
        constant y: there is then nothing to test.

    Raises:
        ValueError: shapes differ, or infinities.
    """
    first, second = checked_pair(x, y, 1, "The regression")
    kept = ~(np.isnan(first) | np.isnan(second))
    first, second = first[kept], second[kept]
    n = len(first)
    if n < 4 or len(np.unique(first)) < 3 or _flat(second):
        nan = math.nan
        return QuadraticFit(nan, nan, nan, nan, nan, nan, n)
    return _fit(first, second)


def _fit(x: Floats, values: Floats) -> QuadraticFit:
    """Fit on x centred and both scaled to [-1, 1], where the columns are well conditioned."""
    import statsmodels.api as sm

    centre, height = float(x.mean()), float(np.abs(values).max())
    scale = float(np.abs(x - centre).max())
    u, y = (x - centre) / scale, values / height
    line = sm.OLS(y, np.column_stack([np.ones_like(u), u])).fit()
    parabola = sm.OLS(y, np.column_stack([np.ones_like(u), u, u**2])).fit()
    slope, bend = float(parabola.params[1]), float(parabola.params[2])
    if abs(bend) <= ROUNDING:
        bend = 0.0
    peak = centre - scale * slope / (2 * bend) if bend else math.nan
    f, p = _f_test(line, parabola)
    curvature = height * bend / scale / scale
    return QuadraticFit(
        float(line.rsquared), float(parabola.rsquared), f, p, peak, curvature, len(u)
    )


def _f_test(
    line: sm.regression.linear_model.RegressionResults,
    parabola: sm.regression.linear_model.RegressionResults,
) -> tuple[float, float]:
    """F and p; a residual of rounding noise counts as 0, and 0 / 0 as no gain (F 0, p 1)."""
    noise = ROUNDING * float(line.centered_tss)
    if line.ssr <= noise:
        return 0.0, 1.0
    if parabola.ssr <= noise:
        return math.inf, 0.0
    f, p, _ = parabola.compare_f_test(line)
    return max(float(f), 0.0), float(p)


def _flat(values: Floats) -> bool:
    return bool(np.ptp(values) <= ROUNDING * np.abs(values).max())
