"""Where a judge may decide alone: risk and coverage of abstaining, and intervals of grades."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from judgelab.core.judgments import JudgmentTable
from judgelab.core.result import Row, Table
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.trust.abstention import Abstaining, labels_needed, thresholds
from judgelab.stats.trust.agreement import majority
from judgelab.stats.trust.conformal import GradeInterval, grade_interval
from judgelab.stats.trust.scale_use import MOST_LEVELS
from judgelab.study.audit.doubt import order_doubt, peer_doubt
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.part import AuditCase

By = Literal["order", "judges"]
GRIDS: dict[By, tuple[float, ...]] = {"order": (1.0, 0.5, 0.0), "judges": (0.9, 0.75, 0.5, 0.0)}
SAID: dict[By, str] = {
    "order": "1: both orders give the same verdict; 0: it decides always",
    "judges": "share of the other judges that agree with it; 0: it decides always",
}
NOT_RANDOM = (
    "{}: this takes labels of items that were drawn with equal chances, which these are not."
)
IF_RANDOM = "{}: this holds if the labelled items were drawn at random, which is not known."
QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)


def abstention(
    case: AuditCase, by: By | None, risk: float, delta: float, unequal: bool
) -> Findings:
    """Risk and coverage of each judge that abstains below a confidence."""
    table = case.table
    if unequal:
        return Findings(notes=[NOT_RANDOM.format("Where a judge may decide alone")])
    if not table.labelled.any():
        return Findings()
    two = table.kind == "preference" and table.asked.all(axis=2).any()
    chosen: By = by or ("order" if two else "judges")
    doubt = order_doubt(table) if chosen == "order" else peer_doubt(table)
    wrong = _wrong(table)
    rows = [
        {"judge": one.name, **vars(found)}
        for k, one in enumerate(table.judges)
        if not one.control and not np.isnan(doubt[k]).all()
        for found in _of_judge(table, k, doubt[k], wrong[k], GRIDS[chosen], risk, delta)
    ]
    note = (
        f"A judge decides where its confidence ({SAID[chosen]}) is at least that of the row, and "
        "leaves the rest to people. coverage: share that it decides. wrong: share of these with "
        "another verdict than people's; a tie counts as wrong. accepted: with a probability of "
        f"{1 - delta:.0%}, at most {risk:.0%} are wrong, tested from the strictest row on (p), "
        f"each judge by itself; it takes {labels_needed(risk, delta)} labels without an error. "
        "95 % intervals over items."
    )
    made = [Table("abstention", "Where may a judge decide alone?", rows, note)]
    return Findings(
        made, ["audit_abstention"] if rows else [], notes=_if_random(case, "Deciding alone")
    )


def _of_judge(
    table: JudgmentTable,
    k: int,
    doubt: Floats,
    wrong: Floats,
    grid: tuple[float, ...],
    risk: float,
    delta: float,
) -> Iterator[Abstaining]:
    """Its thresholds, on the units that it was asked about; those that decide alike only once."""
    asked = table.asked[k].any(axis=1)
    confidence = np.where(np.isnan(table.values[k]), np.nan, 1 - doubt)[asked]
    coverage = float("nan")
    for one in thresholds(
        confidence, wrong[asked], table.clusters[asked], np.array(grid), risk, delta
    ):
        if one.coverage != coverage:
            yield one
        coverage = one.coverage


def _wrong(table: JudgmentTable) -> Floats:
    """[judges, units] 1 where the verdict is not people's; NaN where they have none, or tie."""
    truth, values = table.truth, table.values
    if table.kind == "preference":
        truth, values = majority(truth), majority(values)
        truth = np.where(truth == 0.5, np.nan, truth)
    known = ~np.isnan(truth) & ~np.isnan(values)
    return np.asarray(np.where(known, values != truth, np.nan))


def grade_intervals(case: AuditCase, miss: float, unequal: bool) -> Findings:
    """What people's grade is likely to be where a judge gives a grade."""
    table = case.table
    if unequal:
        return Findings(notes=[NOT_RANDOM.format("Intervals of grades")])
    given = np.unique(table.labels[~np.isnan(table.labels)])
    levels = given if len(given) <= MOST_LEVELS else np.empty(0)
    rows: list[Row] = []
    few: list[str] = []
    for k, one in enumerate(table.judges):
        if one.control or not len(given):
            continue
        rng = np.random.default_rng([case.seed, 8])
        values = table.values[k]
        made = grade_interval(values, table.truth, table.clusters, levels, miss, rng)
        if np.isfinite(made.half):
            rows += _of_grades(one.name, values, made)
        else:
            few.append(one.name)
    notes = []
    if few:
        need = int(np.ceil(1 / miss)) - 1
        notes = [
            f"Intervals of grades: {len(few)} judges have too few labelled items; it takes "
            f"{2 * need}."
        ]
    note = (
        f"Where the judge gives this grade, people's lies between low and high in at least "
        f"{1 - miss:.0%} of new items like these (split conformal; on average over grades, not for "
        "each), rounded outwards to people's grades. n: items that the width comes from. "
        "whole_scale: the grade tells nothing."
    )
    title = "What is people's grade, given the judge's?"
    notes += _if_random(case, "Intervals of grades") if rows else []
    return Findings([Table("grade_intervals", title, rows, note)], notes=notes)


def _of_grades(judge: str, values: Floats, made: GradeInterval) -> list[Row]:
    """For each of its grades; where they are many, for some from low to high."""
    distinct = np.unique(values[~np.isnan(values)])
    shown = distinct if len(distinct) <= MOST_LEVELS else np.nanquantile(values, QUANTILES)
    least, most = (made.levels[0], made.levels[-1]) if len(made.levels) else (-np.inf, np.inf)
    return [
        {
            "judge": judge,
            "grade": float(grade),
            "low": float(low),
            "high": float(high),
            "n": made.n,
            "whole_scale": bool(low <= least and high >= most),
        }
        for grade, low, high in zip(shown, *made.at(shown), strict=True)
    ]


def _if_random(case: AuditCase, what: str) -> list[str]:
    """A caution where nobody said how the labelled units were chosen."""
    told = case.sampled is not None or case.table.labelled.all()
    return [] if told else [IF_RANDOM.format(what)]
