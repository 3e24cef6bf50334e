"""The draw of the items to be labelled next, with the chance that each item had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgelab.core.judgments import JudgmentTable
from judgelab.stats.intervals.arrays import Floats, Mask, divide
from judgelab.stats.trust.active import (
    Predicted,
    chances,
    drawn,
    in_either,
    predicted,
    predicted_gain,
    together,
)
from judgelab.stats.trust.agreement import means_within
from judgelab.stats.trust.ties import folds
from judgelab.study.audit.credits import Credits
from judgelab.study.audit.doubt import doubts

Target = Literal["verdict", "agreement"]
"""What labels are for: agreement alone, or also the gain over controls that a verdict rests on."""

FEWEST_LABELS = 30
"""Labelled items below which nothing foretells where judges err."""


@dataclass(frozen=True)
class LabelPool:
    """Items with and without labels; all [items], or [judges, items].

    Attributes:
        labelled: has a label on some unit.
        open: has none, and some judge judged it.
        before: chance that it had of a label so far; 1 for labelled items where that is not
            known: then these are as they are, and the draw stands for the others.
        known: whether the chances of earlier labels are known.
        credit: of the judges that are asked about, NaN without label.
        doubt: [judges, items, features].
        told: what earlier labels tell of all items: of agreement and, below it, of the gain over
            the control that is hardest to beat, where a verdict is asked for; None where they are
            too few.
    """

    labelled: Mask
    open: Mask
    before: Floats
    known: bool
    credit: Floats
    doubt: Floats
    told: Predicted | None


@dataclass(frozen=True)
class Draw:
    """Which items are next; all [items].

    Attributes:
        chosen: to be labelled.
        now: chance of being drawn in this round; of labelled items what it would have been.
        chance: of a label in this round or before.
        turn: place in the order of labelling among those drawn, from 1; 0: not drawn.
        gain: share of the variance that unequal chances would save; NaN: not known.
        equal: whether all had the same chance.
    """

    chosen: Mask
    now: Floats
    chance: Floats
    turn: NDArray[np.int64]
    gain: float
    equal: bool


def pool_of(
    table: JudgmentTable,
    found: Credits,
    judges: list[int],
    sampled: bool | None,
    target: Target,
) -> LabelPool:
    """The items of a table, and what their labels tell of these judges."""
    count = len(found.items)
    any_label = means_within(np.where(table.labelled, 1.0, np.nan), found.place, count)
    asked = table.asked[judges].any(axis=(0, 2))
    judged = means_within(np.where(asked, 1.0, np.nan), found.place, count)
    labelled, open_ = ~np.isnan(any_label), np.isnan(any_label) & ~np.isnan(judged)
    credit, doubt = found.item[judges], doubts(table, found.place, count)[judges]
    enough, told = enough_labels(credit), None
    if enough.any():
        targets, about = credit[enough], doubt[enough]
        if target == "verdict":
            targets = np.concatenate([targets, _hardest(found.gains[judges][enough])])
            about = np.concatenate([about, about])
        told = predicted(targets, about, folds(found.cluster))
    chance = means_within(table.units.chance, found.place, count)
    before, known = _before(chance, labelled, open_, sampled)
    return LabelPool(labelled, open_, before, known, credit, doubt, told)


def enough_labels(credit: Floats) -> Mask:
    """[judges] of whom enough is known to tell where they err."""
    return np.asarray((~np.isnan(credit)).sum(axis=1) >= FEWEST_LABELS, np.bool_)


def _hardest(gains: Floats) -> Floats:
    """[judges, items] gains over the control that a judge beats least, of [judges, controls, ...].

    A verdict rests on them, not on agreement alone: a pair on which a judge contradicts itself is
    worth half a credit whatever people say of it, but a control may earn 0 or 1 there.
    """
    mean = divide(np.nansum(gains, axis=2), (~np.isnan(gains)).sum(axis=2))
    least = np.argmin(np.nan_to_num(mean, nan=np.inf), axis=1)
    return np.asarray(gains[np.arange(len(gains)), least])


def _before(
    chance: Floats, labelled: Mask, open_: Mask, sampled: bool | None
) -> tuple[Floats, bool]:
    """Chances of a label so far, and whether they are known.

    Chances of 1 say nothing where items without a label are left.
    """
    given, share = chance[labelled], float(labelled.sum() / max((labelled | open_).sum(), 1))
    told = bool(len(given)) and not np.isnan(given).any() and not (given.min() == 1 > share)
    if told and not np.isnan(chance[open_]).any() and (chance[open_] < 1).all():
        return chance, True
    if told and np.ptp(given) < 1e-9:
        return np.full(len(chance), given[0]), True
    if sampled and not told:
        return np.full(len(chance), share), True
    return labelled.astype(float), told or not labelled.any()


def next_draw(
    pool: LabelPool, budget: int, tau: float, least: float, rng: np.random.Generator
) -> Draw:
    """Equal chances, unless earlier labels predict that unequal ones save a share ``least``."""
    count, budget = len(pool.open), min(budget, int(pool.open.sum()))
    gain, spread = float("nan"), np.ones(count)
    if pool.told is not None:
        u = together(pool.told.spread)
        pilot = ~np.isnan(pool.told.residual).all(axis=0)
        gain = predicted_gain(pool.told.residual[:, pilot], u[pilot], tau)
        spread = u if gain >= least else spread
    now = np.minimum(1.0, budget * _share(spread, pool.open, tau))
    now[pool.open] = chances(spread[pool.open], budget, tau)
    chosen = np.zeros(count, np.bool_)
    chosen[pool.open] = drawn(now[pool.open], rng)
    turn = np.zeros(count, np.int64)
    turn[chosen] = rng.permutation(int(chosen.sum())) + 1
    chance = np.where(pool.labelled | pool.open, in_either(pool.before, now), np.nan)
    return Draw(chosen, now, chance, turn, gain, bool(np.ptp(spread) == 0))


def _share(spread: Floats, open_: Mask, tau: float) -> Floats:
    """What an item's chance is in shares of the budget, as if it were open."""
    return np.asarray(tau / open_.sum() + (1 - tau) * spread / spread[open_].sum())
