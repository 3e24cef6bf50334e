"""Many judges, one decision: weights, votes and ties (Auto-PRE paper, sections 3 and 5).

Verdicts are 1 where the first of two answers wins, 0 where the second does, .5 for a tie and NaN
where nothing could be read, always for the answers in one fixed order, whichever was shown first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats, divide

Weighting = Literal["equal", "score", "logit", "mean"]
Orders = Literal["merged", "per_order"]

TOLERANCE = 1e-9
"""Votes closer to a draw than this share of all that was cast are ties: sums are rounded."""

SUREST = 0.999
"""Numbers are cut off here before the logit, which is infinite at 1."""


@dataclass(frozen=True)
class Decision:
    """What a pool decided.

    Attributes:
        sign: 1 first answer, -1 second, 0 a tie, NaN where no judge of the pool voted; shape as
            the votes without their judges.
        ties: how many are exactly 0.
    """

    sign: Floats
    ties: int


def fusion_weights(exams: ArrayLike, sat: ArrayLike, rule: Weighting) -> Floats:
    """Weight of every judge.

    Args:
        exams: [..., exams, judges] the judges' numbers, NaN where one was not sat.
        sat: [exams] which of them admit to the pool.
        rule: ``equal`` 1; ``score`` the mean number over the exams that admit to the pool (the
            paper's rule, stated for the pool of all three); ``mean`` the mean over all exams,
            also those that the pool does not ask for; ``logit`` ln(p / (1 - p)) of the score, cut
            off at 0 (a judge at chance has no say) and at SUREST.

    Returns:
        [..., judges], not negative; NaN where the judge sat none of the exams that count.
    """
    values = np.asarray(exams, dtype=np.float64)
    chosen = np.asarray(sat, dtype=np.bool_)
    used = values if rule == "mean" or not chosen.any() else values[..., chosen, :]
    known = ~np.isnan(used)
    score = divide(np.where(known, used, 0.0).sum(axis=-2), known.sum(axis=-2))
    if rule == "equal":
        return np.ones(score.shape)
    if rule != "logit":
        return score
    sure = np.clip(score, 0.5, SUREST)
    return np.asarray(np.log(sure / (1 - sure)), dtype=np.float64)


def votes_of(verdicts: ArrayLike, orders: Orders = "merged") -> Floats:
    """Verdicts [..., orders] as votes for the first answer, -1 to 1 from each order.

    ``merged``: both orders of showing the answers are one vote, from -2 to 2; a tie in one order
    or an unread one adds nothing. ``per_order`` keeps the axis. NaN where nothing was read.
    """
    votes = 2 * np.asarray(verdicts, dtype=np.float64) - 1
    if orders == "per_order":
        return votes
    known = ~np.isnan(votes)
    return np.where(known.any(axis=-1), np.where(known, votes, 0.0).sum(axis=-1), np.nan)


def gaps_of(scores: ArrayLike, pairs: NDArray[np.int64]) -> Floats:
    """[..., pairs] grade of the first answer minus that of the second; NaN unless both have one.

    Args:
        scores: [..., agents].
        pairs: [pairs, 2] indices of agents.
    """
    cells = np.asarray(scores, dtype=np.float64)
    return np.asarray(cells[..., pairs[:, 0]] - cells[..., pairs[:, 1]])


def decide(votes: ArrayLike, weight: ArrayLike, tolerance: float = TOLERANCE) -> Decision:
    """Weighted majority of those who voted.

    Args:
        votes: [judges, ...] of ``votes_of`` or ``gaps_of``; NaN abstains. Differences of grades
            count by their size, so that a judge who saw no difference does not count.
        weight: [judges]; 0 or NaN keeps a judge out.
        tolerance: a balance within this share of all that was cast is a tie.

    Raises:
        ValueError: shapes do not fit, or a weight is negative.
    """
    cells = np.asarray(votes, dtype=np.float64)
    power = np.nan_to_num(np.asarray(weight, dtype=np.float64))
    if power.shape != cells.shape[:1]:
        raise ValueError(f"Votes {cells.shape} and weights {power.shape} do not fit together.")
    if (power < 0).any():
        raise ValueError("A judge cannot have a negative weight.")
    filled = np.nan_to_num(cells)
    voted = np.tensordot(power, (~np.isnan(cells)).astype(np.float64), axes=1)
    balance = np.tensordot(power, filled, axes=1)
    size = np.tensordot(power, np.abs(filled), axes=1)
    sign = np.where(np.abs(balance) <= tolerance * size, 0.0, np.sign(balance))
    sign = np.where(voted > 0, sign, np.nan)
    return Decision(sign, int(np.count_nonzero(sign == 0)))


def pooled_scores(scores: ArrayLike, weight: ArrayLike) -> Floats:
    """[items, agents] weighted mean of the judges' grades [judges, items, agents].

    Weights are [judges], or [judges, items] where every item has its own. A judge without a grade
    has no part in that answer's mean: an answer is not marked down for what a judge failed to
    say. NaN where no judge of the pool graded.
    """
    cells = np.asarray(scores, dtype=np.float64)
    power = np.nan_to_num(np.asarray(weight, dtype=np.float64))
    power = power[:, None, None] if power.ndim == 1 else power[:, :, None]
    known = ~np.isnan(cells)
    total = (power * np.where(known, cells, 0.0)).sum(axis=0)
    return divide(total, (power * known).sum(axis=0))
