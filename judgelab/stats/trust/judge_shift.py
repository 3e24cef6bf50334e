"""How far a judge's own mean is off the corrected one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judgelab.stats.intervals.arrays import Floats, Mask, divide
from judgelab.stats.intervals.clusters import FEWEST, t_interval
from judgelab.stats.intervals.ends import of_ratio, share_ends
from judgelab.stats.trust.prediction_powered import Corrected, LabelledPool, Tuning, estimate

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
    corrected, slope = estimate(pool, tuning, level=level), pool.slopes(tuning)
    adds = pool.adds(-pool.off(slope, corrected.value), divide(1 - slope, pool.size))
    groups = np.where(pool.groups < FEWEST, np.nan, pool.groups)
    error = np.sqrt(divide(groups, groups - 2) * (adds**2).sum(axis=1))
    value = pool.mean - corrected.value
    low, high = t_interval(value, error, groups - 1, level)
    if share:
        few, least, most = _few_differ(pool, level)
        low, high = np.where(few, least, low), np.where(few, most, high)
        value = np.where(few, np.clip(value, low, high), value)
    return replace(corrected, value=value, error=error, low=low, high=high)


def _few_differ(pool: LabelledPool, level: float) -> tuple[Mask, Floats, Floats]:
    """[judges] whether few labels differ from the judge; ends of the mean difference then."""
    gap = pool.weight * (np.nan_to_num(pool.values[:, pool.columns]) - pool.truth)
    sides = []
    for each in (np.maximum(gap, 0.0), np.maximum(-gap, 0.0)):
        sums = pool.of_clusters(each)
        ends = share_ends(of_ratio(sums, pool.of_clusters(pool.weight)), level)
        sides.append((each.sum(axis=1), *ends, sums > 0))
    (up, up_low, up_high, over), (down, down_low, down_high, under) = sides
    low = up - down - np.sqrt((up - up_low) ** 2 + (down_high - down) ** 2)
    high = up - down + np.sqrt((up_high - up) ** 2 + (down - down_low) ** 2)
    return np.asarray((over | under).sum(axis=1) < RARE), low, high
