"""The tables of study=qualification: exams, lists, and judges among themselves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from judgelab.core.result import Row, Table, Value
from judgelab.mechanism.judge import position
from judgelab.stats.qualification.exams import ConfidenceAnswers, spread_of_gap
from judgelab.stats.qualification.preference import accuracy
from judgelab.study.qualification.case import Case
from judgelab.study.qualification.human_tables import (
    bias_table,
    budgets_table,
    comparisons_table,
    correlations_table,
    pools_table,
    weightings_table,
)
from judgelab.study.qualification.pools import same_list


def all_tables(case: Case) -> list[Table]:
    """In the order to be read."""
    made = [lists_table(case)]
    if case.known:
        made.append(pools_table(case))
    made.append(exams_table(case))
    if case.known:
        made += [comparisons_table(case), budgets_table(case)]
        made += [correlations_table(case), weightings_table(case), bias_table(case)]
    made += [agreement_table(case), orders_table(case)]
    return [table for table in made if table.rows]


def figures(made: Sequence[Table]) -> list[str]:
    """Drawings that the tables allow."""
    rows = {table.name: table.rows for table in made}
    drawn = ["qualification_exams"] if "exams" in rows else []
    if "pools" in rows:
        drawn.append("qualification_pools")
        costs = [row["cost"] for row in rows["pools"] if isinstance(row["cost"], float)]
        if any(cost > 0 for cost in costs):
            drawn.append("qualification_cost")
    return drawn


def exams_table(case: Case) -> Table:
    """Numbers, bars and how certain the pass is."""
    rows: list[Row] = []
    for exam, marks in case.marks.items():
        answers = case.hearing.exams[exam]
        gap = None
        if isinstance(answers, ConfidenceAnswers):
            gap = spread_of_gap(answers, case.draws, case.seed)
        for k, judge in enumerate(case.hearing.judges):
            row: dict[str, Value] = {
                "exam": exam,
                "judge": judge,
                "value": float(marks.value[k]),
                "low": float(marks.low[k]),
                "high": float(marks.high[k]),
                "bar": marks.bar,
                "passed": _passed(case, exam, k),
                "p_pass": float(marks.p_pass[k]),
                "n": int(marks.n[k]),
                "unscored": int(marks.unscored[k]),
            }
            if exam == "consistency":
                row |= {"tied": float(case.hearing.tied[k])}
            if gap is not None:
                row |= {"gap": float(gap[0, k])}
                row |= {"gap_low": float(gap[1, k]), "gap_high": float(gap[2, k])}
            rows.append(row)
    note = (
        "Consistency P_c, pertinence P_p, self-confidence P_s, with 95 % intervals over items. "
        "p_pass: share of resamples of the items, bar and all, in which the judge passes: near 0 "
        "or 1 the data decide, near .5 chance. tied: share of answers that are ties before and "
        "after the change, which agree without comparing anything. gap: confidence on the easy "
        "minus the hard set."
    )
    return Table("exams", "Exams", rows, note)


def lists_table(case: Case) -> Table:
    """Who is in which pool."""
    rows: list[Row] = []
    for pool in case.pools:
        members = [j for j, there in zip(case.hearing.judges, pool.members, strict=True) if there]
        weightless = zip(case.hearing.judges, pool.weightless, strict=True)
        rows.append(
            {
                "pool": pool.name,
                "judges": ", ".join(members) or "nobody",
                "no_weight": ", ".join(judge for judge, there in weightless if there) or None,
                "count": len(members),
                "p_same": same_list(pool),
                "ties": pool.decision.ties,
                "undecided": int(np.isnan(pool.decision.sign).sum()),
                "weights": ", ".join(f"{w:.3f}" for w in pool.power[pool.members]),
            }
        )
    note = (
        "p_same: share of resamples of the items that admit exactly these judges. ties: votes "
        f"within {case.rules.tolerance:g} of a draw. no_weight: who passed, but whose weight is 0 "
        "(study.weights=logit, at chance). human: mean weights over the folds."
    )
    return Table("lists", "Who passes", rows, note)


def agreement_table(case: Case) -> Table:
    """How far judges and the pool decide alike."""
    groups = [(one, two, two.name) for one, two in combinations(case.singles, 2)]
    if case.chosen.members.any():
        groups += [(one, case.chosen, f"pool {case.chosen.name}") for one in case.singles]
    rows: list[Row] = []
    for one, two, label in groups:
        found = case.agreement([(one, two)])
        parts = {"value": found.value, "low": found.low, "high": found.high, "n": found.n}
        rows.append({"judge": one.name, "with": label, **parts, "unscored": found.unscored})
    note = "Share of pairs decided alike, ties included, with 95 % intervals over items."
    return Table("agreement", "Agreement between judges", rows, note)


def orders_table(case: Case) -> Table:
    """What the order of the answers does to each judge; empty where answers are graded."""
    if case.hearing.verdicts is None:
        return Table("orders", "Position bias", [])
    rows: list[Row] = []
    for judge, cells in zip(case.hearing.judges, case.hearing.verdicts, strict=True):
        shown = np.full((len(cells), len(case.agents), len(case.agents)), np.nan)
        first, second = case.hearing.pairs.T
        shown[:, first, second], shown[:, second, first] = cells[..., 0], 1 - cells[..., 1]
        share = accuracy(shown, draws=case.draws, seed=case.seed)
        unread = int(np.isnan(cells).sum())
        row: dict[str, Value] = {"judge": judge, **position(shown)}
        row |= {"low": share.low, "high": share.high, "n": share.n, "unscored": unread}
        rows.append(row)
    note = (
        "first_preferred: share of verdicts for the answer shown first, .5 without bias; low and "
        "high are its 95 % interval over items."
    )
    return Table("orders", "Position bias", rows, note)


def _passed(case: Case, exam: str, judge: int) -> bool | str:
    if not case.hearing.sat[exam][judge]:
        return "excused" if case.rules.excused else False
    marks = case.marks[exam]
    return "excused" if marks.alone[judge] else bool(marks.passed[judge])
