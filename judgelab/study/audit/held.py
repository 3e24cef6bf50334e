"""What judges, rules that know nothing, and people earn on the same items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from judgelab.core.bounds import Count
from judgelab.core.judgments import Floats, JudgmentTable, Mask
from judgelab.stats.intervals.arrays import ROUNDING, divide
from judgelab.stats.intervals.ends import cluster_sums, mean_ends
from judgelab.stats.intervals.estimate import Estimate, Estimates
from judgelab.stats.trust.agreement import (
    GradedRows,
    Places,
    Sums,
    Target,
    category_target,
    graded_rows,
    preference_target,
)

Names = NDArray[np.str_]
Share = Annotated[float, Field(ge=0, le=1)]

LEVEL = 0.95
"""Of every interval."""
CLASS = 10
"""Labels of a class below which nothing is said of how often it is found."""
PLACES = (("first", "second"), ("output_1", "output_2"))
"""Names of places, not of systems."""
MOST_OF_IT = 0.5
"""Share of the labelled units with two people from which each is left out in turn throughout."""


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
class Held:
    """One table of judgments, read as credits."""

    table: JudgmentTable  # judges and people; no controls
    bars: Bars  # what is enough
    # [units] share of the pool over share of the labels, of strata; None: all alike
    weight: Floats | None = None
    looks: bool = False  # whether labels came in turns and somebody looks after each

    @cached_property
    def cluster(self) -> Places:
        """[units] number of the item, or of what holds several.

        Where somebody looks after each turn and items have one graded text, the texts of a turn
        are one; of turns with a single text two that follow each other.
        """
        if not (self.looks and self._single):
            return self.table.clusters
        turn = np.nan_to_num(self.table.units.turn, nan=np.inf)
        rank = np.unique(turn, return_inverse=True)[1]
        alone = np.median(np.bincount(rank[self.table.labelled])) < 2
        return np.asarray(rank // 2 if alone else rank, np.intp)

    @cached_property
    def _single(self) -> bool:
        """Of grades: whether most items have one text."""
        units = self.table.units.item[self.table.labelled]
        counts = np.unique(units.astype(str), return_counts=True)[1]
        few = bool(counts[counts > 1].sum() < MOST_OF_IT * counts.sum())
        return self.table.kind == "grade" and few

    @cached_property
    def double(self) -> Mask:
        """[units] that two people or more labelled."""
        return np.asarray((~np.isnan(self.table.labels)).sum(axis=1) > 1, np.bool_)

    @cached_property
    def has_people(self) -> bool:
        """Whether people can be compared with each other."""
        return len(np.unique(self.cluster[self.double])) >= self.bars.labels

    @cached_property
    def leaves_out(self) -> bool:
        """Whether each person is left out in turn throughout, so that there is one target."""
        labelled = int(self.table.labelled.sum())
        return self.has_people and int(self.double.sum()) >= MOST_OF_IT * labelled

    @cached_property
    def main(self) -> Target | GradedRows:
        """What agreement, gains and recall are held against."""
        return self._target(leave_out=self.leaves_out)

    @cached_property
    def beside(self) -> Target | GradedRows | None:
        """The same with each person left out in turn; None where too few items have two people."""
        if not self.has_people:
            return None
        return self.main if self.leaves_out else self._target(leave_out=True)

    def _target(self, *, leave_out: bool) -> Target | GradedRows:
        table, cluster = self.table, self.cluster
        chosen = self.double if leave_out else table.labelled
        labels = np.where(chosen[:, None], table.labels, np.nan)
        weight = np.ones(len(cluster)) if self.weight is None else self.weight
        if table.kind == "category":
            return category_target(labels, len(table.levels), cluster, weight)
        if table.kind == "preference":
            return preference_target(labels, cluster, weight, leave_out=leave_out)
        item = cluster
        if not (self.looks and self._single):
            names = table.units.item.astype(str)
            item = np.unique(names, return_inverse=True)[1].astype(np.intp)
        # where most items have one text, texts of other items are compared
        across = self._single and not self.looks
        return graded_rows(labels, item, cluster, weight, leave_out=leave_out, across=across)

    @property
    def strangers(self) -> bool:
        """Of grades: whether people's grades of different texts are compared with each other."""
        return isinstance(self.beside, GradedRows) and self.beside.strangers

    def judged(self, judge: int) -> Mask:
        """[units] that the judge was asked about."""
        return np.asarray(self.table.asked[judge].any(axis=1), np.bool_)

    def answers(self, judge: int) -> Floats:
        """What the judge said, as credit for each answer [units, answers]; of grades [units].

        A reply without a verdict earns nothing, whatever people say.
        """
        table = self.table
        verdicts, asked = table.verdicts[judge], table.asked[judge]
        if table.kind == "grade":
            return np.asarray(verdicts[:, 0])
        if table.kind == "category":
            return np.asarray(verdicts == np.arange(len(table.levels)), np.float64)
        orders = asked.sum(axis=1)
        first = np.where(asked, np.nan_to_num(verdicts), 0.0).sum(axis=1)
        second = np.where(asked, np.nan_to_num(1 - verdicts), 0.0).sum(axis=1)
        return np.stack([divide(first, orders), divide(second, orders)], axis=1)

    @cached_property
    def controls(self) -> Mapping[str, Floats]:
        """Rules that know nothing of quality -> their answers, as of ``answers``."""
        table, n = self.table, len(self.table.units)
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

    def sums(self, judge: int) -> Sums:
        """The judge's credits."""
        return self.main.sums(self.answers(judge), self.judged(judge))

    def rules(self, judge: int) -> dict[str, Sums]:
        """The controls' credits on the judge's items."""
        there = self.judged(judge)
        return {name: self.main.sums(each, there) for name, each in self.controls.items()}

    def with_people(self, judge: int) -> tuple[Sums, Sums] | None:
        """Credits of the judge and of people against the remaining people, on the same items.

        None where these are too few.
        """
        if self.beside is None:
            return None
        there = self.judged(judge) & self.double
        own = self.beside.sums(self.answers(judge), there)
        few = (own.count > 0).sum() < self.bars.labels
        return None if few else (own, self.beside.of_people(there))

    def as_numbers(self, judge: int) -> tuple[Floats, Floats, Names] | None:
        """[units] the judge's and people's value as numbers, and the system (of pairs: both).

        Of two classes 1 is the first; of pairs the system that comes first by name. None where
        systems have no names of their own, and of three classes or more.
        """
        table, value = self.table, self.table.values[judge]
        first, second = (x.astype(str) for x in (table.units.first, table.units.second))
        if table.kind == "grade":
            return value, table.truth, first
        if table.kind == "category":
            if len(self.classes) != 2:
                return None
            k = table.levels.index(self.classes[0])
            people = np.where(table.labelled, self._people[:, k], np.nan)
            return np.where(np.isnan(value), np.nan, value == k), people, first
        if tuple(sorted({*first, *second})) in PLACES:
            return None
        flip = first > second
        one, other = np.where(flip, second, first), np.where(flip, first, second)
        both = np.char.add(np.char.add(one, " "), other)
        truth = np.where(flip, 1 - table.truth, table.truth)
        return np.where(flip, 1 - value, value), truth, both

    def off_scale(self, judge: int) -> bool:
        """Of grades: whether the judge has no scale, or some lie outside the range of people's."""
        labels, grades = self.table.labels, self.table.verdicts[judge]
        if self.table.kind != "grade":
            return False
        if np.isnan(labels).all() or np.isnan(grades).all() or not self.table.judges[judge].scaled:
            return True
        least, most = float(np.nanmin(labels)), float(np.nanmax(labels))
        slack = 0.05 * (most - least)
        return bool((grades < least - slack).any() or (grades > most + slack).any())

    @cached_property
    def labels_of_class(self) -> Floats:
        """[levels] units to which somebody gave the class."""
        labels = self.table.labels
        return np.array([(labels == k).any(axis=1).sum() for k in range(len(self.table.levels))])

    @cached_property
    def _people(self) -> Floats:
        """[units, levels] shares of people."""
        labels, ones = self.table.labels, np.ones(len(self.cluster))
        return category_target(labels, len(self.table.levels), self.cluster, ones).mass

    @property
    def classes(self) -> list[str]:
        """Levels that people gave; one that only judges use is an answer, and wrong."""
        counts = zip(self.table.levels, self.labels_of_class, strict=True)
        return [level for level, n in counts if n > 0]

    @cached_property
    def to_find(self) -> list[str]:
        """Classes that a judge must be shown to find: of two both, of more those with enough
        labels and the positive one; one where people gave no other."""
        few = len(self.classes) <= 2
        return [
            name
            for name, n in zip(self.table.levels, self.labels_of_class, strict=True)
            if name in self.classes and (n >= CLASS or few or name == self.table.positive)
        ]

    def confusion(self, judge: int) -> Floats:
        """[levels, levels + 1] units by what people (rows, shared among them) and the judge say.

        The last column: no verdict.
        """
        answers, there = self.answers(judge), self.judged(judge)
        answers = np.column_stack([answers, 1 - answers.sum(axis=1)])
        return np.asarray(self._people[there].T @ answers[there])

    def kappa(self, judge: int) -> Estimate:
        """Cohen's kappa with its interval.

        (po - pe) / (1 - pe), pe the agreement of independent answers with the same shares; what a
        cluster adds is its first-order term. A reply without a verdict agrees with nobody.
        """
        mass = self._people
        there = self.judged(judge) & (mass.sum(axis=1) > 0)
        people, said = mass[there], self.answers(judge)[there]
        weight = np.ones(len(people)) if self.weight is None else self.weight[there]
        weight = divide(weight, weight.mean() if len(weight) else 1.0)
        n = max(len(people), 1)
        rows, columns = weight @ people / n, weight @ said / n
        agreed = (people * said).sum(axis=1)
        po, pe = float(weight @ agreed) / n if len(people) else np.nan, float(rows @ columns)
        value = (po - pe) / (1 - pe) if pe < 1 else np.nan
        value = 0.0 if abs(value) < ROUNDING else value  # a constant answer
        each = people @ columns + said @ rows - 2 * pe
        off = (agreed - po - (1 - value) * each) / (1 - pe) if pe < 1 else each * np.nan
        off = weight * off
        cluster = self.cluster[there]
        sums, present = (cluster_sums(x, cluster) for x in (off, np.ones(len(off))))
        groups = (present > 0).sum()
        adds = np.where(present > 0, np.round(value + sums * groups / n, 12), np.nan)
        ends = mean_ends(adds, bounds=(-1.0, 1.0))
        return Estimates.of(value, ends, (~np.isnan(adds)).sum()).at()
