"""What moves a judge beside quality: the place of a text, a manipulation, and chance.

Of each pair one text, drawn, is manipulated: M is the share of the orders that it wins, minus the
same with an edit that changes nothing in its place. "Falls" is a test, and "does not fall" one of
equivalence: what neither finds has no answer yet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from judgelab.stats.intervals.arrays import Floats, Mask, divide, row_means
from judgelab.stats.intervals.ends import Ends, cluster_sums, mean_ends, of_ratio
from judgelab.stats.intervals.estimate import Estimate, Estimates
from judgelab.stats.trust.agreement import Places, Shares


def position_bias(verdicts: Floats, asked: Mask, cluster: NDArray[np.intp]) -> Estimates:
    """Share of the two orders that the text shown first won [judges]; .5 without bias.

    2306.05685, 2305.17926; a mean over units that were asked about in both orders. Verdicts that
    change with the order, few and to one side, make it skewed: on 50 pairs Student's interval holds
    in .59 of the cases, Hall's (``mean_ends``) in .92 to 1.

    Args:
        verdicts, asked: [judges, units, 2], 1 where the text stored first won; order 1 shows it
            second.
        cluster: [units] numbers from 0; n counts those of units with a verdict in both orders,
            unscored the units asked in both orders of which a verdict is missing.
    """
    won = np.where(asked.all(axis=2), (verdicts[..., 0] + 1 - verdicts[..., 1]) / 2, np.nan)
    each = of_ratio(cluster_sums(won, cluster), cluster_sums(~np.isnan(won), cluster))
    ends = mean_ends(each, bounds=(0.0, 1.0))
    missing = (asked.all(axis=2) & np.isnan(won)).sum(axis=1)
    return Estimates.of(row_means(won), ends, (~np.isnan(each)).sum(axis=1), missing)


PAIRS = 10  # pairs of either label below which the two orders show nothing


def crossed_orders(verdicts: Floats, labels: Floats) -> Mask:
    """[judges] whether verdicts [judges, units, 2] surely say what labels [units, raters] say in
    one order of the texts, and the opposite in the other, as where numbers were read wrongly.

    The mean over pairs of which people prefer the first, and of which they prefer the second: who
    takes what is shown first is right in one half of either order, however unequal labels are.
    """
    truth = np.sign(row_means(labels) - 0.5)
    right = np.sign(verdicts - 0.5) * truth[:, None]
    means, counts = [], []
    for side in (1, -1):
        own = np.where((truth[:, None] == side) & (right != 0), right, np.nan)
        counts.append((~np.isnan(own)).sum(axis=1))
        means.append(row_means(own.transpose(0, 2, 1)))
    n, mean = np.array(counts), np.mean(means, axis=0)
    error = np.sqrt(divide(1.0, n).sum(axis=0)) / 2  # of a guess
    sure = (n.min(axis=0) >= PAIRS) & (np.abs(mean) > 2 * error)
    return np.asarray(np.prod(np.where(sure, np.sign(mean), 0), axis=1) < 0, np.bool_)


RARE = 10
"""Moved items below which an interval by their spread does not hold: then Clopper and Pearson's."""


def move_ends(moves: Floats, level: float = 0.95) -> Ends:
    """Ends of the mean of moves [..., items] between -1 and 1, by ``mean_ends``.

    Where fewer than ``RARE`` items moved the farther one of these and Clopper and Pearson's of the
    moves to that side alone, which hold however few there are. Where none did, that is
    1 - ((1 - level) / 2)^(1 / n): below .05 from 59 items on.
    """
    low, high = mean_ends(moves, level, (-1.0, 1.0))
    moved = (np.nan_to_num(moves) != 0).sum(axis=-1)
    n = (~np.isnan(moves)).sum(axis=-1)
    up, down = (_share_bound(np.maximum(x, 0), n, level) for x in (moves, -moves))
    rare = moved < RARE
    return np.where(rare, np.fmin(low, -down), low), np.where(rare, np.fmax(high, up), high)


def _share_bound(shares: Floats, n: NDArray[np.intp], level: float) -> Floats:
    """[...] Clopper and Pearson's upper end of the mean of shares [..., items], of n scored."""
    total = np.nansum(shares, axis=-1)
    rest = np.maximum(n - total, 0)
    end = betaincinv(total + 1, np.maximum(rest, 1e-9), (1 + level) / 2)
    return np.asarray(np.where(n == 0, np.nan, np.where(rest > 0, end, 1.0)))


class Noise(NamedTuple):
    """Of units with two verdicts or more, each counted alike; n are clusters."""

    differ: Estimate  # share of the pairs of verdicts on a unit that are not the same
    apart: Estimate  # mean distance of the two verdicts of such a pair, in the unit of the verdicts
    units: int


def has_several(values: Floats) -> Mask:
    """[units] with two verdicts or more, of values [units, verdicts]."""
    return np.asarray((~np.isnan(values)).sum(axis=1) > 1, np.bool_)


def noise(values: Floats, cluster: Places) -> Noise:
    """From values [units, verdicts] (NaN: none) and numbers of clusters from 0 [units]."""
    there = has_several(values)
    rows = np.sort(np.round(values[there], 9), axis=1)  # NaN stand last
    has_value = ~np.isnan(rows)
    k = has_value.sum(axis=1)
    pairs = k * (k - 1) / 2
    place = 2 * np.arange(rows.shape[1]) + 1 - k[:, None]
    distance = np.where(has_value, rows * place, 0.0).sum(axis=1)
    alike, run = np.zeros(len(rows)), np.zeros(len(rows))
    for before, after in zip(rows.T[:-1], rows.T[1:], strict=True):
        run = np.where(before == after, run + 1, 0)  # a value meets each equal one before it
        alike += run
    shares = np.stack([1 - alike / pairs, distance / pairs, np.ones(len(rows))])
    differ, apart, count = cluster_sums(shares, cluster[there])
    far = Shares.of(apart, count)
    low, high = mean_ends(far.adds)
    mean = Estimates.of(far.value, (np.maximum(low, 0.0), high), (count > 0).sum())
    return Noise(Shares.of(differ, count).estimates().at(), mean.at(), int(there.sum()))
