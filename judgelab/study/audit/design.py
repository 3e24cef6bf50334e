"""How an audit reads its table: the target of judges, what is independent, what is enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from judgelab.core.bounds import Count
from judgelab.core.judgments import Floats, JudgmentTable, Mask
from judgelab.stats.trust.agreement import (
    GradedRows,
    Places,
    Target,
    category_target,
    graded_rows,
    preference_target,
)

Share = Annotated[float, Field(ge=0, le=1)]

LEVEL = 0.95
"""Of every interval."""
CLASS = 10
"""Labels of a class below which nothing is said of how often it is found."""
MOST = 0.5
"""Share of the labelled units with two people from which each is left out in turn throughout; and
of the items with several texts from which texts of one item are compared."""


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
    # [units] share of the pool over share of the labels, of strata; None: all alike
    weight: Floats | None
    # [clusters] when they were labelled (NaN: not), where somebody looks after each turn; else None
    turn: Floats | None
    double: Mask  # [units] that two people or more labelled
    target: Target | GradedRows  # what agreement, gains and recall are held against
    # the same with each person left out in turn; None where too few items have two people
    beside: Target | GradedRows | None
    labels_of_class: Mapping[str, int]  # level -> units to which somebody gave it

    @staticmethod
    def of(
        table: JudgmentTable, bars: Bars, weight: Floats | None = None, *, looks: bool = False
    ) -> Design:
        """How a table is read.

        Args:
            weight: [units] of strata; None: all alike.
            looks: whether labels came in turns and somebody looks after each.
        """
        single = single_grades(table)
        cluster, turn = table.clusters, None
        if looks:
            cluster = _clusters_in_turn(table) if single else cluster
            turn = np.full(int(cluster.max(initial=-1)) + 1, np.nan)
            np.fmin.at(turn, cluster, table.units.turn)
        item = cluster if looks and single else _numbers(table.units.item.astype(str))
        each = np.ones(len(cluster)) if weight is None else weight
        across = single and not looks  # texts of other items are compared

        def target(chosen: Mask, *, leave_out: bool) -> Target | GradedRows:
            labels = np.where(chosen[:, None], table.labels, np.nan)
            if table.kind == "category":
                return replace(category_target(labels, len(table.levels), cluster, each), turn=turn)
            how = {"leave_out": leave_out}
            if table.kind == "preference":
                return replace(preference_target(labels, cluster, each, **how), turn=turn)
            rows = graded_rows(labels, item, cluster, each, **how, across=across)
            return replace(rows, turn=turn)

        double = np.asarray((~np.isnan(table.labels)).sum(axis=1) > 1, np.bool_)
        beside = None
        if len(np.unique(cluster[double])) >= bars.labels:
            beside = target(double, leave_out=True)
        throughout = beside is not None and double.sum() >= MOST * table.labelled.sum()
        main = beside if beside and throughout else target(table.labelled, leave_out=False)
        counts = {x: int((table.labels == k).any(1).sum()) for k, x in enumerate(table.levels)}
        return Design(table, bars, cluster, weight, turn, double, main, beside, counts)

    def labelled_items(self, chosen: Mask) -> int:
        """How many items have a label among these units."""
        return len(np.unique(self.table.clusters[self.table.labelled & chosen]))

    @property
    def judged(self) -> Mask:
        """[judges, units] what each judge was asked about."""
        return np.asarray(self.table.asked.any(axis=2), np.bool_)

    @property
    def weights(self) -> Floats:
        """[units] 1 without strata."""
        return np.ones(len(self.cluster)) if self.weight is None else self.weight

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


def _clusters_in_turn(table: JudgmentTable) -> Places:
    """[units] texts of a turn are one; of turns with a single text two that follow each other."""
    rank = _numbers(np.nan_to_num(table.units.turn, nan=np.inf))
    alone = np.median(np.bincount(rank[table.labelled])) < 2
    return np.asarray(rank // 2 if alone else rank, np.intp)


def _numbers(values: NDArray[np.generic]) -> Places:
    return np.asarray(np.unique(values, return_inverse=True)[1], np.intp)
