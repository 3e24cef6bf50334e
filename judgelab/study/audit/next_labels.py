"""Which items should a person look at next, and where may a judge decide alone?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.result import Row, Table
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.trust.active import weighted_mean
from judgelab.study.audit.abstention_tables import By, abstention, grade_intervals
from judgelab.study.audit.credits import Credits, credits_of
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.next_draw import (
    FEWEST_LABELS,
    Draw,
    LabelPool,
    Target,
    enough_labels,
    next_draw,
    pool_of,
)
from judgelab.study.audit.part import AuditCase, AuditPart
from judgelab.study.common.tables import columns

Open = Annotated[float, Field(gt=0, lt=1)]
FILE = "records/next_labels.csv"
SHOWN = 20
"""Rows of the page's table; the file has all."""

HOW = (
    f"Which items next: {{}} of {{}} items without a label, in {FILE} (drawn = 1, in the order of "
    "turn). Chances: {}. To bring the labels back: fill in rater and {} there, add all rows of the "
    "file below those of your table, and run again with study.questions.next_labels.round={}. "
    "Estimates then weigh each label by its chance, so they stay right although the items were "
    "chosen."
)
EQUAL = "equal for all"
FEW = f"equal for all, as fewer than {FEWEST_LABELS} labelled items foretell nothing"
NO_GAIN = (
    "equal for all, as unequal ones would save {:.0%} of the labels by what labels so far tell"
)
UNEQUAL = (
    "larger where, by the labels so far, it is harder to foretell whether the judges are right "
    "(from how far their orders, and they, differ); that is to save {:.0%} of the labels"
)
UNKNOWN_BEFORE = (
    "The labels so far were chosen in a way that is not known, so that they stand for themselves "
    "alone, and the new ones for all other items. If they were drawn at random, say so with "
    "study.sampled=true: then they count in full."
)
NONE_LEFT = "Every item that was judged has a label: there is none to label next."


@dataclass(frozen=True)
class NextLabels(AuditPart):
    """A draw of items with known chances; risk and coverage of abstaining; intervals of grades.

    Args:
        budget: items to be labelled next.
        target: what labels are for: ``agreement`` with people alone, or a ``verdict``, which also
            rests on the gain over controls; chances for the one may not serve the other.
        judges: of whom it is to be known; null: all but the controls.
        tau: share of the budget that is spread evenly where chances differ.
        least_gain: share of the labels that unequal chances must save to be used.
        round: number of this draw; enters the seed.
        risk: how often a judge that decides alone may be wrong.
        delta: chance of a wrong promise about that.
        confidence: what its confidence is: that both orders agree (order), or the share of other
            judges that agree (judges); null: order where there are two.
        miss: how often people's grade may lie outside the interval of a grade.
    """

    name: ClassVar[str] = "next_labels"
    question: ClassVar[str] = "Which items should a person look at next?"
    budget: Count = 50
    target: Target = "verdict"
    judges: Sequence[str] | None = None
    tau: Open = 0.5
    least_gain: Open = 0.1
    round: Count = 1
    risk: Open = 0.1
    delta: Open = 0.05
    confidence: By | None = None
    miss: Open = 0.1

    def run(self, case: AuditCase) -> Findings:
        """See AuditPart."""
        found = credits_of(case.table)
        judges = self._judges(case)
        pool = pool_of(case.table, found, judges, case.sampled, self.target)
        parts = [self._next(case, found, pool), _weighted(case, found, pool, judges)]
        by_chance = case.sampled is False or _unequal(pool)
        if case.table.kind == "grade":
            parts.append(grade_intervals(case, self.miss, by_chance))
        else:
            parts.append(abstention(case, self.confidence, self.risk, self.delta, by_chance))
        return Findings(
            [table for one in parts for table in one.tables if table.rows],
            [name for one in parts for name in one.figures],
            notes=[said for one in parts for said in one.notes],
            summary=parts[0].summary,
        )

    def _judges(self, case: AuditCase) -> list[int]:
        names = case.table.names
        for name in self.judges or ():
            if name not in names:
                hint = did_you_mean(name, names)
                raise ConfigError(
                    f"study.questions.next_labels.judges: no judge is called {name!r}.{hint}"
                )
        return [
            k
            for k, one in enumerate(case.table.judges)
            if (one.name in self.judges if self.judges else not one.control)
        ]

    def _next(self, case: AuditCase, found: Credits, pool: LabelPool) -> Findings:
        """The draw, its file and its table."""
        if not pool.open.any():
            return Findings(notes=[NONE_LEFT])
        rng = np.random.default_rng([case.seed, self.round, 9])
        draw = next_draw(pool, self.budget, self.tau, self.least_gain, rng)
        write_draw(case, found, pool, draw, self.round)
        chosen = int(draw.chosen.sum())
        how = _chances(pool, draw), _label(case), self.round + 1
        notes = [HOW.format(chosen, int(pool.open.sum()), *how)]
        notes += [] if pool.known else [UNKNOWN_BEFORE]
        first = np.flatnonzero(draw.chosen)[np.argsort(draw.turn[draw.chosen])][:SHOWN]
        doubt = pool.doubt.mean(axis=0)
        rows: list[Row] = [
            {"turn": int(draw.turn[k]), "item": found.items[k], "chance": float(draw.now[k])}
            | ({"orders_differ": float(doubt[k, 0])} if doubt[:, 0].any() else {})
            | ({"judges_differ": float(doubt[k, 1])} if doubt[:, 1].any() else {})
            for k in first
        ]
        note = (
            f"The first {len(rows)} of {chosen}; all are in {FILE}. chance: of being drawn now. "
            "orders_differ, judges_differ: mean over judges of how far the two orders of a judge, "
            "and a judge and the others, are apart."
        )
        table = Table("next_labels", "Items to be labelled next", rows, note)
        return Findings([table], notes=notes, summary={"next_labels": chosen})


