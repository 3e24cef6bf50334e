"""What a panel's scores hold together: information of pairs, the overseer's pay, effective rank.

Throughout, NaN is unscored; shapes other than named, and infinities, are a ValueError.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import ROUNDING, Floats, checked, divide, row_means
from judgelab.stats.intervals.ends import added, of_ratio, t_ends
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_mean

FEWEST = 3
"""Items that two agents must share for their correlation to count."""


def pair_information(pair: ArrayLike) -> dict[tuple[int, int], Estimate]:
    """(i, j), i < j -> the information that the two agents' texts share, by item means.

    Args:
        pair: [items, agents, agents] symmetric estimates of I(i; j); the diagonal is not read.
    """
    table = checked(pair, 3, "The information of pairs")
    first, second = np.triu_indices(table.shape[1], k=1)
    return {(int(i), int(j)): item_mean(table[:, i, j]) for i, j in zip(first, second, strict=True)}


def overseer(pair: ArrayLike) -> Estimate:
    """u_overseer: the sum of the estimates over ordered pairs i != j (TVD-MI paper, equation 2).

    The equation sums over all i and j, and u_i over j != i: no text is held against itself, and
    u_overseer is the sum of the u_i. A pair without any score in the panel is not in the sum; one
    that lacks some items counts there as the item's mean pair, so that the sums of items agree.

    Args:
        pair: [items, agents, agents], symmetric.
    """
    table = checked(pair, 3, "The information of pairs")
    rows = table[:, *np.triu_indices(table.shape[1], k=1)]
    rows = rows[:, ~np.isnan(rows).all(axis=0)]
    return item_mean(2 * rows.shape[1] * row_means(rows))


def effective_rank(scores: ArrayLike) -> Estimate:
    """In how many independent ways agents' scores vary over items: A^2 / sum_ij r_ij^2.

    The participation ratio of the eigenvalues of the agents' correlation matrix: 1 where all
    scores rise and fall together, A where none do. The TVD-MI paper draws d against an "effective
    rank" that neither it nor its code defines; this is our definition. Correlations of few items
    are noise as well, which lowers it: A unrelated agents have about A n / (n + A) on n items.

    Args:
        scores: [items, agents]. Agents without spread are left out; correlations are over the
            items that two agents share.

    Returns:
        The interval: leaving out each item in turn, t with n - 1 degrees of freedom.
    """
    table = checked(scores, 2, "The scores")
    table = table[~np.isnan(table).all(axis=1)]
    n, unscored = len(table), len(np.asarray(scores)) - len(table)
    value = _participation(table)
    if math.isnan(value):
        return Estimate(value, n=n, unscored=unscored)
    without = np.array([_participation(np.delete(table, k, axis=0)) for k in range(n)])
    low, high = (float(end) for end in t_ends(added(value, without)))
    return Estimate(value, max(low, 1.0), min(high, float(table.shape[1])), n, unscored)


def compression(source: ArrayLike, text: ArrayLike) -> Estimate:
    """Characters of the sources for each character of the texts, both summed over items.

    As the TVD-MI paper's ratios are made, though it does not say so: with human references this
    gives the printed ratio to the digit on all seven of its data sets that were released.

    Args:
        source, text: [items] characters; NaN or 0 for an item that lacks either.
    """
    top, bottom = checked(source, 1, "The sources"), checked(text, 1, "The texts")
    there = (top > 0) & (bottom > 0)
    known, kept = np.where(there, top, 0.0), np.where(there, bottom, 0.0)
    found = item_mean(of_ratio(known, kept, there))
    return replace(found, value=float(divide(known.sum(), kept.sum())))


def _participation(table: Floats) -> float:
    """A^2 / sum r^2, correlations that are not known being as large as the others."""
    scored = ~np.isnan(table)
    centred = np.where(scored, table - divide(np.nansum(table, axis=0), scored.sum(axis=0)), 0.0)
    largest = np.abs(np.where(scored, table, 0.0)).max(axis=0, initial=0.0)
    spread = np.abs(centred).max(axis=0, initial=0.0) > ROUNDING * largest
    centred, there = centred[:, spread], scored[:, spread].astype(np.float64)
    agents = centred.shape[1]
    if agents < 2:
        return math.nan
    shared = there.T @ there
    sums, squares = centred.T @ there, (centred**2).T @ there
    moment = centred.T @ centred - divide(sums * sums.T, shared)
    variance = squares - divide(sums**2, shared)
    r = divide(moment, np.sqrt(np.clip(variance * variance.T, 0, None)))
    r[(shared < FEWEST) | np.eye(agents, dtype=bool)] = np.nan
    if np.isnan(r).all():
        return math.nan
    return float(agents / (1 + (agents - 1) * np.nanmean(np.clip(r, -1, 1) ** 2)))
