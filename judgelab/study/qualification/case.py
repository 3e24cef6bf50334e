"""What study=qualification knows of judges and pools, and its tables and notes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from judgelab.core.panel import Panel
from judgelab.core.result import Row, Table, Value, flat_estimate
from judgelab.engine.context import Context
from judgelab.mechanism.recorded_scores import RecordedScores
from judgelab.stats.discrimination.correlation import item_correlations
from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_mean
from judgelab.stats.qualification.exams import (
    Marks,
    accuracy,
    box,
    correct,
    difference,
    favour_rate,
)
from judgelab.study.common import templates
from judgelab.study.common.panels import human_scores
from judgelab.study.common.tables import WITHOUT_P, about, columns, entries
from judgelab.study.qualification.pools import (
    EVERYBODY,
    FOLDS,
    HUMAN,
    PRE,
    Pool,
    answer_scores,
    family_pairs,
    single,
)
from judgelab.study.qualification.responses import JudgeResponses

INTERVAL = ("value", "low", "high")
COUNTS = ("n", "unscored")
table = partial(templates.table, __package__)

WHY_NOT = {"self_confidence": "not surer of the easy set"}
ENOUGH = 6  # items with which flips of their signs can give p <= .05, if all lean one way


@dataclass(frozen=True)
class Case:
    """Everything that the tables are made of."""

    panel: Panel
    responses: JudgeResponses
    marks: Mapping[str, Marks]  # exam -> how the judges did
    # all judges, every subset of the exams (the full one last), PRE and the human filter
    pools: Sequence[Pool]
    gold: Floats  # [items, pairs] people's preference
    family: Sequence[str]  # agents whose bias rate is asked for
    currency: str  # of all costs
    annotation_cost: float  # of the human filter; NaN where unknown
    draws: int  # of the resamples, as is the seed
    seed: int
    methods: Mapping[str, Case] = field(default_factory=dict)  # name -> the case of its judges

    @cached_property
    def singles(self) -> list[Pool]:
        """Every judge alone."""
        return [single(self.responses, k) for k in range(len(self.responses.judges))]

    @property
    def has_gold(self) -> bool:
        """Whether people prefer any answer to another."""
        return bool((np.abs(self.gold) == 1).any())

    @property
    def pool(self) -> Pool:
        """The pool of all exams."""
        return [pool for pool in self.pools if pool.name not in (PRE, HUMAN)][-1]

    @property
    def outcome(self) -> Pool:
        """What these judges decide as a method: the pool of all exams, or the only judge."""
        return self.singles[0] if len(self.singles) == 1 else self.pool

    def accuracy(self, sign: Floats, gold: Floats | None = None) -> Estimate:
        """Of decisions on the pairs that people decided, or on those of ``gold``."""
        gold = self.gold if gold is None else gold
        return _of_pairs(accuracy(correct(sign, gold)), np.abs(gold) == 1)

    def rho(self, pool: Pool) -> Estimate:
        """Spearman's rho with people's grades, mean over items. 0 where the pool grades all answers
        of an item alike; items where people do are left out."""
        scores = answer_scores(self.responses, pool, len(self.panel.agents))
        human = np.where(np.isnan(scores), np.nan, human_scores(self.panel))
        grades = pd.DataFrame(human)
        differ = grades.max(axis=1) > grades.min(axis=1)
        each = item_correlations(scores, human)
        return item_mean(np.where(np.isnan(each) & differ, 0.0, each), (-1.0, 1.0))

    def gain(self, pool: Pool, other: Pool) -> Estimate:
        """What one method has more accuracy of than another, on the pairs that both decided. p:
        sign flips of whole items."""
        gap = correct(pool.sign, self.gold) - correct(other.sign, self.gold)
        return _of_pairs(difference(gap, draws=self.draws, seed=self.seed), np.abs(self.gold) == 1)

    def agreement(self, groups: Sequence[tuple[Pool, Pool]]) -> Estimate:
        """Share of pairs decided alike, over these twos; no value without any."""
        if not groups:
            return Estimate(math.nan, clusters=0)
        signs = np.stack([[one.sign, other.sign] for one, other in groups], axis=-1)
        both_decide = ~np.isnan(signs).any(axis=0)
        cells = np.where(both_decide, signs[0] == signs[1], np.nan)
        return _of_pairs(accuracy(cells), np.ones(both_decide.shape, np.bool_))

    def costs_of(self, pool: Pool) -> tuple[float, float]:
        """Of choosing a pool's members from all candidates (of the human filter: the others'
        verdicts, and annotation); and that together with the members' verdicts.

        NaN where unknown.
        """
        cost, exams = self.responses.cost, 0.0
        for one in (self.responses.exams[exam] for exam in pool.exams):
            # every candidate is examined, whether it passes or not; members' verdicts are counted
            whole, more = one.cost
            exams += float(np.where(pool.members, more, whole).sum() + one.writing)
        if pool.name == HUMAN:
            exams = float(cost[~pool.members].sum() + self.annotation_cost)
        return exams, float(cost[pool.members].sum()) + exams

    def summary(self, context: Context) -> dict[str, Value]:
        """Flat entries; those of the chosen pool first."""
        pool, parts = self.pool, ("low", "high", "n")
        summary = about(context, self.panel, "qualification") | {
            "items": len(self.panel.items),
            "pairs": int(self.gold.size),
            "judges": len(self.responses.judges),
            "pool": pool.name,
            "pool/judges": int(pool.members.sum()),
            "pool/ties": pool.ties,
            "pool/p_same_list": pool.same_list,
        }
        own = [(self.singles[k], pool) for k in np.flatnonzero(pool.members).tolist()]
        twos = list(combinations(self.singles, 2))
        summary |= entries("judges/agreement", self.agreement(twos), *parts)
        summary |= entries("pool/agreement", self.agreement(own), *parts)
        if self.has_gold:
            summary |= entries("pool/accuracy", self.accuracy(pool.sign), *parts)
            summary["pool/cost"] = self.costs_of(pool)[1]
            summary |= entries("all/accuracy", self.accuracy(self.pools[0].sign), *parts)
            summary |= entries("pool/spearman", self.rho(pool), *parts)
        return summary


def _of_pairs(estimate: Estimate, pairs: Mask) -> Estimate:
    """The same; unscored: of these pairs those without a decision."""
    return replace(estimate, unscored=int(pairs.sum()) - estimate.n)


def all_tables(case: Case) -> list[Table]:
    """In the order to be read."""
    tables = [table("lists", _lists(case))]
    if case.has_gold:
        tables.append(table("pools", _pools(case), pool=case.pool.name))
    tables += [table("exams", _exams(case)), table("confidence", _confidence(case))]
    if case.has_gold:
        tables.append(table("bias", _bias(case), family=", ".join(case.family)))
    return [one for one in tables if one.rows]


def figures(tables: Sequence[Table]) -> list[str]:
    """Drawings that the tables allow."""
    rows = {table.name: table.rows for table in tables}
    names = ["qualification_confidence"] if "confidence" in rows else []
    points = [row for row in rows.get("pools", ()) if row["value"] == row["value"]]
    if any(isinstance(row["cost"], float) and row["cost"] > 0 for row in points):
        names.append("qualification_cost")  # nothing is to be seen where all is free
    return names


def _lists(case: Case) -> list[Row]:
    return [
        {
            "pool": pool.name,
            "judges": case.responses.names_of(pool.members) or "nobody",
            "count": int(pool.members.sum()),
            "p_same": pool.same_list,
            "ties": pool.ties,
            "undecided": int(np.isnan(pool.sign).sum()),
            "weights": ", ".join(f"{w:.3f}" for w in pool.power[pool.members]),
        }
        for pool in case.pools
    ]


def _pools(case: Case) -> list[Row]:
    """Every judge, pool and method against people: the ablation over exams among them."""
    in_paper = {EVERYBODY: "PRE (w/o Filter)", PRE: "PRE (Auto-Exam)", HUMAN: "PRE (Human Filter)"}
    in_paper |= {case.pool.name: "Auto-PRE"} if case.pool.exams else {}
    contestants = [(head, case, pool) for head, pool in _everyone(case)]
    for name, one in case.methods.items():
        if one.outcome.members.any():
            contestants.append(({"name": name, "kind": "method"}, one, one.outcome))
    rows: list[Row] = []
    for head, one, pool in contestants:
        gain = case.gain(case.pool, pool)
        against = flat_estimate("gain", columns(gain, *INTERVAL)) | columns(gain, "p")
        other = pool is not case.pool and case.pool.members.any()
        exam_cost, cost = one.costs_of(pool)
        rows.append(
            {**head, "called": in_paper.get(pool.name) if head["kind"] == "pool" else None}
            | {**columns(case.accuracy(pool.sign), *INTERVAL, *COUNTS), "cost": cost}
            | {key: value if other else None for key, value in against.items()}
            | entries("spearman", one.rho(pool), *WITHOUT_P)
            | {"exam_cost": exam_cost, "judges": int(pool.members.sum())}
            | {"currency": case.currency}
        )
    return rows


def _exams(case: Case) -> list[Row]:
    rows: list[Row] = []
    for exam, marks in case.marks.items():
        for k, judge in enumerate(case.responses.judges):
            estimate, (passed, why) = marks.estimates.at(k), _verdict(case, exam, k)
            row: dict[str, Value] = {"exam": exam, "judge": judge, **columns(estimate, *INTERVAL)}
            row |= {"bar": marks.bar, "passed": passed, "why_not": why}
            row |= {"p_pass": float(marks.p_pass[k]), **columns(estimate, *COUNTS)}
            if exam == "consistency":
                row["tied"] = case.responses.exams[exam].answers[k].tied
            if marks.gap is not None:
                row["gap"], row["gap_low"], row["gap_high"] = map(float, marks.gap[:, k])
            rows.append(row)
    return rows


def _verdict(case: Case, exam: str, judge: int) -> tuple[bool | str, str | None]:
    """Whether a judge passed or was excused, and why it did not."""
    marks = case.marks[exam]
    passed = bool(marks.passed[judge])
    if not case.responses.exams[exam].takers[judge] or (passed and np.isnan(marks.bar)):
        return "excused", None
    if passed:
        return True, None
    if np.isnan(marks.estimates.value[judge]):
        return False, "no readable answer"
    if unbeaten := marks.unbeaten(judge):
        return False, f"no better than {' and '.join(unbeaten)}"
    return False, WHY_NOT.get(exam, "below the threshold")


def _confidence(case: Case) -> list[Row]:
    """How sure each judge is on the easy and on the hard set: the boxes of Figure 4."""
    rows: list[Row] = []
    right = {pool.name: case.accuracy(pool.sign).value for pool in case.singles if case.has_gold}
    sure = case.responses.exams.get("self_confidence")
    for judge, one in zip(case.responses.judges, sure.answers if sure else (), strict=False):
        if np.isnan(one.scored).all():
            continue
        assert one.hard is not None
        levels = one.way == "words"  # else ln p
        for name, cells in zip(("easy", "hard"), (one.scored, one.hard), strict=True):
            values = cells if levels else -cells
            n = int(np.count_nonzero(~np.isnan(cells)))
            rows.append(
                {"judge": judge, "set": name, "unit": "level" if levels else "-ln p"}
                | columns(accuracy(values), *INTERVAL)  # mean over answers
                | {"n": n, "unscored": cells.size - n}
                | {"sd": float(np.nanstd(values)), **box(values)}
                | {"accuracy": right.get(judge, float("nan"))}
            )
    return rows


def _bias(case: Case) -> list[Row]:
    inside, mixed = family_pairs(case.panel, case.responses.pairs, case.family)
    side = np.where(inside[mixed, 0], 1.0, -1.0)
    gold = case.gold[:, mixed] * side
    rows: list[Row] = []
    for head, pool in _everyone(case) if mixed.any() else ():
        sign = pool.sign[:, mixed] * side
        rate = favour_rate(np.where(np.isnan(sign), np.nan, sign > 0), gold)
        own = columns(_of_pairs(rate, gold <= 0), *INTERVAL, "p", *COUNTS)
        beside = entries("accuracy", case.accuracy(sign, gold), *WITHOUT_P)
        rows.append({**head, **own, "items": rate.clusters, **beside})
    return rows


def _everyone(case: Case) -> Iterator[tuple[dict[str, Value], Pool]]:
    """Every judge alone and every pool with a member: name and kind, and its decisions."""
    for kind, group in (("judge", case.singles), ("pool", case.pools)):
        for pool in group:
            if pool.members.any():
                yield {"name": pool.name, "kind": kind}, pool


def notes(context: Context, case: Case, by: Mapping[str, str]) -> list[str]:
    """Data, judges (``by``: what asks each, where that is not the run's mechanism), and whatever
    limits what the numbers mean."""
    responses = case.responses
    ways: dict[str, list[str]] = {}
    for judge in responses.judges:
        ways.setdefault(by.get(judge, context.mechanism.name), []).append(judge)
    human = any(one.name == HUMAN for one in case.pools)
    return templates.sentences(
        __package__,
        "notes.md.j2",
        case=case,
        folds=FOLDS,
        ways=ways,
        recorded=context.mechanism.name == RecordedScores.name,
        exams=[_exam_facts(case, exam) for exam in case.marks],
        enough=ENOUGH,
        biased=case.has_gold
        and bool(family_pairs(case.panel, responses.pairs, case.family)[1].any()),
        human=human,
        unpriced=responses.names_of(np.isnan(responses.cost)),
    )


def _exam_facts(case: Case, exam: str) -> dict[str, Any]:
    """Who was excused, and who fails by controls."""
    marks, own, judges = case.marks[exam], case.responses.exams[exam], case.responses.judges
    value, names_of = marks.estimates.value, case.responses.names_of
    return {
        "name": exam,
        "absent": names_of(~own.takers),
        "unread": names_of(np.isnan(value) & own.takers),
        "alone": names_of(marks.passed & np.isnan(marks.bar)),
        "beaten": [
            (judge, name, marks.leads[name].at(k))
            for k, judge in enumerate(judges)
            if not np.isnan(value[k])
            for name in marks.unbeaten(k)
        ],
    }
