"""The tables of study=qualification: exams, and judges and pools against people and each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from judgelab.core.result import Row, Table, Value, flat_estimate
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.ends import mean_ends, of_ratio
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.qualification.decisions import (
    accuracy,
    box,
    favour_rate,
    ties_of,
    unscored_pairs,
)
from judgelab.study.common import templates
from judgelab.study.common.tables import WITHOUT_P, columns, entries
from judgelab.study.qualification.case import Case, family_pairs
from judgelab.study.qualification.pools import EVERYBODY, HUMAN, PRE, Pool

INTERVAL = ("value", "low", "high")
COUNTS = ("n", "unscored")
table = partial(templates.table, __package__)


def all_tables(case: Case) -> list[Table]:
    """In the order to be read."""
    made = [lists_table(case)]
    if case.known:
        made.append(pools_table(case))
    made += [exams_table(case), leads_table(case), superficial_table(case)]
    made.append(confidence_table(case))
    if case.known:
        made += [correlations_table(case), bias_table(case)]
    made.append(agreement_table(case))
    return [table for table in made if table.rows]


def figures(made: Sequence[Table]) -> list[str]:
    """Drawings that the tables allow."""
    rows = {table.name: table.rows for table in made}
    drawn = [f"qualification_{name}" for name in ("exams", "confidence", "pools") if name in rows]
    costs = [row["cost"] for row in rows.get("pools", ())]
    if any(isinstance(cost, float) and cost > 0 for cost in costs):
        drawn.append("qualification_cost")  # nothing is to be seen where all is free
    return drawn


def lists_table(case: Case) -> Table:
    """The judges of each pool."""
    rows: list[Row] = [
        {
            "pool": pool.name,
            "judges": case.responses.named(pool.members) or "nobody",
            "count": int(pool.members.sum()),
            "p_same": pool.same_list,
            "ties": pool.ties,
            "undecided": int(np.isnan(pool.sign).sum()),
            "weights": ", ".join(f"{w:.3f}" for w in pool.power[pool.members]),
        }
        for pool in case.pools
    ]
    return table("lists", rows)


def pools_table(case: Case) -> Table:
    """Accuracy and cost of every judge, pool and method: the ablation over exams among them."""
    named = {EVERYBODY: "PRE (w/o Filter)", PRE: "PRE (Auto-Exam)", HUMAN: "PRE (Human Filter)"}
    named |= {case.chosen.name: "Auto-PRE"} if case.chosen.exams else {}
    rows: list[Row] = []
    contestants = [(head, case, pool) for head, pool in _everyone(case)]
    for name, one in case.methods.items():
        contestants.append(({"name": name, "kind": "method"}, one, one.outcome))
    for head, one, pool in contestants:
        found, (low, high) = case.accuracy(pool.sign), one.anew(pool)
        gain = case.gain(case.chosen, pool)
        against = flat_estimate("gain", columns(gain, *INTERVAL)) | columns(gain, "p")
        other = pool is not case.chosen and case.chosen.members.any()
        costs = one.costs_of(pool)
        rows.append(
            {**head, "called": named.get(pool.name) if head["kind"] == "pool" else None}
            | {**columns(found, *INTERVAL, *COUNTS), "cost": costs["cost"]}
            | {key: value if other else None for key, value in against.items()}
            | {"exam_cost": costs["exam_cost"], "ties": ties_of(pool.sign, case.gold)}
            | {"judges": int(pool.members.sum()), "anew_low": low, "anew_high": high}
            | {"currency": case.currency}
        )
    return table("pools", rows, chosen=case.chosen.name)


def exams_table(case: Case) -> Table:
    """Numbers, thresholds and how certain the pass is."""
    rows: list[Row] = []
    for exam, marks in case.marks.items():
        for k, judge in enumerate(case.responses.judges):
            found = marks.found.at(k)
            row: dict[str, Value] = {"exam": exam, "judge": judge, **columns(found, *INTERVAL)}
            row |= {"bar": marks.bar, "passed": _passed(case, exam, k)}
            row |= {"why_not": failure(case, exam, k) or None, "p_pass": float(marks.p_pass[k])}
            row |= columns(found, *COUNTS)
            if exam == "consistency":
                row["tied"] = float(case.responses.tied[k])
            if marks.gap is not None:
                row["gap"], row["gap_low"], row["gap_high"] = map(float, marks.gap[:, k])
            rows.append(row)
    return table("exams", rows)


def leads_table(case: Case) -> Table:
    """How far every judge is ahead of the controls that decide an exam."""
    rows: list[Row] = []
    for exam, marks in case.marks.items():
        for control, leads in marks.leads.items():
            answers = case.responses.controls.get(exam, {}).get(control)
            own = (
                0.5 if answers is None else float(answers.values(np.ones((1, answers.items)))[0, 0])
            )
            for k, judge in enumerate(case.responses.judges):
                found = columns(leads.at(k), *INTERVAL, "p", *COUNTS)
                named = {"exam": exam, "judge": judge, "control": control}
                rows.append({**named, "control_value": own, **found})
    return table("leads", rows)


def superficial_table(case: Case) -> Table:
    """How relevant answers differ from irrelevant ones to somebody who reads no question."""
    rows: list[Row] = []
    for exam, gaps in case.responses.gaps.items():
        for (who, measure), values in gaps.items():
            found = _mean(values)
            asked = int(np.count_nonzero(~np.isnan(gaps[who, "words"])))
            rows.append(
                {"exam": exam, "asked": who, "measure": measure}
                | {**columns(found, *INTERVAL, "n"), "unscored": asked - found.n}
                | {"items": found.clusters}
            )
    return table("superficial", rows)


def confidence_table(case: Case) -> Table:
    """How sure each judge is on the easy and on the hard set: the boxes of Figure 4."""
    rows: list[Row] = []
    right = {pool.name: case.accuracy(pool.sign).value for pool in case.singles if case.known}
    for judge, sets in case.responses.confidences.items():
        levels = any(np.nanmax(cells, initial=-np.inf) > 0 for cells in sets)  # else ln p
        for name, cells in zip(("easy", "hard"), sets, strict=True):
            shown = cells if levels else -cells
            known = int(np.count_nonzero(~np.isnan(cells)))
            rows.append(
                {"judge": judge, "set": name, "unit": "level" if levels else "-ln p"}
                | columns(accuracy(shown), *INTERVAL)  # mean over answers
                | {"n": known, "unscored": cells.size - known}
                | {"sd": float(np.nanstd(shown)), **box(shown)}
                | {"accuracy": right.get(judge, float("nan"))}
            )
    return table("confidence", rows)


def correlations_table(case: Case) -> Table:
    """Spearman's rho over the answers of each item."""
    rows = [
        {**head, **columns(case.rho(pool), *INTERVAL, *COUNTS)} for head, pool in _everyone(case)
    ]
    return table("correlations", rows)


