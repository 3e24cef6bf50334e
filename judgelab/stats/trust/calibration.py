"""What people say where a judge says k: the calibration curve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.ends import share_ends
from judgelab.stats.trust.clustered import per_cluster
from judgelab.stats.trust.scale_use import MOST_LEVELS


@dataclass(frozen=True)
class Level:
    """Where a judge says ``value`` (of a bin: its mean).

    Attributes:
        share: of the judge's values.
        n, clusters: labelled units there.
        people: mean of what people say there; interval low, high.
    """

    value: float
    share: float
    n: int
    clusters: int
    people: float
    low: float
    high: float


def levels(values: Floats, bins: int) -> Floats:
    """[units] the level of each value: itself, or where there are too many its quantile bin."""
    known = values[~np.isnan(values)]
    if len(np.unique(known)) <= MOST_LEVELS:
        return values
    edges = np.unique(np.quantile(known, np.linspace(0, 1, bins + 1)[1:-1]))
    return np.where(np.isnan(values), np.nan, np.searchsorted(edges, values, side="right"))


def calibration(
    values: Floats,
    truth: Floats,
    cluster: NDArray[np.intp],
    bounds: tuple[float, float],
    bins: int = 10,
    level: float = 0.95,
) -> Iterator[Level]:
    """E[Y | F = k] of one judge, from its lowest level to its highest.

    Args:
        values, truth: [units] of the judge, and of people; NaN where unknown.
        cluster: [units] numbers from 0.
        bounds: least and largest value that people can give.
        bins: of equal counts, for judges with more than ``MOST_LEVELS`` different values.
    """
    placed = levels(values, bins)
    judged = int((~np.isnan(values)).sum())
    for one in np.unique(placed[~np.isnan(placed)]):
        here = placed == one
        known = here & ~np.isnan(truth)
        _, group = np.unique(cluster[known], return_inverse=True)
        spread = per_cluster(truth[known], group)
        low, high = share_ends(spread, level, bounds)
        mean = float(truth[known].mean()) if known.any() else float("nan")
        value = float(values[here].mean())
        share = float(here.sum()) / judged
        yield Level(value, share, int(known.sum()), len(spread), mean, float(low), float(high))
