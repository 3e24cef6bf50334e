"""How far a judge's own mean is off the corrected one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.intervals.ends import of_ratio, share_ends
from judgelab.stats.trust.clustered import FEWEST, cluster_sums, t_interval
from judgelab.stats.trust.labelled_pool import LabelledPool
from judgelab.stats.trust.prediction_powered import Corrected, Tuning, estimate, slopes

RARE = 5
"""Labelled clusters that differ from the judge below which Student's t says too little."""


def shift(
    pool: LabelledPool, level: float = 0.95, share: bool = False, tuning: Tuning = "power"
) -> Corrected:
    """The judge's own mean minus the corrected one (PPI++): how far its number is off.

    Args:
        share: of a rate. Where fewer than ``RARE`` labelled clusters differ from the judge,
            Student's t does not hold; then from these labels alone, by Wilson's intervals of the
            differences upwards and downwards, joined as by Zou and Donner (2008).
    """
    made = estimate(pool, tuning, level=level)
    slope = slopes(pool, tuning, divide(made.pool, made.pool - made.n), 0)
    errors = pool.errors(slope, made.value)
    squared = pool.squared(-errors, divide(1 - slope[:, 0], made.pool))
    groups = np.where(made.groups < FEWEST, np.nan, made.groups)
    error = np.sqrt(divide(groups, groups - 2) * np.maximum(squared, 0.0))
    value = pool.mean - made.value
    low, high = t_interval(value, error, groups - 1, level)
    if share:
        few, least, most = _few_differ(pool, level)
        low, high = np.where(few, least, low), np.where(few, most, high)
        value = np.where(few, np.clip(value, low, high), value)
    return replace(made, value=value, error=error, low=low, high=high)


def _few_differ(pool: LabelledPool, level: float) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """[judges] whether few labels differ from the judge; ends of the mean difference then."""
    f = np.where(pool.weight > 0, pool.values[:, pool.columns], np.nan)
    cluster = np.unique(pool.cluster[pool.columns], return_inverse=True)[1]
    sides = []
    for sign in (1, -1):
        gap = pool.weight * np.maximum(np.nan_to_num(sign * (f - pool.truth[pool.columns])), 0.0)
        each = of_ratio(cluster_sums(gap, cluster), cluster_sums(pool.weight, cluster))
        mean = gap.sum(axis=1)
        sides.append((mean, *share_ends(each, level), (cluster_sums(gap, cluster) > 0)))
    (up, up_low, up_high, over), (down, down_low, down_high, under) = sides
    few = (over | under).sum(axis=1) < RARE
    low = up - down - np.sqrt((up - up_low) ** 2 + (down_high - down) ** 2)
    high = up - down + np.sqrt((up_high - up) ** 2 + (down - down_low) ** 2)
    return np.asarray(few), low, high
