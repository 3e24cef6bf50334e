"""Does a manipulation move a judge? One-sided probes against a placebo, with a margin.

Of each pair one text, drawn, is attacked: the other stays. M is the share of the orders that the
attacked text wins, minus the same with an edit that changes nothing in its place. "Falls" is a
test, "does not fall" is one, too (of equivalence): what neither finds has no answer yet.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.ends import Ends, mean_ends

RARE = 10
"""Moved items below which an interval by their spread does not hold: then Clopper and Pearson's."""


def move_ends(moves: Floats, level: float = 0.95) -> Ends:
    """Ends of the mean of moves [..., items] between -1 and 1.

    Student's and Hall's (``mean_ends``); where fewer than ``RARE`` items moved the farther one of
    these and Clopper and Pearson's of the moves to that side alone, which hold however few there
    are. Where none did, that is 1 - ((1 - level) / 2)^(1 / n): below .05 from 59 items on.
    """
    low, high = mean_ends(moves, level, (-1.0, 1.0))
    moved = (np.nan_to_num(moves) != 0).sum(axis=-1)
    n = (~np.isnan(moves)).sum(axis=-1)
    up, down = (_share_bound(np.maximum(x, 0), n, level) for x in (moves, -moves))
    rare = moved < RARE
    return np.where(rare, np.fmin(low, -down), low), np.where(rare, np.fmax(high, up), high)


def items_needed(
    sd: float, margin: float = 0.05, *, alpha: float = 0.05, power: float = 0.8, sides: int = 1
) -> int:
    """Items with which a mean of 0 is shown to lie within a margin.

    ((z_alpha + z_power) sd / margin)^2, and for both sides z of (1 + power) / 2; never fewer than
    are needed where nothing moves: ln(alpha) / ln(1 - margin).

    Args:
        sd: of the moves; NaN: not known, then the fewest.
        sides: 1 for "below the margin", 2 for "within it" (TOST).
    """
    fewest = math.floor(math.log(alpha) / math.log(1 - margin)) + 1
    if math.isnan(sd):
        return fewest
    z = float(ndtri(1 - alpha)) + float(ndtri(power if sides == 1 else (1 + power) / 2))
    return max(fewest, math.ceil((z * sd / margin) ** 2))


def _share_bound(shares: Floats, n: NDArray[np.intp], level: float) -> Floats:
    """[...] Clopper and Pearson's upper end of the mean of shares [..., items], of n scored."""
    total = np.nansum(shares, axis=-1)
    rest = np.maximum(n - total, 0)
    end = betaincinv(total + 1, np.maximum(rest, 1e-9), (1 + level) / 2)
    return np.asarray(np.where(n == 0, np.nan, np.where(rest > 0, end, 1.0)))
