"""Standardised mean difference of a metric before and after a change of the texts (GEM paper).

d = (mean' - mean) / sqrt((s^2 + s'^2) / 2) over rows, section 4.2. A row is one score before and
one after; rows of one item (the same text against several references, say) are not independent,
so intervals and tests that hold are over items.

Throughout, NaN is unscored; shapes other than named, and infinities, are a ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from judgelab.stats.intervals.arrays import ROUNDING, Floats, checked_pair, divide
from judgelab.stats.intervals.ends import mean_ends, of_ratio, ratio_ends
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import sign_flip_p

SmdDefinition = Literal["corrected", "paper", "released"]
Verdict = Literal["falls", "does not fall", "rises", "does not rise", "undecided"]

MULTIPLIER: Mapping[str, float] = MappingProxyType({"paper": 1.96, "released": 1.645})
"""Standard errors on either side of d in the intervals over rows."""

FEWEST = 6
"""Items that a verdict takes: with n items the least two-sided p of sign flips is 2 / 2^n, which
is above .05 up to five; intervals from so few assume the normal law."""


def standardized_mean_difference(
    before: ArrayLike,
    after: ArrayLike,
    cluster: ArrayLike,
    definition: SmdDefinition = "corrected",
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    """d with its interval.

    d is the same in all definitions (s with ddof 1); the intervals differ:

    paper: d +- 1.96 sd(after - before) / (sqrt(rows) sigma), rows taken as independent and sigma
        as known. p is of the same normal approximation.
    released: the same with 1.645. No code was released; the printed intervals of the two metrics
        that can be recomputed match 1.645 and not 1.96 (inferred), so "95 %" is 90 %.
    corrected: from leaving out each item with its rows (``ratio_ends``). In simulations with
        several rows per item it covers .93 to .97 (experiments/coverage), the percentile bootstrap
        over items .64 to .95, the rows-only 1.96 interval .58 to .89; on exponential scores an
        effect of 4 only .85 at 12 items.
        p: sign flips of whole items, of the sum over an item's rows.

    Args:
        before, after: [rows], in the unit of the metric.
        cluster: [rows], the item of each row: integers or strings.
        definition, draws, seed: whose interval and p; sign flips (corrected).

    Returns:
        n: rows scored on both sides; unscored: the other rows; clusters: items with a scored row.
        NaN with fewer than two such rows or without spread; no interval below three items
        (corrected).
    """
    x, y = checked_pair(before, after, 1, "The standardised mean difference")
    known = ~(np.isnan(x) | np.isnan(y))
    item = np.unique(np.asarray(cluster)[known], return_inverse=True)[1]
    x, y = _common_scale(x[known], y[known])
    n, unscored, clusters = len(x), int(np.count_nonzero(~known)), int(item.max(initial=-1)) + 1
    variance = (x.var(ddof=1) + y.var(ddof=1)) / 2 if n > 1 else 0.0
    if not variance > 0:
        return Estimate(np.nan, n=n, unscored=unscored, clusters=clusters)
    d = float((y - x).mean() / np.sqrt(variance))
    if definition == "corrected":
        low, high = _ends(x, y, item, clusters, d)
        p = sign_flip_p(np.bincount(item, y - x, clusters), draws, seed)
    else:
        error = float((y - x).std(ddof=1) / np.sqrt(n * variance))
        half, p = MULTIPLIER[definition] * error, _normal_p(d, error)
        low, high = d - half, d + half
    return Estimate(d, low, high, n, unscored, p, clusters)


MARGIN = 0.1
"""A change of d up to this counts as none: half of what is called a small effect."""


def verdict(
    expects: Literal["fall", "no_rise"], estimate: Estimate, margin: float | None = MARGIN
) -> Verdict:
    """What a change did, held against what an honest metric does (GEM paper, Tables 2 to 4).

    Under a degradation (``fall``) "falls" where the interval lies wholly below 0, "does not fall"
    where it lies wholly above -margin; under a manipulation (``no_rise``) "does not rise" where it
    lies wholly below the margin, else "rises" where it lies wholly above 0. That nothing happened
    is a claim of its own: an interval that allows both is "undecided". So is one from fewer than
    ``FEWEST`` items, and a missing one, unless no item moved at all.

    Args:
        margin: in d; None: as the paper words it, where a change that is not significant counts
            as none.
    """
    if estimate.clusters is not None and estimate.clusters < FEWEST:
        return "undecided"
    if np.isnan(estimate.low) or np.isnan(estimate.high):
        if estimate.value != 0:
            return "undecided"
        return "does not fall" if expects == "fall" else "does not rise"  # no item moved at all
    if expects == "fall":
        if estimate.high < 0:
            return "falls"
        return "does not fall" if margin is None or estimate.low > -margin else "undecided"
    if margin is not None and estimate.high < margin:
        return "does not rise"
    if estimate.low > 0:
        return "rises"
    return "does not rise" if margin is None else "undecided"


def _common_scale(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Both sides shifted and scaled alike (d does not change); 0 where all spread is rounding."""
    both = np.concatenate([x, y])
    if both.size == 0:
        return x, y
    largest = float(np.abs(both).max())
    if max(np.ptp(x), np.ptp(y)) <= ROUNDING * largest:
        return np.zeros_like(x), np.zeros_like(y)
    centre = float((both / largest).mean())
    return x / largest - centre, y / largest - centre


def _ends(
    x: Floats, y: Floats, item: NDArray[np.intp], clusters: int, d: float
) -> tuple[float, float]:
    """The farther ends of two intervals: of d, and of the mean change with sigma as it is.

    The second has Hall's correction, as skewness of the changes shows most where d is small.
    """
    sigma = np.sqrt((x.var(ddof=1) + y.var(ddof=1)) / 2)
    sums = np.bincount(item, y - x, clusters), np.bincount(item, minlength=clusters)
    whole = ratio_ends(d, _without(x, y, item, clusters))
    change = mean_ends(of_ratio(*sums) / sigma)
    return float(np.fmin(whole[0], change[0])), float(np.fmax(whole[1], change[1]))


def _without(x: Floats, y: Floats, item: NDArray[np.intp], clusters: int) -> Floats:
    """[items] d without the rows of each item; NaN where the rest has no spread."""
    columns = (np.ones_like(x), x, y, x * x, y * y)
    sums = np.array([np.bincount(item, column, clusters) for column in columns])
    n, sx, sy, sxx, syy = sums.sum(axis=1, keepdims=True) - sums
    variance = divide(sxx - divide(sx**2, n) + syy - divide(sy**2, n), 2 * (n - 1))
    return divide(divide(sy - sx, n), np.sqrt(np.maximum(variance, 0.0)))


def _normal_p(value: float, error: float) -> float:
    if error > 0:
        return float(2 * ndtr(-abs(value) / error))
    return 0.0 if value else 1.0
