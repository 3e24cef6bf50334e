"""What judges say together when nobody knows the truth: one-coin Dawid-Skene.

Every judge is right with a probability of its own, alike for every unit and every answer, and its
errors are independent of the others' given the truth. Neither can be tested without labels, and
judges that share an error are taken for judges that are right. What comes out is a reading of a
panel, never an accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgelab.stats.intervals.arrays import Floats, Mask

EDGE = 1e-6
"""Probabilities of being right are kept that far from 0 and 1."""

FEWEST = 3
"""Judges below which the model has more unknowns than two answers can tell apart."""


@dataclass(frozen=True)
class OneCoin:
    """What the model makes of each panel of judges.

    Attributes:
        right: [panels, judges] probability that a judge is right, of judges outside the panel,
            too: the most likely one, with the members' as they are. NaN where it gave no answer,
            or the panel is too small.
        answers: [panels, units, levels] probability of each answer; NaN where no member gave one.
        steps: of the algorithm.
        settled: whether it stopped by itself.
    """

    right: Floats
    answers: Floats
    steps: int
    settled: bool


def reports(verdicts: Floats, levels: int = 2) -> Floats:
    """[judges, units, levels] how often a judge gave each answer to a unit, over orders.

    Args:
        verdicts: [judges, units, orders] numbers of levels; of two levels 1, 0, and .5, which is
            half an answer to each. NaN is none.
    """
    if levels == 2:
        second = np.nan_to_num(verdicts).sum(axis=2)
        return np.stack([(~np.isnan(verdicts)).sum(axis=2) - second, second], axis=2)
    return np.stack([(verdicts == k).sum(axis=2) for k in range(levels)], axis=2).astype(float)


def one_coin(
    counts: Floats,
    panels: Mask | None = None,
    tolerance: float = 1e-7,
    *,
    most: int = 2000,
    outside: bool = True,
) -> OneCoin:
    """Expectation-maximisation from the majority's shares, for many panels at once.

    A judge that is right with probability p weighs log p - log((1 - p) / (levels - 1)). All levels
    are alike beforehand: which text of a pair is stored first says nothing. (crowd-kit's
    ``OneCoinDawidSkene``, the test's oracle, estimates these shares, too.)

    Args:
        counts: [judges, units, levels] of ``reports``.
        panels: [panels, judges] who is asked; None: one panel of all.
        tolerance: largest change of ``right`` at which it stops.
        most: steps.
        outside: whether judges outside a panel are rated by it, too; else they are NaN.
    """
    judges, units, levels = counts.shape
    members = np.ones((1, judges), np.bool_) if panels is None else panels
    flat, given = counts.reshape(judges, -1), counts.sum(axis=(1, 2))
    small = (members & (given > 0)).sum(axis=1) < FEWEST

    def shares(votes: Floats) -> Floats:
        """[panels, judges] from what is proportional to the answers' probabilities."""
        return np.asarray((votes.reshape(len(members), -1) @ flat.T) / np.maximum(given, EDGE))

    votes = (members.astype(float) @ flat).reshape(-1, units, levels)
    asked = votes.sum(axis=2, keepdims=True)
    answers = np.where(asked > 0, votes / np.maximum(asked, EDGE), 1 / levels)
    right, step, change = shares(answers), 0, np.inf
    while step < most and change > tolerance:
        p = np.clip(right, EDGE, 1 - EDGE)
        weight = np.where(members, np.log(p) - np.log((1 - p) / (levels - 1)), 0.0)
        score = (weight @ flat).reshape(-1, units, levels)
        answers = np.exp(score - score.max(axis=2, keepdims=True))
        answers /= answers.sum(axis=2, keepdims=True)
        before, right, step = right, shares(answers), step + 1
        change = float(np.abs(right - before).max(initial=0))
    for panel, answer, among in zip(right, answers, members, strict=True):
        outer = ~among & outside
        panel[outer] = _beside(answer, counts[outer], given[outer], tolerance)
        panel[~among & ~outer] = np.nan
    lost = small[:, None, None] | (asked == 0)
    unknown = small[:, None] | (given == 0)
    return OneCoin(
        np.where(unknown, np.nan, right),
        np.where(lost, np.nan, answers),
        step,
        bool(change <= tolerance),
    )


def _beside(answers: Floats, counts: Floats, given: Floats, tolerance: float) -> Floats:
    """[judges] probabilities of being right of judges outside the panel whose answers these are.

    Agreement with uncertain answers is too low: the judge's own answer has a say in what is right.
    """
    levels = answers.shape[-1]
    own = np.moveaxis(counts, 2, 0)
    known = np.log(np.maximum(np.moveaxis(answers, 1, 0), EDGE**2))[:, None]
    right = (own * np.exp(known)).sum(axis=(0, 2)) / np.maximum(given, EDGE)
    change, step = np.inf, 0
    while step < 200 and change > tolerance:
        p = np.clip(right, EDGE, 1 - EDGE)
        weight = np.log(p) - np.log((1 - p) / (levels - 1))
        score = known + weight[:, None] * own
        share = np.exp(score - score.max(axis=0))
        found = (own * share / share.sum(axis=0)).sum(axis=(0, 2)) / np.maximum(given, EDGE)
        change, right, step = float(np.abs(found - right).max(initial=0)), found, step + 1
    return np.asarray(right)


def chosen(answers: Floats) -> Floats:
    """[..., units] number of the most probable answer; NaN where it is not known, or tied."""
    top = answers.max(axis=-1, keepdims=True)
    single = (answers >= top - 1e-9).sum(axis=-1) == 1
    return np.where(single, np.nan_to_num(answers).argmax(axis=-1), np.nan)
