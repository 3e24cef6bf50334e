"""Does a manipulation move a judge? One-sided probes against a placebo, with a margin.

Of each pair one text, drawn, is attacked: the other stays. M is the share of the orders that the
attacked text wins, minus the same with an edit that changes nothing in its place. "Falls" is a
test, "does not fall" is one, too (of equivalence): what neither finds has no answer yet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri
from statsmodels.stats.multitest import multipletests

from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.bootstrap import sign_flip_p
from judgelab.stats.intervals.ends import Ends, mean_ends
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_mean

Outcome = Literal["falls", "does not fall", "no answer"]

RARE = 10
"""Moved items below which an interval by their spread does not hold: then Clopper and Pearson's."""

FLIPS = 10_000
"""Sign flips behind a p value: a Holm step of a hundred tests is still told apart."""


@dataclass(frozen=True)
class Probe:
    """What one manipulation did to one judge.

    Attributes:
        move: mean of M over clusters with a two-sided 95 % interval; ``p`` of the one-sided test
            that it is not above 0, after Holm; n clusters.
        bound: upper end of the one-sided interval at 1 - alpha, below which the move surely lies.
        outcome: falls, does not fall, or no answer.
        towards, away: share of the clusters that moved towards the attacked text, and away.
        needed: clusters with which a judge that it does not move is shown not to fall, with the
            power asked for.
    """

    move: Estimate
    bound: float
    outcome: Outcome
    towards: float
    away: float
    needed: int


def probed(
    moves: Floats,
    *,
    margin: float = 0.05,
    alpha: float = 0.05,
    power: float = 0.8,
    seed: int = 0,
) -> list[Probe]:
    """The outcome of every test (judges x probes), Holm over all of them.

    Does not fall: the one-sided bound lies below the margin, whether or not it is surely moved a
    little. Else falls: p <= alpha.

    Args:
        moves: [tests, clusters] of M, from -1 to 1; NaN unscored.
    """
    low, high = move_ends(moves)
    bound = move_ends(moves, 1 - 2 * alpha)[1]
    p = holm([_one_sided(row, seed) for row in moves])
    made = []
    for k, row in enumerate(moves):
        known = row[~np.isnan(row)]
        share = [float((known * sign > 0).mean()) if known.size else math.nan for sign in (1, -1)]
        outcome: Outcome = "no answer"
        if bound[k] < margin:
            outcome = "does not fall"
        elif p[k] <= alpha:
            outcome = "falls"
        value = float(known.mean()) if known.size else math.nan
        ends = float(low[k]), float(high[k])
        move = Estimate(value, *ends, known.size, row.size - known.size, float(p[k]))
        sd = float(known.std(ddof=1)) if known.size > 1 else math.nan
        need = items_needed(sd, margin, alpha=alpha, power=power)
        made.append(Probe(move, float(bound[k]), outcome, share[0], share[1], need))
    return made


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


def holm(p: ArrayLike) -> Floats:
    """p values after Holm; NaN stays NaN, and is no test."""
    raw = np.asarray(p, dtype=np.float64)
    known, found = ~np.isnan(raw), np.full(raw.shape, np.nan)
    if known.any():
        found[known] = multipletests(raw[known], method="holm")[1]
    return found


def _one_sided(row: Floats, seed: int) -> float:
    """p that the mean is not above 0, by flipping signs: edit and placebo are exchangeable."""
    two = sign_flip_p(row, FLIPS, seed)
    known = row[~np.isnan(row)]
    return two / 2 if known.size and known.mean() > 0 else 1 - two / 2


def _share_bound(shares: Floats, n: NDArray[np.intp], level: float) -> Floats:
    """[...] Clopper and Pearson's upper end of the mean of shares [..., items], of n scored."""
    total = np.nansum(shares, axis=-1)
    rest = np.maximum(n - total, 0)
    end = betaincinv(total + 1, np.maximum(rest, 1e-9), (1 + level) / 2)
    return np.asarray(np.where(n == 0, np.nan, np.where(rest > 0, end, 1.0)))


@dataclass(frozen=True)
class Jointly:
    """How often several judges were moved by the same item together.

    Attributes:
        majority: share of items that moved more than half of the judges, with an interval.
        majority_alone: what that would be if each judge were moved on items of its own.
        all_of_them, all_alone: the same of every judge.
    """

    majority: Estimate
    majority_alone: float
    all_of_them: Estimate
    all_alone: float


def jointly(moves: Floats) -> Jointly:
    """Of moves [judges, items]; items without a verdict of some judge are left out."""
    known = moves[:, ~np.isnan(moves).any(axis=0)]
    moved = known > 0
    count, judges = moved.sum(axis=0), len(moved)
    chance = np.ones(1)  # of 0, 1, ... judges, moved independently
    for share in moved.mean(axis=1) if known.size else ():
        chance = np.convolve(chance, [1 - share, share])
    unscored = moves.shape[1] - known.shape[1]

    def share_of(hits: NDArray[np.bool_]) -> Estimate:
        return replace(item_mean(hits.astype(np.float64), (0.0, 1.0)), unscored=unscored)

    more = np.arange(len(chance)) > judges / 2
    return Jointly(
        share_of(count > judges / 2),
        float(chance[more].sum()) if known.size else math.nan,
        share_of(count == judges),
        float(chance[-1]) if known.size else math.nan,
    )
