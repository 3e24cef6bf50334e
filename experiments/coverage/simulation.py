"""One cell of the table: a statistic, a law of the scores, a number of items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.coverage.scores import Law, sample
from experiments.coverage.statistics import STATISTICS, Statistic
from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.intervals.ends import Ends

LARGE = 300_000  # items of the one data set whose estimate is the truth

TYPICAL = 4000
"""Data sets whose median estimate is the truth of a statistic that grows with their size."""

SLACK = 1e-9


@dataclass(frozen=True)
class Coverage:
    """How often an interval holds the truth."""

    held: float  # share of the data sets with an interval whose interval holds the truth
    above: float  # above, below: shares in which the interval lies above the truth, or below it
    below: float
    width: float  # mean, of the data sets with an interval
    none: float  # share of the data sets without an interval


@dataclass(frozen=True)
class Cell:
    """A row of the table; ``percentile`` is the papers' interval on the same data sets."""

    statistic: str
    law: Law
    items: int
    level: float
    sets: int
    truth: float
    ours: Coverage
    percentile: Coverage


def simulate(name: str, law: Law, items: int, sets: int = 5000, seed: int = 1) -> Cell:
    """Truth from other data sets than those whose intervals are tried."""
    statistic = STATISTICS[name]
    count = max(sets // 5, 1) if statistic.slow else sets
    truth = truth_of(statistic, law, items)
    result = statistic.of(sample(law, count, items, seed))
    ours, theirs = (coverage(ends, truth) for ends in (result.ends, result.percentile))
    return Cell(name, law, items, statistic.level, count, truth, ours, theirs)


def truth_of(statistic: Statistic, law: Law, items: int) -> float:
    """The estimate of a very large data set; or the median one of as many items."""
    if statistic.typical:
        return float(np.median(statistic.value(sample(law, TYPICAL, items, 2))))
    return float(statistic.value(sample(law, 1, LARGE, 2))[0])


def coverage(ends: Ends, truth: float) -> Coverage:
    """Of the intervals [sets]."""
    low, high = ends
    valid = ~np.isnan(low)
    if not valid.any():
        return Coverage(*(float("nan"),) * 4, none=1.0)

    def share(which: Floats | Mask) -> float:
        return float(np.mean(which[valid]))

    above, below = share(low > truth + SLACK), share(high < truth - SLACK)
    return Coverage(1 - above - below, above, below, share(high - low), float(np.mean(~valid)))
