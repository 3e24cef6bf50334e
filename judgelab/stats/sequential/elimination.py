"""Who stands above whom for sure, and who must be asked more to know: successive elimination.

All pairs of competitors are compared on the items that both were asked about. A pair whose order
is sure is not asked again; a competitor without an open pair drops out. Each order is a bet
(bounded scores) or a mixture of t (others) that holds at every look, Holm over all of them, so the
chance that any order that is called sure is wrong, at any time, is at most 1 - confidence. Where
ties are called sure, too, that chance is shared: of each pair (1 - confidence) / pairs is spent on
at most two wrong answers that it can have, the two orders of equals, or an order and a tie of
others, half on each (Bonferroni; Holm's steps would count on hypotheses that ties leave open).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import Floats, Mask, checked
from judgelab.stats.intervals.holm import holm
from judgelab.stats.sequential.ends import (
    Bounds,
    betting_p,
    sequence_ends,
    surely_within,
    t_above_p,
)


@dataclass(frozen=True)
class Standing:
    """What is sure after some items, of competitors.

    Attributes:
        above: [competitors, competitors] whether the row is surely above the column; with what
            follows (a above b, b above c: a above c).
        p: [competitors, competitors] adjusted p that the row is not above the column; NaN diagonal.
        both: [competitors, competitors] items on which both have scores.
    """

    above: Mask
    p: Floats
    both: Floats

    @property
    def open(self) -> Mask:
        """[competitors, competitors] pairs of which neither order is sure."""
        return np.asarray(~(self.above | self.above.T | np.eye(len(self.above), dtype=np.bool_)))

    def wanted(self, top: int | None) -> Mask:
        """[competitors, competitors] open pairs that matter: all, or those for who is in the top.

        Of no interest are pairs of somebody who is surely below ``top`` others, and of two who are
        surely above all but ``top``.
        """
        pairs = self.open
        if top is not None:
            out, inside = self.rank_low > top, self.rank_high <= top
            pairs[out] = pairs[:, out] = False
            pairs[np.ix_(inside, inside)] = False
        return pairs

    @property
    def rank_low(self) -> Floats:
        """[competitors] best rank that is left: 1 + those surely above."""
        return np.asarray(1.0 + self.above.sum(axis=0))

    @property
    def rank_high(self) -> Floats:
        """[competitors] worst rank that is left."""
        return np.asarray(float(len(self.above)) - self.above.sum(axis=1))


def standing(
    scores: ArrayLike,
    confidence: float,
    bounds: Bounds | None,
    pool: int | None = None,
    *,
    stepwise: bool = True,
) -> Standing:
    """Which orders are sure.

    Args:
        scores: [items, competitors] in the order in which items were asked, higher is better; NaN:
            not asked, or unscored. A competitor that dropped out has NaN from then on.
        confidence: that all orders which are called sure are right.
        bounds: least and largest score; None: there are none.
        pool: the order by the means of so many items, of which these were drawn at random (bounded
            scores only); None: of all items like these.
        stepwise: Holm over both orders of all pairs; else Bonferroni, which leaves room for
            ``ties`` of the same confidence.
    """
    table = checked(scores, 2, "The scores of a race").T
    gaps = table[:, None] - table[None]
    if bounds is None:
        p = t_above_p(gaps)
    else:
        p = betting_p(np.clip(gaps / (bounds[1] - bounds[0]), -1, 1), pool)
    apart = ~np.eye(len(table), dtype=np.bool_)
    adjusted = np.full(p.shape, np.nan)
    adjusted[apart] = holm(p[apart]) if stepwise else np.minimum(1.0, p[apart] * apart.sum())
    above = np.where(apart, np.nan_to_num(adjusted, nan=1.0) <= 1 - confidence, False)
    both = (~np.isnan(gaps)).sum(axis=-1).astype(np.float64)
    return Standing(_closed(above), adjusted, both)


def ties(
    scores: ArrayLike,
    reach: float,
    confidence: float,
    bounds: Bounds | None,
    pool: int | None = None,
) -> Mask:
    """[competitors, competitors] pairs whose means surely differ by less than ``reach``.

    Tested over all pairs, not over the open ones alone: which these are was found by looking.

    Args:
        scores, bounds, pool: as of ``standing``.
        confidence: that all ties are right, and all orders of ``standing`` without steps.
    """
    table = checked(scores, 2, "The scores of a race").T
    first, second = np.triu_indices(len(table), 1)
    near = np.zeros((len(table),) * 2, np.bool_)
    if first.size:
        each = 1 - (1 - confidence) / len(first)
        span = None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])
        near[first, second] = surely_within(table[first] - table[second], reach, each, span, pool)
    return np.asarray(near | near.T)


def _closed(above: Mask) -> Mask:
    """With all that follows from what is sure; an order that contradicts another is not sure."""
    reach = above.copy()
    for k in range(len(reach)):
        reach |= reach[:, [k]] & reach[[k]]
    return np.asarray(reach & ~reach.T)


def widths(
    scores: ArrayLike, level: float, bounds: Bounds | None, pool: int | None = None
) -> Floats:
    """[competitors] width of each mean's interval; infinite where there is none yet."""
    low, high = sequence_ends(checked(scores, 2, "The scores of a race").T, level, bounds, pool)
    return np.asarray(np.where(np.isnan(high - low), np.inf, high - low))
