"""What study=qualification found, and what people said, before it is put into tables."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgelab.core.panel import Panel
from judgelab.core.result import Value
from judgelab.engine.context import Context
from judgelab.stats.discrimination.correlation import item_correlations
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_mean
from judgelab.stats.qualification.decisions import (
    accuracy,
    alike,
    correct,
    difference,
    unscored_pairs,
)
from judgelab.stats.qualification.exams import Marks
from judgelab.study.common.panels import human_scores
from judgelab.study.common.tables import about, entries
from judgelab.study.qualification.judge_responses import JudgeResponses
from judgelab.study.qualification.pools import HUMAN, PRE, Pool, answer_scores


@dataclass(frozen=True)
class Case:
    """Everything that the tables are made of."""

    responses: JudgeResponses
    agents: Sequence[str]  # names, of the responses' ``pairs``
    marks: Mapping[str, Marks]  # exam -> how the judges did
    singles: Sequence[Pool]  # every judge alone
    # all judges, every subset of the exams (the full one last), PRE and the human filter
    pools: Sequence[Pool]
    gold: Floats  # [items, pairs] people's preference
    human: Floats  # [items, agents] people's grade
    family: Sequence[str]  # agents whose bias rate is asked for
    currency: str  # of all costs
    annotation_cost: float  # of the human filter; NaN where unknown
    missing: tuple[str, ...]  # sentences on what is missing, and why
    draws: int  # of the resamples, as is the seed
    seed: int
    methods: Mapping[str, Case] = field(default_factory=dict)  # name -> the case of its judges

    @property
    def known(self) -> bool:
        """Whether people prefer any answer to another."""
        return bool((np.abs(self.gold) == 1).any())

    @property
    def chosen(self) -> Pool:
        """The pool of all exams."""
        return [pool for pool in self.pools if pool.name not in (PRE, HUMAN)][-1]

    @property
    def outcome(self) -> Pool:
        """What these judges decide as a method: the pool of all exams, or the only judge."""
        return self.singles[0] if len(self.singles) == 1 else self.chosen

    def accuracy(self, sign: Floats, gold: Floats | None = None) -> Estimate:
        """Of decisions on the pairs that people decided, or on those of ``gold``."""
        gold = self.gold if gold is None else gold
        return replace(accuracy(correct(sign, gold)), unscored=unscored_pairs(sign, gold))

    def rho(self, pool: Pool) -> Estimate:
        """Spearman's rho with people's grades, mean over items.

        0 where the pool grades all answers of an item alike; items where people do are left out.
        """
        scores = answer_scores(self.responses, pool, len(self.agents))
        human = np.where(np.isnan(scores), np.nan, self.human)
        grades = pd.DataFrame(human)
        differ = grades.max(axis=1) > grades.min(axis=1)
        each = item_correlations(scores, human)
        return item_mean(np.where(np.isnan(each) & differ, 0.0, each), (-1.0, 1.0))

    def gain(self, pool: Pool, other: Pool) -> Estimate:
        """What one method has more accuracy of than another, on the pairs that both decided.

        p: sign flips of whole items.
        """
        first, second = correct(pool.sign, self.gold), correct(other.sign, self.gold)
        found = difference(first, second, draws=self.draws, seed=self.seed)
        return replace(found, unscored=int((np.abs(self.gold) == 1).sum()) - found.n)

    def agreement(self, groups: Sequence[tuple[Pool, Pool]]) -> Estimate:
        """Share of pairs decided alike, over these twos; no value without any."""
        if not groups:
            return Estimate(math.nan, clusters=0)
        cells = np.stack([alike(a.sign, b.sign) for a, b in groups], axis=-1)
        return replace(accuracy(cells), unscored=int(np.isnan(cells).sum()))

    def costs_of(self, pool: Pool) -> tuple[float, float]:
        """Of choosing a pool's members from all candidates (of the human filter: the others'
        verdicts, and annotation); and that together with the members' verdicts.

        NaN where unknown.
        """
        cost, exams = self.responses.cost, 0.0
        for whole, more, writing in (self.responses.exams[exam].cost for exam in pool.exams):
            # every candidate is examined, whether it passes or not; members' verdicts are counted
            exams += float(np.where(pool.members, more, whole).sum() + writing)
        if pool.name == HUMAN:
            exams = float(cost[~pool.members].sum() + self.annotation_cost)
        return exams, float(cost[pool.members].sum()) + exams

    def summary(self, context: Context, panel: Panel) -> dict[str, Value]:
        """Flat entries; those of the chosen pool first."""
        pool, parts = self.chosen, ("low", "high", "n")
        made = about(context, panel, "qualification") | {
            "items": len(panel.items),
            "pairs": int(self.gold.size),
            "judges": len(self.responses.judges),
            "pool": pool.name,
            "pool/judges": int(pool.members.sum()),
            "pool/ties": pool.ties,
            "pool/p_same_list": pool.same_list,
        }
        own = [(self.singles[k], pool) for k in np.flatnonzero(pool.members).tolist()]
        twos = list(combinations(self.singles, 2))
        made |= entries("judges/agreement", self.agreement(twos), *parts)
        made |= entries("pool/agreement", self.agreement(own), *parts)
        if self.known:
            made |= entries("pool/accuracy", self.accuracy(pool.sign), *parts)
            made["pool/cost"] = self.costs_of(pool)[1]
            made |= entries("all/accuracy", self.accuracy(self.pools[0].sign), *parts)
            made |= entries("pool/spearman", self.rho(pool), *parts)
        return made


def all_pairs(panel: Panel) -> NDArray[np.int64]:
    """[pairs, 2] agents of every unordered pair of agents that are no references."""
    plain = [k for k, agent in enumerate(panel.agents) if not agent.reference]
    return np.array(list(combinations(plain, 2)), dtype=np.int64).reshape(-1, 2)


def preferences_of(panel: Panel, pairs: NDArray[np.int64]) -> Floats:
    """[items, pairs] 1 where people prefer the first answer, -1 the second, 0 a tie, NaN unknown.

    The higher grade is preferred. An item's ``meta["preferences"]``, a JSON list of [better,
    worse] agents, decides the pairs it names.
    """
    grades = human_scores(panel)
    gold = np.sign(grades[:, pairs[:, 0]] - grades[:, pairs[:, 1]])
    names = [agent.name for agent in panel.agents]
    side = {(names[i], names[j]): (k, 1.0) for k, (i, j) in enumerate(pairs)}
    side |= {(names[j], names[i]): (k, -1.0) for k, (i, j) in enumerate(pairs)}
    for row, item in enumerate(panel.items):
        for better, worse in json.loads(item.meta.get("preferences", "[]")):
            if (str(better), str(worse)) in side:
                column, sign = side[str(better), str(worse)]
                gold[row, column] = sign
    return gold


def family_pairs(
    agents: Sequence[str], pairs: NDArray[np.int64], family: Sequence[str]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """[pairs, 2] whose answers are the family's, and [pairs] where one is and the other is not."""
    inside = np.isin(np.array(agents)[pairs], np.array(family, dtype=str))
    return inside, np.asarray(inside.sum(axis=1) == 1)
