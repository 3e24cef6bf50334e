"""Gaps between systems: sums that any choice of systems can be fitted from, and what gaps show.

Two systems' means differ by what people see between them, by the judge's errors that a system's
texts share, and by what sampled items add. The last is known from the items, and is taken out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv

from judgelab.stats.intervals.arrays import Floats, checked_pair, divide

ROUNDING = 1e-12
"""Share of the largest score below which a difference of means, or a sd, is rounding."""


@dataclass(frozen=True)
class SystemMoments:
    """Sums that any choice of systems can be fitted from.

    Attributes:
        sums: [systems, 6] count, h, m, h^2, m^2, h m over the texts scored by both, where h is
            the human and m the metric score less their overall means.
        largest: human and metric score in magnitude, to tell a spread from rounding.
        shared: [systems, systems] items on which both systems are scored by both.
        gap_human, gap_metric: [systems, systems] mean over shared items of the row's score minus
            the column's.
        var_human, var_metric, cov: [systems, systems] of these differences over items.
    """

    sums: Floats
    largest: tuple[float, float]
    shared: Floats
    gap_human: Floats
    gap_metric: Floats
    var_human: Floats
    var_metric: Floats
    cov: Floats


@dataclass(frozen=True)
class Gaps:
    """Pairs of systems that share more than two items.

    Attributes:
        systems: in any such pair.
        shared, gap_human, ...: [pairs], as in SystemMoments.
    """

    systems: int
    shared: Floats
    gap_human: Floats
    gap_metric: Floats
    var_human: Floats
    var_metric: Floats
    cov: Floats


@dataclass(frozen=True)
class Component:
    """A variance between systems: what their gaps show, less what sampled items add to it.

    Attributes:
        shown: mean over pairs of half the squared gap.
        sampled: the part of it that sampled items explain.
        freedom: independent differences between systems that ``shown`` rests on.
    """

    shown: float
    sampled: float
    freedom: int

    def sd(self, smallest: float) -> float:
        """Its root, 0 where it is not above 0 or only rounding."""
        root = float(np.sqrt(max(self.shown - self.sampled, 0.0)))
        return root if root > smallest else 0.0

    def interval(self) -> tuple[float, float]:
        """95 % interval of the root: ``shown`` as a chi-square, ``sampled`` as known."""
        quantiles = 2 * gammaincinv(self.freedom / 2, [0.975, 0.025])
        ends = self.shown * self.freedom / quantiles - self.sampled
        low, high = np.sqrt(np.maximum(ends, 0.0))
        return float(low), float(high)


def bias_component(pairs: Gaps, slope: float) -> Component:
    """Of metric / slope - human, in human units; needs a pair."""
    gaps = pairs.gap_metric / slope - pairs.gap_human
    noise = pairs.var_metric / slope**2 - 2 * pairs.cov / slope + pairs.var_human
    return _component(gaps, noise / pairs.shared, pairs.systems - 1, pairs.systems - 1)


def line_component(pairs: Gaps) -> tuple[float, Component]:
    """Slope of the metric's system means on people's, and what is left about it, in metric
    units; needs three systems and a gap between human means."""
    steep = float((pairs.gap_human * pairs.gap_metric).sum() / (pairs.gap_human**2).sum())
    gaps = pairs.gap_metric - steep * pairs.gap_human
    noise = pairs.var_metric - 2 * steep * pairs.cov + steep**2 * pairs.var_human
    # the line took one of the systems' differences
    return steep, _component(gaps, noise / pairs.shared, pairs.systems - 1, pairs.systems - 2)


def _component(gaps: Floats, sampled: Floats, differences: int, freedom: int) -> Component:
    shown = differences / freedom * float((gaps**2).mean()) / 2
    return Component(shown, float(sampled.mean()) / 2, freedom)


def system_moments(human: ArrayLike, metric: ArrayLike) -> SystemMoments:
    """Sums over texts and over pairs of systems.

    Args:
        human: [items, systems], NaN where nobody scored.
        metric: [items, systems], NaN where unscored.

    Raises:
        ValueError: shapes differ, or infinities.
    """
    first, second = checked_pair(human, metric, 2, "Human and metric scores")
    known = ~(np.isnan(first) | np.isnan(second))
    largest = [float(np.abs(x[known]).max(initial=0.0)) for x in (first, second)]
    if known.any():
        first, second = first - first[known].mean(), second - second[known].mean()
    h, m, w = np.where(known, first, 0.0), np.where(known, second, 0.0), known.astype(np.float64)
    parts = (w, h, m, h * h, m * m, h * m)
    shared = w.T @ w

    def gap(x: Floats) -> Floats:
        total = x.T @ w  # [i, j]: sum of i's scores over the items shared with j
        return divide(total - total.T, shared)

    def spread(x: Floats, y: Floats) -> Floats:
        own, cross = (x * y).T @ w, x.T @ y
        total = own + own.T - cross - cross.T
        return divide(total - shared * gap(x) * gap(y), np.where(shared > 1, shared - 1, 0.0))

    return SystemMoments(
        np.stack([part.sum(axis=0) for part in parts], axis=1),
        (largest[0], largest[1]),
        shared,
        gap(h),
        gap(m),
        spread(h, h),
        spread(m, m),
        spread(h, m),
    )


def gaps_between(moments: SystemMoments, chosen: NDArray[np.bool_]) -> Gaps:
    """Every pair of the chosen systems (a mask [systems]), once."""
    enough = np.outer(chosen, chosen) & (moments.shared > 2)
    np.fill_diagonal(enough, False)
    usable = np.triu(enough)
    return Gaps(
        int(enough.any(axis=1).sum()),
        moments.shared[usable],
        moments.gap_human[usable],
        moments.gap_metric[usable],
        moments.var_human[usable],
        moments.var_metric[usable],
        moments.cov[usable],
    )
