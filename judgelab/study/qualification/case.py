"""Pools of judges, and what study=qualification found of them before it is put into tables."""

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
from judgelab.stats.intervals.arrays import Floats, Mask, row_means
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_mean
from judgelab.stats.qualification.decisions import (
    accuracy,
    alike,
    correct,
    decide,
    difference,
    pooled_scores,
    unscored_pairs,
)
from judgelab.stats.qualification.exams import Marks
from judgelab.study.common.panels import human_scores
from judgelab.study.common.tables import about, entries
from judgelab.study.qualification.judge_responses import JudgeResponses

EVERYBODY, HUMAN, PRE = "all", "human", "PRE"
PRE_BAR = 0.55
"""Threshold of P_c in PRE's own exam (Auto-PRE paper, appendix 5)."""

HUMAN_BAR = 0.6
"""Accuracy that the human filter asks for."""

FOLDS = 5
"""Of the items: the human filter chooses the judges of one on the others."""

INITIAL = {"consistency": "C", "pertinence": "P", "self_confidence": "S"}


@dataclass(frozen=True)
class Pool:
    """Some judges and what they decided."""

    name: str  # all, C, P, C+P, ..., PRE, human; a judge's own name for a pool of one
    exams: tuple[str, ...]  # which admit to it
    power: Floats  # [judges] weights, 0 outside the pool; of human: mean over folds, for show
    sign: Floats  # what it decides of every pair, by ``decide``
    power_samples: Floats | None = None  # [draws, judges] weights in each resample, if chosen anew
    power_by_item: Floats | None = None  # [judges, items] where every item has its own (human)

    @property
    def members(self) -> Mask:
        """[judges] with a weight above 0."""
        return np.asarray(self.power > 0, dtype=np.bool_)

    @property
    def ties(self) -> int:
        """How many decisions are ties."""
        return int(np.count_nonzero(self.sign == 0))

    @property
    def same_list(self) -> float:
        """Share of the resamples that admit the same judges; NaN where none are drawn."""
        if self.power_samples is None:
            return float("nan")
        return float(((self.power_samples > 0) == self.members).all(axis=1).mean())


def single(responses: JudgeResponses, judge: int) -> Pool:
    """One judge alone."""
    power = np.zeros(len(responses.judges))
    power[judge] = 1.0
    return Pool(responses.judges[judge], (), power, decide(responses.votes, power))


def examined(responses: JudgeResponses, marks: Mapping[str, Marks]) -> list[Pool]:
    """All judges, and those whom each subset of the exams admits, the largest subset last."""
    sizes = range(len(marks) + 1)
    subsets = [subset for size in sizes for subset in combinations(tuple(marks), size)]
    return [admitted(responses, marks, subset) for subset in subsets]


def admitted(responses: JudgeResponses, marks: Mapping[str, Marks], exams: Sequence[str]) -> Pool:
    """The judges that passed all of these exams, weighted; who did not take one is excused."""
    if not exams:
        power = np.ones(len(responses.judges))
        return Pool(EVERYBODY, (), power, decide(responses.votes, power))
    marked = [marks[exam] for exam in exams]
    excused = np.stack([~responses.exams[exam].taken for exam in exams])
    passed: Mask = np.all([mark.passed for mark in marked] | excused, axis=0)
    passes: Mask = np.all(np.stack([mark.passes for mark in marked], axis=1) | excused, axis=1)
    power = _weights(np.stack([mark.found.value for mark in marked]), passed)
    powers = _weights(np.stack([mark.samples for mark in marked], axis=1), passes)
    name = "+".join(INITIAL[exam] for exam in marks if exam in exams)
    return Pool(name, tuple(exams), power, decide(responses.votes, power), powers)


def consistent(responses: JudgeResponses, marks: Marks) -> Pool:
    """PRE (Auto-Exam): judges whose P_c exceeds .55, each with one vote (appendix 5)."""
    power, samples = (
        np.asarray(np.nan_to_num(each) > PRE_BAR, dtype=np.float64)
        for each in (marks.found.value, marks.samples)
    )
    return Pool(PRE, ("consistency",), power, decide(responses.votes, power), samples)


def filtered_by_people(responses: JudgeResponses, gold: Floats, folds: int = FOLDS) -> Pool:
    """PRE's human filter: judges whose accuracy exceeds ``HUMAN_BAR``, weighted with it."""
    votes = responses.votes
    right = np.stack([correct(np.sign(each), gold) for each in votes])
    fold = np.arange(len(gold)) % folds
    sign = np.full(votes.shape[1:], np.nan)
    powers = np.zeros((folds, len(right)))
    for part in range(folds):
        marks = row_means(right[:, fold != part].reshape(len(right), -1))
        powers[part] = np.where(marks > HUMAN_BAR, marks, 0.0)
        sign[fold == part] = decide(votes[:, fold == part], powers[part])
    return Pool(HUMAN, (), powers.mean(axis=0), sign, power_by_item=powers[fold].T)


def answer_scores(responses: JudgeResponses, pool: Pool, agents: int) -> Floats:
    """[items, agents] how good a pool finds each answer: mean grade, or pairs won less lost."""
    if responses.graded:
        weights = pool.power if pool.power_by_item is None else pool.power_by_item
        return pooled_scores(responses.cells, weights)
    sides = np.zeros((len(responses.pairs), agents))
    np.put_along_axis(sides, responses.pairs, [[1.0, -1.0]], axis=1)
    net, decided = np.nan_to_num(pool.sign) @ sides, ~np.isnan(pool.sign) @ np.abs(sides)
    return np.where(decided > 0, net, np.nan)


def _weights(values: Floats, passed: Mask) -> Floats:
    """Weights [..., judges] of those that passed, the mean of their numbers [..., exams, judges].

    Who was excused counts there what the others of the pool have on average: else an exam that all
    others passed with 1 would lower its weight.
    """
    inside = passed[..., None, :] & ~np.isnan(values)
    usual = row_means(np.where(inside, values, np.nan))[..., None]
    score = row_means(np.swapaxes(np.where(np.isnan(values), usual, values), -1, -2))
    return np.where(passed, np.where(np.isnan(score), 1.0, score), 0.0)


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