def _label(case: AuditCase) -> str:
    """What a table calls a person's label."""
    return "preference" if case.table.kind == "preference" else "human"


def _chances(pool: LabelPool, draw: Draw) -> str:
    """How chances were made."""
    if not draw.equal:
        return UNEQUAL.format(draw.gain)
    if pool.told is None:
        return FEW if pool.labelled.any() else EQUAL
    return NO_GAIN.format(max(draw.gain, 0.0))


def write_draw(case: AuditCase, found: Credits, pool: LabelPool, draw: Draw, number: int) -> None:
    """One row for each unit of an item with a label, or that could get one: ``FILE``.

    Columns: id, agent and other (the unit, as dataset=table names it), rater and preference or
    human (to be filled in), drawn (1: to be labelled now), turn (order of labelling, all rounds),
    pi (chance of being drawn in this round; empty where labelled), chance (of a label in this
    round or before), round, seed.
    """
    import pandas as pd

    units, place = case.table.units, found.place
    earlier = np.where(pool.labelled, np.nan_to_num(found.turn, nan=0.0), np.nan)
    last = np.nanmax(earlier, initial=0.0) if pool.labelled.any() else 0.0
    turn = np.where(draw.chosen, last + draw.turn, earlier)
    frame = pd.DataFrame(
        {
            "id": units.item,
            "agent": units.first,
            "other": units.second,
            "rater": "",
            _label(case): "",
            "drawn": draw.chosen[place].astype(int),
            "turn": turn[place],
            "pi": np.where(pool.open, draw.now, np.nan)[place],
            "chance": draw.chance[place],
            "round": number,
            "seed": case.seed,
        }
    )
    frame = frame[(pool.open | pool.labelled)[place]]
    frame = frame.sort_values(["drawn", "turn", "id"], ascending=[False, True, True])
    case.context.run_dir.write_text(FILE, frame.to_csv(index=False, lineterminator="\n"))


def _unequal(pool: LabelPool) -> bool:
    """Whether labelled items had different chances of their label."""
    given = pool.before[pool.labelled]
    return bool(len(given) and np.ptp(given) > 1e-9)


def _weighted(case: AuditCase, found: Credits, pool: LabelPool, judges: list[int]) -> Findings:
    """Agreement on all items, where labels were drawn with unequal chances."""
    there = pool.labelled | pool.open
    if not _unequal(pool) or not (pool.before[there] > 0).all():
        return Findings()
    cluster = np.unique(found.cluster[there], return_inverse=True)[1]
    rows: list[Row] = []
    for k, credit in zip(judges, pool.credit, strict=True):
        y = np.where(pool.labelled, credit, np.nan)[there]
        mean = _predictions(pool, y, k, judges)[there]
        estimate = weighted_mean(y, mean, pool.before[there], cluster)
        head: Row = {"judge": case.table.names[k]}
        rows.append({**head, **columns(estimate, "value", "low", "high", "n")})
        rows[-1] = {**rows[-1], "unweighted": float(np.nanmean(y)), "items": int(there.sum())}
    note = (
        "Agreement with people on all items, labelled (n) or not: labels count for the inverse of "
        "their chance. unweighted: the mean of the labels, which is off where labels were drawn "
        "with unequal chances. 95 % intervals over items."
    )
    return Findings([Table("weighted_agreement", "Agreement, weighted by chance", rows, note)])


def _predictions(pool: LabelPool, y: Floats, judge: int, judges: list[int]) -> Floats:
    """[items] m_i of a judge; without earlier fits the same for all."""
    enough = enough_labels(pool.credit)
    row = judges.index(judge)
    if pool.told is None or not enough[row]:
        return np.full(len(pool.open), float(np.nanmean(y)) if (~np.isnan(y)).any() else 0.5)
    return np.asarray(pool.told.mean[int(enough[:row].sum())])