def bias_table(case: Case) -> Table:
    """How often a family wins where people do not prefer it; empty where none is named."""
    inside, mixed = family_pairs(case.agents, case.responses.pairs, case.family)
    side = np.where(inside[mixed, 0], 1.0, -1.0)
    gold = case.gold[:, mixed] * side
    rows: list[Row] = []
    for head, pool in _everyone(case) if mixed.any() else ():
        sign = pool.sign[:, mixed] * side
        rate = favour_rate(np.where(np.isnan(sign), np.nan, (sign > 0).astype(np.float64)), gold)
        found = columns(rate, *INTERVAL, "p", "n") | {"items": rate.clusters}
        lost = unscored_pairs(sign, np.where(gold <= 0, 1.0, np.nan))
        beside = entries("accuracy", case.accuracy(sign, gold), *WITHOUT_P)
        rows.append({**head, **found, "unscored": lost, **beside})
    return table("bias", rows, family=", ".join(case.family))


def agreement_table(case: Case) -> Table:
    """How far judges and the pool decide alike."""
    groups = [(one, two, two.name) for one, two in combinations(case.singles, 2)]
    if case.chosen.members.any():
        groups += [(one, case.chosen, f"pool {case.chosen.name}") for one in case.singles]
    rows: list[Row] = [
        {"judge": one.name, "with": label}
        | columns(case.agreement([(one, two)]), *INTERVAL, *COUNTS)
        for one, two, label in groups
    ]
    return table("agreement", rows)


def failure(case: Case, exam: str, judge: int) -> str:
    """Why a judge that took an exam did not pass it; empty where it did."""
    marks = case.marks[exam]
    if marks.passed[judge] or not case.responses.taken[exam][judge]:
        return ""
    if np.isnan(marks.found.value[judge]):
        return "no readable answer"
    if unbeaten := marks.unbeaten(judge):
        return f"no better than {' and '.join(unbeaten)}"
    return "below the threshold" if exam != "self_confidence" else "not surer of the easy set"


def _passed(case: Case, exam: str, judge: int) -> bool | str:
    marks = case.marks[exam]
    if not case.responses.taken[exam][judge] or (marks.alone[judge] and marks.passed[judge]):
        return "excused"
    return bool(marks.passed[judge])


def _mean(values: Floats) -> Estimate:
    """Over the questions of all items [items, questions], with an interval over items."""
    count = (~np.isnan(values)).sum(axis=1).astype(np.float64)
    parts = of_ratio(np.nansum(values, axis=1), count)
    low, high = mean_ends(parts)
    items = int(np.count_nonzero(count))
    mean = float(np.nanmean(parts)) if items else float("nan")
    return Estimate(mean, float(low), float(high), int(count.sum()), clusters=items)


def _everyone(case: Case) -> Iterator[tuple[dict[str, Value], Pool]]:
    """Every judge alone and every pool with a member: name and kind, and its decisions."""
    for kind, group in (("judge", case.singles), ("pool", case.pools)):
        for pool in group:
            if pool.members.any():
                yield {"name": pool.name, "kind": kind}, pool
