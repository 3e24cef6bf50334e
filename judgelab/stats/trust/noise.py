"""How often two of several verdicts on the same text differ: runs of a judge, labels of people."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.intervals.ends import cluster_sums, mean_ends
from judgelab.stats.intervals.estimate import Estimate, Estimates
from judgelab.stats.trust.agreement import Places, Shares


class Noise(NamedTuple):
    """Of units with two verdicts or more, each counted alike; n are clusters."""

    differ: Estimate  # share of the pairs of verdicts on a unit that are not the same
    apart: Estimate  # mean distance of the two verdicts of such a pair, in the unit of the verdicts
    units: int


def several(values: Floats) -> Mask:
    """[units] with two verdicts or more, of values [units, verdicts]."""
    return np.asarray((~np.isnan(values)).sum(axis=1) > 1, np.bool_)


def noise(values: Floats, cluster: Places) -> Noise:
    """From values [units, verdicts] (NaN: none) and numbers of clusters from 0 [units]."""
    there = several(values)
    ranked = np.sort(np.round(values[there], 9), axis=1)  # NaN stand last
    known = ~np.isnan(ranked)
    k = known.sum(axis=1)
    pairs = k * (k - 1) / 2
    place = 2 * np.arange(ranked.shape[1]) + 1 - k[:, None]
    distance = np.where(known, ranked * place, 0.0).sum(axis=1)
    alike, run = np.zeros(len(ranked)), np.zeros(len(ranked))
    for before, after in zip(ranked.T[:-1], ranked.T[1:], strict=True):
        run = np.where(before == after, run + 1, 0)  # a value meets each equal one before it
        alike += run
    shares = np.stack([1 - alike / pairs, distance / pairs, np.ones(len(ranked))])
    differ, apart, count = cluster_sums(shares, cluster[there])
    far = Shares.of(apart, count)
    ends = mean_ends(far.adds)
    n = (count > 0).sum()
    mean = Estimates.of(far.value, (np.maximum(ends[0], 0.0), ends[1]), n)
    return Noise(Shares.of(differ, count).estimates().at(), mean.at(), int(there.sum()))
