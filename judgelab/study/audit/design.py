"""How an audit reads its table: the target of judges, what is independent, what is enough.

And what judges, and rules that know nothing of quality, say of each unit: credit for each answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judgelab.core.bounds import Count, Share
from judgelab.core.judgments import Floats, JudgmentTable, Mask
from judgelab.stats.intervals.arrays import divide
from judgelab.stats.trust.agreement import (
    GradedRows,
    Places,
    Shares,
    Target,
    category_target,
    graded_rows,
    preference_target,
)

CLASS = 10  # labels of a class below which nothing is said of how often it is found
MOST = 0.5
"""Share of the labelled units with two people from which each is left out in turn throughout; and
of the items with several texts from which texts of one item are compared."""

# names of places or roles, sorted, not of systems
PLACES = (("first", "second"), ("output_1", "output_2"), ("chosen", "rejected"))


@dataclass(frozen=True)
class Bars:
    """What is enough.

    Args:
        labels: fewest labelled items.
        unread: largest share of replies without a verdict.
        below_people: how far below people's agreement with each other a judge may lie, and below
            people's own recall of a class.
        minimum: least agreement, and recall of each class, that the user accepts; needed where
            items have one label, as nobody knows then how far people agree.
        recall: least recall of each class, where it is another.
        position: how far from .5 the share won by the text shown first may lie.
        probe: how far a manipulation may move the judge.
    """

    labels: Count = 30
    unread: Share = 0.05
    below_people: Share = 0.1
    minimum: Share | None = None
    recall: Share | None = None
    position: Share = 0.05
    probe: Share = 0.05


@dataclass(frozen=True)
class Design:
    """One table of judgments, and how it is read."""

    table: JudgmentTable  # judges and people; no controls
    bars: Bars
    cluster: Places  # [units] number of the item, or of what holds several
    weight: Floats | None  # [units] share of the pool over that of the labels; None: no strata
    turn: Floats | None  # [clusters] when they were labelled (NaN: not); None: nobody looks on
    double: Mask  # [units] that two people or more labelled
    target: Target | GradedRows  # what agreement, gains and recall are held against
    beside: Target | GradedRows | None  # the same, each person left out; None: too few have two
    labels_of_class: Mapping[str, int]  # level -> units to which somebody gave it

    @staticmethod
    def of(
        table: JudgmentTable, bars: Bars, weight: Floats | None = None, *, looks: bool = False
    ) -> Design:
        """How a table is read; ``weight``: [units] of strata; ``looks``: whether labels came in
        turns and somebody looks after each."""
        single = single_grades(table)
        cluster, turn = table.clusters, None
        if looks:
            cluster = _clusters_in_turn(table) if single else cluster
            turn = np.full(int(cluster.max(initial=-1)) + 1, np.nan)
            np.fmin.at(turn, cluster, table.units.turn)
        item = cluster if looks and single else _numbers(table.units.item.astype(str))
        each = np.ones(len(cluster)) if weight is None else weight

        def target(units: Mask, *, leave_out: bool) -> Target | GradedRows:
            labels, how = np.where(units[:, None], table.labels, np.nan), {"leave_out": leave_out}
            if table.kind == "category":
                return replace(category_target(labels, len(table.levels), cluster, each), turn=turn)
            if table.kind == "preference":
                return replace(preference_target(labels, cluster, each, **how), turn=turn)
            across = single and not looks  # texts of other items are compared
            rows = graded_rows(labels, item, cluster, each, **how, across=across)
            return replace(rows, turn=turn)

        double, beside = (~np.isnan(table.labels)).sum(axis=1) > 1, None
        if len(np.unique(cluster[double])) >= bars.labels:
            beside = target(double, leave_out=True)
        throughout = double.sum() >= MOST * table.labelled.sum()
        main = beside if beside and throughout else target(table.labelled, leave_out=False)
        counts = {x: int((table.labels == k).any(1).sum()) for k, x in enumerate(table.levels)}
        return Design(table, bars, cluster, weight, turn, double, main, beside, counts)

    @property
    def own(self) -> Shares:
        """[judges] how far each agrees with (the remaining) people."""
        return self.target.shares(answers_of(self.table), self.judged)

    def labelled_items(self, units: Mask) -> int:
        """How many items have a label among these units."""
        return len(np.unique(self.table.clusters[self.table.labelled & units]))

    @property
    def judged(self) -> Mask:
        """[judges, units] what each judge was asked about."""
        return np.asarray(self.table.asked.any(axis=2), np.bool_)

    @property
    def weights(self) -> Floats:
        """[units] 1 without strata."""
        return np.ones(len(self.cluster)) if self.weight is None else self.weight

    @property
    def unit_of_n(self) -> str:
        """What the n of estimates are: items, or turns in which they were labelled."""
        return "items" if self.turn is None else "turns"

    @property
    def leaves_out(self) -> bool:
        """Whether each person is left out in turn throughout, so that there is one target."""
        return self.target is self.beside

    @property
    def classes(self) -> list[str]:
        """Levels that people gave; one that only judges use is an answer, and wrong."""
        return [level for level, n in self.labels_of_class.items() if n > 0]

    @property
    def to_find(self) -> list[str]:
        """Classes that a judge must be shown to find: of two both, of more those with enough labels
        and the positive one; one where people gave no other."""
        few, positive = len(self.classes) <= 2, self.table.positive
        counts = self.labels_of_class
        return [x for x in self.classes if few or counts[x] >= CLASS or x == positive]


def single_grades(table: JudgmentTable) -> bool:
    """Whether texts are graded, and most items have one, so that texts of two are compared."""
    counts = np.bincount(_numbers(table.units.item[table.labelled].astype(str)))
    return table.kind == "grade" and bool(counts[counts > 1].sum() < MOST * counts.sum())


def came_in_turns(table: JudgmentTable) -> bool:
    """Whether the data say when labels came, so that somebody looks after each round."""
    turn = table.units.turn[table.labelled]
    return bool(len(set(turn[~np.isnan(turn)])) > 1 and not np.isnan(turn).any())


def _clusters_in_turn(table: JudgmentTable) -> Places:
    """[units] texts of a turn are one; of turns with a single text two that follow each other."""
    rank = _numbers(np.nan_to_num(table.units.turn, nan=np.inf))
    alone = np.median(np.bincount(rank[table.labelled])) < 2
    return np.asarray(rank // 2 if alone else rank, np.intp)


def _numbers(values: NDArray[np.generic]) -> Places:
    return np.asarray(np.unique(values, return_inverse=True)[1], np.intp)


def shares_of_people(table: JudgmentTable) -> Floats:
    """[units, levels] share of the people who give each category; NaN without a label."""
    counts = (table.labels[:, :, None] == np.arange(len(table.levels))).sum(axis=1)
    return divide(counts, counts.sum(axis=1, keepdims=True))


def answers_of(table: JudgmentTable) -> Floats:
    """What judges said, as credit for each answer [judges, units, answers]; grades [judges, units].

    A reply without a verdict earns nothing, whatever people say.
    """
    verdicts, asked = table.verdicts, table.asked
    if table.kind == "grade":
        return verdicts[..., 0]
    if table.kind == "category":
        return np.asarray(verdicts == np.arange(len(table.levels)), np.float64)
    orders = asked.sum(axis=2)
    sides = (np.where(asked, np.nan_to_num(x), 0.0).sum(axis=2) for x in (verdicts, 1 - verdicts))
    return np.stack([divide(side, orders) for side in sides], axis=2)


def rules_of(table: JudgmentTable) -> Mapping[str, Floats]:
    """Rules that know nothing of quality -> their answers [units, answers]; of grades [units].

    Of pairs also: the text that is shown first, where it is known which that is and some pair was
    judged in one order alone (a judge sees that, and not which text is stored first) [judges,
    units, answers]; and of two systems always the same one.
    """
    n = len(table.units)
    if table.kind == "category":
        size = len(table.levels)
        levels = zip(table.levels, np.eye(size), strict=True)
        rows = {"random": np.full(size, 1 / size)} | {f"always {x}": row for x, row in levels}
        return {name: np.broadcast_to(row, (n, size)) for name, row in rows.items()}
    words = table.units.words[:, : 1 if table.kind == "grade" else 2]
    has_words = ~np.isnan(words[table.labelled])
    enough_words = has_words.size > 0 and has_words.mean() >= 0.95
    if table.kind == "grade":
        rules = {"random": np.zeros(n)}
        if enough_words and np.nanstd(words[table.labelled, 0]) > 0:
            count = np.where(np.isnan(words[:, 0]), np.nanmedian(words[:, 0]), words[:, 0])
            rules |= {"longer": count, "shorter": -count}
        return rules
    rules = {"random": np.full((n, 2), 0.5)}
    if enough_words and (words[:, 0] != words[:, 1]).any():
        gap = np.nan_to_num(np.sign(words[:, 0] - words[:, 1]))
        longer = np.stack([(1 + gap) / 2, (1 - gap) / 2], axis=1)
        rules |= {"longer": longer, "shorter": 1 - longer}
    times = table.asked.sum(axis=2)
    if (times == 1).any() and table.asked[..., 1].any():  # of one order for all nobody may know it
        each = np.where(times > 0, divide(table.asked[..., 0], times), 0.5)  # shown first
        rules["always the text shown first"] = np.stack([each, 1 - each], axis=2)
        rules["always the text shown second"] = np.stack([1 - each, each], axis=2)
    for system in two_systems(table):
        own = table.units.first.astype(str) == system
        rules[f"always the text of {system}"] = np.stack([own, ~own], axis=1).astype(float)
    return rules


def two_systems(table: JudgmentTable) -> tuple[str, ...]:
    """The two systems whose texts all pairs compare, by name; none where there are more."""
    names = tuple(sorted({*table.units.first.astype(str), *table.units.second.astype(str)}))
    return names if len(names) == 2 and names not in PLACES else ()


def systems_of(design: Design) -> tuple[Floats, Floats, NDArray[np.str_]] | None:
    """Values of judges [judges, units] and of people [units], and the system [units] of each text.

    Of pairs: of both systems, and values are wins of the one that comes first by name; of two
    classes the one that comes first. None of places that are no systems, and of three classes or
    more, which have no order.
    """
    table, classes = design.table, design.classes
    values, truth, system = table.values, table.truth, table.units.first.astype(str)
    if table.kind == "category":
        if len(classes) != 2:
            return None
        k = table.levels.index(classes[0])
        values = np.where(np.isnan(values), np.nan, values == k)
        truth = shares_of_people(table)[:, k]
    if table.kind == "preference":
        second = table.units.second.astype(str)
        if tuple(sorted({*system, *second})) in PLACES:
            return None
        swap = system > second
        values, truth = (np.where(swap, 1 - x, x) for x in (values, truth))
        one, other = np.where(swap, second, system), np.where(swap, system, second)
        system = np.char.add(np.char.add(one, " "), other)
    return values, truth, system
