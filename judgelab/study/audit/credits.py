"""What a judge, rules that know nothing of quality, and people earn on the same items.

``credits_of`` takes all from the table that is ever asked about one judge. Estimates, conditions
and the verdict follow from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from judgelab.core.judgments import Floats, JudgmentTable, Mask
from judgelab.stats.intervals.arrays import average_ranks, divide
from judgelab.stats.trust.agreement import Places, Sums, Target
from judgelab.study.audit.design import Design

PLACES = (("first", "second"), ("output_1", "output_2"))
"""Names of places, not of systems."""


CreditName = Literal["control", "agreement", "people", "recall", "class"]


class Credit(NamedTuple):
    """What a judge earns on some items, and what somebody else earns on the same ones."""

    # beside a rule (control), or alone (agreement, recall of a class); beside people against the
    # people who remain (people, and class: recall of one)
    name: CreditName
    about: str  # the rule, or the class; else ""
    own: Sums  # [clusters]
    other: Sums | None = None


class Counts(NamedTuple):
    """How much of what was asked there is."""

    # clusters with a label that the judge was asked about; missed: that it was never asked about
    labelled: int
    missed: int
    asked: int  # asked, lost: verdicts that it was asked for, and those of them that are missing
    lost: int

    @property
    def unread(self) -> float:
        """Share of what was asked that has no verdict."""
        return self.lost / max(self.asked, 1)


@dataclass(frozen=True)
class Credits:
    """All of one judge from which estimates are made; None where the data have no such thing."""

    counts: Counts
    each: list[Credit]
    # [levels, levels + 1] units by what people (rows, shared among them) and the judge say; the
    # last column: no verdict
    confusion: Floats | None
    # of categories: shares of people, and of the judge, [units, levels]; weight, cluster
    shares: tuple[Floats, Floats, Floats, Places] | None
    # of several systems: ranks of the judge's and people's values, system (of pairs: both), cluster
    numbers: tuple[Floats, Floats, Places, Places] | None
    # of pairs: verdicts on what was shown in both orders, which were asked for, [units, orders]
    orders: tuple[Floats, Mask] | None
    averaged: bool  # whether every pair that it was asked about was shown in both orders


def credits_of(design: Design, judge: int) -> Credits:
    """All that one judge, and others beside it, earn."""
    table, cluster = design.table, design.cluster
    asked, verdicts = table.asked[judge], table.verdicts[judge]
    judged, in_both, answers = asked.any(axis=1), asked.all(axis=1), answers_of(table, judge)
    labelled, missed = (len(np.unique(cluster[table.labelled & x])) for x in (judged, ~judged))
    lost = int((asked & np.isnan(verdicts)).sum())
    counts = Counts(labelled, missed, int(asked.sum()), lost)
    confusion = shares = orders = None
    if table.kind == "category":
        people = np.nan_to_num(shares_of_people(table))
        unread = 1 - answers.sum(axis=1, keepdims=True)
        confusion = people[judged].T @ np.hstack([answers, unread])[judged]
        both = judged & table.labelled
        weight = np.ones(len(both)) if design.weight is None else design.weight
        shares = people[both], answers[both], weight[both], cluster[both]
    if table.kind == "preference" and in_both.any() and not table.judges[judge].pointwise:
        orders = np.where(in_both[:, None], verdicts, np.nan), asked
    each, averaged = list(_credits(design, answers, judged)), bool((in_both == judged).all())
    numbers = _of_systems(design, judge)
    return Credits(counts, each, confusion, shares, numbers, orders, averaged)


def _credits(design: Design, answers: Floats, judged: Mask) -> Iterator[Credit]:
    """Beside people only where they can be compared on enough items."""
    table, target, beside = design.table, design.target, design.beside
    double, levels = judged & design.double, list(enumerate(table.levels))
    own = target.sums(answers, judged)
    for rule, its_answers in rules_of(table).items():
        yield Credit("control", rule, own, target.sums(its_answers, judged))
    yield Credit("agreement", "", own)
    if beside is not None:
        mine, people = beside.sums(answers, double), beside.of_people(double)
        if (mine.count > 0).sum() >= design.bars.labels:
            yield Credit("people", "", mine, people)
    if table.kind == "category" and isinstance(target, Target):
        mine = target.each(answers, judged)
        yield from (Credit("recall", x, mine.of(k)) for k, x in levels)
    if table.kind == "category" and isinstance(beside, Target):
        mine, people = beside.each(answers, double), beside.each_of_people(double)
        yield from (Credit("class", x, mine.of(k), people.of(k)) for k, x in levels)


def _of_systems(design: Design, judge: int) -> tuple[Floats, Floats, Places, Places] | None:
    """None of a single system, of places that are no systems, and of three classes or more, which
    have no order.

    Ranks first: of grades with few values ranks of residuals would hang on the systems' means.
    """
    table = design.table
    values, truth, system = table.values[judge], table.truth, table.units.first.astype(str)
    if table.kind == "category":
        if len(design.classes) != 2:
            return None
        k = table.levels.index(design.classes[0])
        values = np.where(np.isnan(values), np.nan, values == k)
        truth = shares_of_people(table)[:, k]
    if table.kind == "preference":
        second = table.units.second.astype(str)
        if tuple(sorted({*system, *second})) in PLACES:
            return None
        swap = system > second  # a win of the system that comes first by name
        values, truth = (np.where(swap, 1 - x, x) for x in (values, truth))
        one, other = np.where(swap, second, system), np.where(swap, system, second)
        system = np.char.add(np.char.add(one, " "), other)
    both = ~np.isnan(values) & ~np.isnan(truth)
    names, group = np.unique(system[both], return_inverse=True)
    if len(names) < 2 or (np.bincount(group) > 1).sum() < 2:
        return None
    ranks = (average_ranks(x[both]) for x in (values, truth))
    return *ranks, group.astype(np.intp), design.cluster[both]


def agreement_of(design: Design, judge: int) -> Sums:
    """[clusters] what the judge earns."""
    table = design.table
    return design.target.sums(answers_of(table, judge), table.asked[judge].any(axis=1))


def shares_of_people(table: JudgmentTable) -> Floats:
    """[units, levels] share of the people who give each category; NaN without a label."""
    counts = np.stack([(table.labels == k).sum(axis=1) for k in range(len(table.levels))], axis=1)
    return divide(counts, counts.sum(axis=1, keepdims=True))


def answers_of(table: JudgmentTable, judge: int) -> Floats:
    """What the judge said, as credit for each answer [units, answers]; of grades [units].

    A reply without a verdict earns nothing, whatever people say.
    """
    verdicts, asked = table.verdicts[judge], table.asked[judge]
    if table.kind == "grade":
        return np.asarray(verdicts[:, 0])
    if table.kind == "category":
        return np.asarray(verdicts == np.arange(len(table.levels)), np.float64)
    orders = asked.sum(axis=1)
    sides = (np.where(asked, np.nan_to_num(x), 0.0).sum(axis=1) for x in (verdicts, 1 - verdicts))
    return np.stack([divide(side, orders) for side in sides], axis=1)


def rules_of(table: JudgmentTable) -> Mapping[str, Floats]:
    """Rules that know nothing of quality -> their answers, as of ``answers_of``."""
    n = len(table.units)
    if table.kind == "category":
        size = len(table.levels)
        named = zip(table.levels, np.eye(size), strict=True)
        rows = {"random": np.full(size, 1 / size)} | {f"always {x}": row for x, row in named}
        return {name: np.broadcast_to(row, (n, size)) for name, row in rows.items()}
    words = table.units.words[:, : 1 if table.kind == "grade" else 2]
    known = ~np.isnan(words[table.labelled])
    measured = known.size > 0 and known.mean() >= 0.95
    if table.kind == "grade":
        rules = {"random": np.zeros(n)}
        if measured and np.nanstd(words[table.labelled, 0]) > 0:
            count = np.where(np.isnan(words[:, 0]), np.nanmedian(words[:, 0]), words[:, 0])
            rules |= {"longer": count, "shorter": -count}
        return rules
    rules = {"random": np.full((n, 2), 0.5)}
    if measured and (words[:, 0] != words[:, 1]).any():
        gap = np.nan_to_num(np.sign(words[:, 0] - words[:, 1]))
        longer = np.stack([(1 + gap) / 2, (1 - gap) / 2], axis=1)
        rules |= {"longer": longer, "shorter": 1 - longer}
    for name, row in zip(("first", "second"), np.eye(2), strict=True):
        rules[f"always the {name} as stored"] = np.broadcast_to(row, (n, 2))
    return rules
