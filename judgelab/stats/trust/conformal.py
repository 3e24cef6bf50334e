"""Where people's grade lies, given a judge's: split conformal intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats


@dataclass(frozen=True)
class GradeInterval:
    """People's grade is within ``half`` of intercept + slope x judge's grade.

    Attributes:
        half: infinite where there are too few labels for the level.
        n: labelled items that the half width comes from, one response of each.
        levels: people's grades, where they are few; then the ends are among them.
    """

    intercept: float
    slope: float
    half: float
    n: int
    levels: Floats

    def at(self, value: Floats) -> tuple[Floats, Floats]:
        """Ends for these grades of the judge, rounded outwards to levels (2509.18658)."""
        centre = self.intercept + self.slope * np.asarray(value, dtype=np.float64)
        low, high = centre - self.half, centre + self.half
        if len(self.levels):
            below = np.searchsorted(self.levels, low + 1e-9, side="right") - 1
            above = np.searchsorted(self.levels, high - 1e-9, side="left")
            last = len(self.levels) - 1
            low, high = self.levels[np.clip(below, 0, last)], self.levels[np.clip(above, 0, last)]
        unknown = np.isnan(centre)
        return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


def quantile(scores: Floats, miss: float) -> float:
    """The ceil((m + 1)(1 - miss))-th smallest of m scores; infinite where there is none."""
    rank = math.ceil(round((len(scores) + 1) * (1 - miss), 9))
    return float(np.sort(scores)[rank - 1]) if rank <= len(scores) else math.inf


def grade_interval(
    values: Floats,
    truth: Floats,
    cluster: NDArray[np.intp],
    levels: Floats,
    miss: float,
    rng: np.random.Generator,
) -> GradeInterval:
    """A line fitted on half of the clusters, its half width from the other half.

    Holds people's grade of a new item in at least 1 - ``miss`` of cases, on average over items
    that are like these; not for each grade by itself. One unit of each cluster enters.

    Args:
        values, truth: [units]; NaN where unknown.
        cluster: [units] numbers from 0.
        levels: of people's grades, sorted; empty where grades are not in levels.
    """
    known = np.flatnonzero(~np.isnan(values) & ~np.isnan(truth))
    order = rng.permutation(known)
    _, first = np.unique(cluster[order], return_index=True)
    chosen = rng.permutation(order[first])  # one unit of each cluster
    fit, rest = chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :]
    slope, intercept = _line(values[fit], truth[fit])
    half = quantile(np.abs(truth[rest] - intercept - slope * values[rest]), miss)
    return GradeInterval(intercept, slope, half, len(rest), levels)


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Slope and intercept of y on x; a constant where x does not vary."""
    if len(x) < 3 or np.ptp(x) == 0:
        return 0.0, float(y.mean()) if len(y) else 0.0
    slope = float(np.cov(x, y)[0, 1] / x.var(ddof=1))
    return slope, float(y.mean() - slope * x.mean())
