"""How judges use a scale: which levels, how evenly, and how far from people's grades."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats, Mask, divide
from judgelab.stats.intervals.ends import t_ends
from judgelab.stats.trust.clustered import per_cluster
from judgelab.stats.trust.linear import clustered_linear

MOST_LEVELS = 20
"""A judge with more distinct values has no levels: it scores on a line."""


@dataclass(frozen=True)
class ScaleUse:
    """The use of a scale; all [judges].

    Attributes:
        n: units with a value; labelled, clusters: those with people's value, too.
        distinct: different values.
        entropy: of its levels in bits; NaN for a judge without levels. ``people`` is people's.
        slope: of people's value on the judge's, whether one point more of the judge is worth one
            point of people; its interval slope_low, slope_high.
        bias: (judge's mean - people's mean) / standard deviation of people's; bias_low, bias_high;
            NaN where the scales differ.
        spread: standard deviation of the judge's values over that of people's.
        same_scale: all its values are levels between people's lowest and highest label.
    """

    n: NDArray[np.int64]
    labelled: NDArray[np.int64]
    clusters: NDArray[np.int64]
    distinct: NDArray[np.int64]
    entropy: Floats
    people: float
    slope: Floats
    slope_low: Floats
    slope_high: Floats
    bias: Floats
    bias_low: Floats
    bias_high: Floats
    spread: Floats
    same_scale: Mask


def entropy(values: Floats) -> float:
    """Bits of the distribution over distinct values; NaN without any, or above ``MOST_LEVELS``."""
    _, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    if not 0 < len(counts) <= MOST_LEVELS:
        return float("nan")
    share = counts / counts.sum()
    return float(-(share * np.log2(share)).sum()) + 0.0


def on_the_scale(values: Floats, labels: Floats) -> bool:
    """Whether a judge's values are few, and none is beyond what people gave."""
    given, said = labels[~np.isnan(labels)], np.unique(values[~np.isnan(values)])
    if not given.size or not 0 < said.size <= MOST_LEVELS:
        return False
    return bool(said[0] >= given.min() and said[-1] <= given.max())


def scale_use(
    values: Floats, labels: Floats, truth: Floats, cluster: NDArray[np.intp], level: float = 0.95
) -> ScaleUse:
    """Scale use of all judges.

    Args:
        values: [judges, units].
        labels: [units, raters] as people gave them.
        truth: [units] what people say together.
        cluster: [units] numbers from 0.
    """
    both = ~np.isnan(values) & ~np.isnan(truth)
    y = np.where(both, truth, np.nan)
    n = both.sum(axis=1)
    fit = clustered_linear(y, np.stack([np.ones_like(values), values], axis=2), cluster, level)
    mean = divide(np.nansum(y, axis=1), n)
    sd = np.sqrt(divide(np.nansum((y - mean[:, None]) ** 2, axis=1), n - 1))
    f = np.where(both, values, np.nan)
    f_mean = divide(np.nansum(f, axis=1), n)
    f_sd = np.sqrt(divide(np.nansum((f - f_mean[:, None]) ** 2, axis=1), n - 1))
    same = np.array([on_the_scale(one, labels) for one in values], np.bool_)
    bias = np.where(same, divide(f_mean - mean, sd), np.nan)
    # the standard deviation is estimated, too: its error is part of what units add
    z = divide(y - mean[:, None], sd[:, None])
    adds = divide(f - y, sd[:, None]) - bias[:, None] * (z**2 - 1) / 2
    bias_low, bias_high = t_ends(per_cluster(adds, cluster), level)
    shift = bias - np.where(n > 0, divide(np.nansum(adds, axis=1), n), np.nan)
    return ScaleUse(
        (~np.isnan(values)).sum(axis=1),
        n,
        fit.groups,
        np.array([len(np.unique(one[~np.isnan(one)])) for one in values], np.int64),
        np.array([entropy(one) for one in values]),
        entropy(labels),
        fit.coefficients[:, 1],
        fit.low[:, 1],
        fit.high[:, 1],
        bias,
        bias_low + shift,
        bias_high + shift,
        divide(f_sd, sd),
        same,
    )
