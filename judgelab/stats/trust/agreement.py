"""How often judges agree with people: credits, and their means with clustered intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats, Mask, divide
from judgelab.stats.intervals.ends import (
    mean_ends,
    of_ratio,
    resampled_share_ends,
    share_ends,
)
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.clustered import cluster_sums, t_interval

Places = NDArray[np.intp]


def preference_credit(verdicts: ArrayLike, asked: Mask, target: ArrayLike) -> Floats:
    """Mean over the orders asked of 1 - |verdict - target|: 1 if alike, 1/2 if one of them ties.

    Args:
        verdicts: [judges, units, orders] 1, 0 or .5; missing where asked earns 0.
        asked: the same shape; NaN where no order was asked.
        target: [units] 1, 0 or .5, NaN: unknown, and so the credit.

    Returns:
        [judges, units].
    """
    return _credit(1 - np.abs(np.asarray(verdicts) - np.asarray(target)[:, None]), asked, target)


def category_credit(verdicts: ArrayLike, asked: Mask, target: ArrayLike) -> Floats:
    """1 where the category is the target's, 0 where it is not or is missing; shapes as above."""
    alike = np.asarray(verdicts) == np.asarray(target)[:, None]
    return _credit(alike.astype(np.float64), asked, target)


def _credit(earned: Floats, asked: Mask, target: ArrayLike) -> Floats:
    total = np.where(asked, np.nan_to_num(earned), 0.0).sum(axis=2)
    return np.where(np.isnan(np.asarray(target)), np.nan, divide(total, asked.sum(axis=2)))


def majority(share: ArrayLike) -> Floats:
    """1 above one half, 0 below, .5 at one half, NaN where unknown."""
    shares = np.asarray(share, dtype=np.float64)
    return np.asarray((1 + np.sign(np.round(shares - 0.5, 9))) / 2, dtype=np.float64)


def preferred_by_most(labels: ArrayLike) -> Floats:
    """[units] ``majority`` of preferences [units, raters]; NaN where people are split.

    As many for the one text as for the other, and fewer who call it a tie, is no tie: with two
    raters who often differ, always saying so would look right, and every judge wrong.
    """
    people = np.asarray(labels, dtype=np.float64)
    known = ~np.isnan(people)
    mean = divide(np.where(known, people, 0.0).sum(axis=1), known.sum(axis=1))
    found = majority(mean)
    split = (found == 0.5) & ((people == 1).sum(axis=1) > (people == 0.5).sum(axis=1))
    return np.where(split, np.nan, found)


def means_within(values: ArrayLike, group: Places, count: int) -> Floats:
    """[..., groups] mean of what is known [..., units] within each group; NaN without any."""
    cells = np.asarray(values, dtype=np.float64)
    known = cluster_sums(~np.isnan(cells), group)
    made = np.full((*cells.shape[:-1], count), np.nan)
    means = divide(cluster_sums(cells, group), known)
    made[..., : means.shape[-1]] = means
    return made


def clustered_ends(
    values: ArrayLike,
    cluster: Places,
    bounds: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
    weight: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Ends for the mean over items [..., items], items of one cluster not being independent.

    Shares (bounds (0, 1)) by ``share_ends``, changes (bounds below 0) by ``mean_ends``, from what
    each cluster adds to the mean.

    Args:
        weight: [items]; None: all alike.
    """
    cells = np.asarray(values, dtype=np.float64)
    w = np.ones(cells.shape[-1]) if weight is None else np.asarray(weight, dtype=np.float64)
    count = cluster_sums(w * ~np.isnan(cells), cluster)
    added = of_ratio(cluster_sums(w * cells, cluster), count)
    if bounds[0] < 0:
        return mean_ends(added, level, bounds)
    return share_ends(added, level, bounds)


def clustered_means(
    values: ArrayLike,
    cluster: Places,
    bounds: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
    weight: ArrayLike | None = None,
) -> list[Estimate]:
    """Mean over items of each row [rows, items] with its interval; n counts items."""
    cells = np.atleast_2d(np.asarray(values, dtype=np.float64))
    known = ~np.isnan(cells)
    low, high = clustered_ends(cells, cluster, bounds, level, weight)
    w = known * (1.0 if weight is None else np.asarray(weight, dtype=np.float64))
    mean = divide(np.where(known, w * cells, 0.0).sum(axis=1), w.sum(axis=1))
    groups = (cluster_sums(known, cluster) > 0).sum(axis=1)
    n = known.sum(axis=1)
    numbers = zip(mean.tolist(), low.tolist(), high.tolist(), n.tolist(), groups, strict=True)
    return [
        Estimate(m, a, b, k, cells.shape[1] - k, clusters=int(g) if g < k else None)
        for m, a, b, k, g in numbers
    ]


def wider(
    found: list[Estimate], draws: Floats, groups: int, bounds: tuple[float, float], level: float
) -> list[Estimate]:
    """The estimates with the farther ends of their own and of those that resamples give.

    Of shares Wilson's with the spread of the draws, else t of it, G - 1 degrees of freedom.

    Args:
        draws: [draws, rows] the statistic in resampled clusters.
        groups: clusters drawn.
    """
    made = []
    for one, drawn in zip(found, draws.T, strict=True):
        if bounds[0] == 0:
            low, high = resampled_share_ends(one.value, drawn, groups, level)
        else:
            error = float(drawn[~np.isnan(drawn)].std()) if (drawn == drawn).any() else np.nan
            error *= np.sqrt(groups / max(groups - 1, 1))
            low, high = np.clip(t_interval(one.value, error, groups, level), *bounds)
        ends = float(np.fmin(low, one.low)), float(np.fmax(high, one.high))
        made.append(replace(one, low=ends[0], high=ends[1]))
    return made


def cross_fitted(
    values: ArrayLike, names: Sequence[object], fold: Places, group: int = 5
) -> tuple[Floats, Floats]:
    """[units] mean of the values under the unit's name in the other folds, and of how many.

    Args:
        values: [units]; NaN where unknown.
        names: [units] a system or a stratum.
        fold: [units] from 0 to ``group`` - 1.

    Returns:
        NaN and 0 where the other folds have none.
    """
    _, code = np.unique(np.asarray([str(name) for name in names]), return_inverse=True)
    cells = np.asarray(values, dtype=np.float64)
    cell, size = code * group + fold, (code.max(initial=-1) + 1) * group
    total, count = (
        np.bincount(cell, weights=w, minlength=size).reshape(-1, group)
        for w in (np.nan_to_num(cells), (~np.isnan(cells)).astype(np.float64))
    )
    left = count.sum(axis=1, keepdims=True) - count
    others = divide(total.sum(axis=1, keepdims=True) - total, left)
    return np.asarray(others[code, fold]), np.asarray(left[code, fold])


def surely(difference: ArrayLike, *counts: ArrayLike) -> Floats:
    """1 or 0 where a difference of shares is surely above or below 0, else .5: neither.

    Surely: by two standard errors, each share's at most .5 / sqrt(count). What is said on less
    would turn on a few labels.
    """
    off = np.nan_to_num(np.asarray(difference, dtype=np.float64))
    error = sum(divide(0.5, np.sqrt(np.asarray(n, dtype=np.float64))) for n in counts)
    said = np.where(np.abs(off) > 2 * np.nan_to_num(error, nan=np.inf), np.sign(off), 0.0)
    return np.asarray((1 + said) / 2, dtype=np.float64)
