"""What a panel's scores hold together, and whether d bends over it (TVD-MI paper, appendix B.1).

Throughout, NaN is unscored; shapes other than named, and infinities, are a ValueError.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike
from scipy.special import fdtrc

from judgelab.stats.intervals.arrays import ROUNDING, Floats, check_array, check_pair, divide
from judgelab.stats.intervals.ends import contributions, of_ratio, t_ends
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_mean

FEWEST = 3  # items that two agents must share for their correlation to count


def effective_rank(scores: ArrayLike) -> Estimate:
    """In how many independent ways agents' scores vary over items: A^2 / sum_ij r_ij^2.

    The participation ratio of the agents' correlation matrix: 1 where all scores rise and fall
    together, A where none do; a definition of ours (the TVD-MI paper gives none). Correlations of
    few items are noise as well, which lowers it: to about A n / (n + A) on n items.

    Of scores [items, agents]; agents without spread are left out, and correlations are over the
    items that two agents share. The interval leaves out each item in turn: t with n - 1 degrees.
    """
    table = check_array(scores, 2, "The scores")
    table = table[~np.isnan(table).all(axis=1)]
    n, unscored = len(table), len(np.asarray(scores)) - len(table)
    value = _participation(table)
    if math.isnan(value):
        return Estimate(value, n=n, unscored=unscored)
    without = np.array([_participation(np.delete(table, k, axis=0)) for k in range(n)])
    low, high = (float(end) for end in t_ends(contributions(value, without)))
    return Estimate(value, max(low, 1.0), min(high, float(table.shape[1])), n, unscored)


def _participation(table: Floats) -> float:
    """A^2 / sum r^2, correlations that are not known being as large as the others."""
    frame = pd.DataFrame(table)
    spread = frame.max() - frame.min() > ROUNDING * frame.abs().max()
    r = frame.loc[:, spread].corr(min_periods=FEWEST).to_numpy(copy=True)
    agents = len(r)
    np.fill_diagonal(r, np.nan)
    if np.isnan(r).all():
        return math.nan
    return float(agents / (1 + (agents - 1) * np.nanmean(r**2)))


def compression(source: ArrayLike, text: ArrayLike) -> Estimate:
    """Characters of the sources for each character of the texts, both summed over [items]; an item
    that lacks either has NaN or 0 of it."""
    top, bottom = check_pair(source, text, 1, "Sources and texts")
    has_both = (top > 0) & (bottom > 0)
    sources, texts = np.where(has_both, top, 0.0), np.where(has_both, bottom, 0.0)
    ratio = item_mean(of_ratio(sources, texts, has_both))
    return replace(ratio, value=float(divide(sources.sum(), texts.sum())))


@dataclass(frozen=True)
class QuadraticFit:
    """y = a + b x + c x^2 against y = a + b x.

    The peak is the x of the parabola's turning point: a minimum where curvature is positive; it may
    lie outside the data.
    """

    r2_linear: float  # share of the variance of y that the line explains
    r2_quadratic: float
    f: float  # F(1, n - 3) of the quadratic term; infinite for a perfect parabola
    p: float
    peak: float  # NaN where curvature is 0
    curvature: float  # c, in units of y / x^2
    n: int  # points used


def quadratic_against_linear(x: ArrayLike, y: ArrayLike) -> QuadraticFit:
    """Least squares of degree 1 and 2 of [points], and the F test between them.

    The paper calls the quadratic term significant for every mechanism; on its own Table 2 (n = 10)
    that of MI is not (p = .32). Everything but n is NaN with fewer than four points, fewer than
    three distinct x, or a constant y.
    """
    first, second = check_pair(x, y, 1, "The regression")
    usable = ~(np.isnan(first) | np.isnan(second))
    first, second, n = first[usable], second[usable], int(usable.sum())
    height = float(np.abs(second).max(initial=0.0))
    if n < 4 or len(np.unique(first)) < 3 or np.ptp(second) <= ROUNDING * height:
        return QuadraticFit(*(math.nan,) * 6, n)
    fits = [Polynomial.fit(first, second, degree) for degree in (1, 2)]
    line, parabola = (float(((second - fit(first)) ** 2).sum()) for fit in fits)  # residual squares
    total = float(((second - second.mean()) ** 2).sum())
    # a residual of rounding noise counts as 0, and 0 / 0 as no gain
    noise = ROUNDING * total
    f = 0.0
    if line > noise:
        f = math.inf if parabola <= noise else max((line - parabola) / parabola * (n - 3), 0.0)
    bend = float(fits[1].coef[2])  # of x from -1 to 1
    curvature = bend / (np.ptp(first) / 2) ** 2 if abs(bend) > ROUNDING * height else 0.0
    peak = float(fits[1].deriv().roots()[0]) if curvature else math.nan
    p = float(fdtrc(1, n - 3, f))
    return QuadraticFit(1 - line / total, 1 - parabola / total, f, p, peak, float(curvature), n)
