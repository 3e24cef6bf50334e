"""Pools of judges, what they decide, and what people prefer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from judgelab.core.panel import Panel, folds
from judgelab.stats.intervals.arrays import Floats, Mask, row_means
from judgelab.stats.qualification.exams import Marks, correct, decide, pooled_scores
from judgelab.study.common.panels import human_scores
from judgelab.study.qualification.responses import Counts, JudgeResponses

EVERYBODY, HUMAN, PRE = "all", "human", "PRE"
PRE_BAR = 0.55  # threshold of P_c in PRE's own exam (Auto-PRE paper, appendix 5)
HUMAN_BAR = 0.6  # accuracy that the human filter asks for
FOLDS = 5  # of the items: the human filter chooses the judges of one on the others
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
        return np.asarray(self.power > 0)

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
    power = np.eye(len(responses.judges))[judge]
    return Pool(responses.judges[judge], (), power, decide(responses.votes, power))


def exam_pools(responses: JudgeResponses, marks: Mapping[str, Marks]) -> list[Pool]:
    """All judges, and those whom each subset of the exams admits, the largest subset last."""
    power = np.ones(len(responses.judges))
    everybody = Pool(EVERYBODY, (), power, decide(responses.votes, power))
    subsets = [exams for size in range(len(marks)) for exams in combinations(marks, size + 1)]
    return [everybody, *(exam_pool(responses, marks, exams) for exams in subsets)]


def exam_pool(responses: JudgeResponses, marks: Mapping[str, Marks], exams: Sequence[str]) -> Pool:
    """The judges that passed all of these exams, weighted; who did not take one is excused."""
    marked = [marks[exam] for exam in exams]
    excused = np.stack([~responses.exams[exam].takers for exam in exams])
    passed: Mask = np.all([mark.passed for mark in marked] | excused, axis=0)
    passes: Mask = np.all(np.stack([mark.passes for mark in marked], axis=1) | excused, axis=1)
    power = _weights(np.stack([mark.estimates.value for mark in marked]), passed)
    powers = _weights(np.stack([mark.samples for mark in marked], axis=1), passes)
    name = "+".join(INITIAL[exam] for exam in marks if exam in exams)
    return Pool(name, tuple(exams), power, decide(responses.votes, power), powers)


def pre_pool(responses: JudgeResponses, marks: Marks) -> Pool:
    """PRE (Auto-Exam): judges whose P_c exceeds .55, each with one vote (appendix 5)."""
    power, samples = (
        np.asarray(np.nan_to_num(each) > PRE_BAR, dtype=np.float64)
        for each in (marks.estimates.value, marks.samples)
    )
    return Pool(PRE, ("consistency",), power, decide(responses.votes, power), samples)


def human_pool(responses: JudgeResponses, gold: Floats, panel: Panel, count: int = FOLDS) -> Pool:
    """PRE's human filter: judges whose accuracy exceeds ``HUMAN_BAR``, weighted with it.

    An item's fold hangs on ids alone, and not on the order of the items.
    """
    votes = responses.votes
    right = np.stack([correct(np.sign(each), gold) for each in votes])
    fold = folds([item.id for item in panel.items], count, seed=0)
    sign = np.full(votes.shape[1:], np.nan)
    powers = np.zeros((count, len(right)))
    for part in range(count):
        marks = row_means(right[:, fold != part].reshape(len(right), -1))
        powers[part] = np.where(marks > HUMAN_BAR, marks, 0.0)
        sign[fold == part] = decide(votes[:, fold == part], powers[part])
    return Pool(HUMAN, (), powers.mean(axis=0), sign, power_by_item=powers[fold].T)


def answer_scores(responses: JudgeResponses, pool: Pool, agents: int) -> Floats:
    """[items, agents] how good a pool finds each answer: mean grade, or pairs won less lost."""
    if responses.has_grades:
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


def preferences_of(panel: Panel, pairs: Counts) -> Floats:
    """[items, pairs] 1 where people prefer the first answer, -1 the second, 0 a tie, NaN unknown.

    The higher grade is preferred. An item's ``meta["preferences"]``, a JSON list of [better,
    worse] agents, decides the pairs it names.
    """
    grades = human_scores(panel)
    gold = np.sign(grades[:, pairs[:, 0]] - grades[:, pairs[:, 1]])
    names = [agent.name for agent in panel.agents]
    place = {(names[i], names[j]): k for k, (i, j) in enumerate(pairs)}
    for row, item in enumerate(panel.items):
        for better, worse in json.loads(item.meta.get("preferences", "[]")):
            for first, second, sign in ((better, worse, 1.0), (worse, better, -1.0)):
                if (column := place.get((str(first), str(second)))) is not None:
                    gold[row, column] = sign
    return gold


def family_pairs(panel: Panel, pairs: Counts, family: Sequence[str]) -> tuple[Mask, Mask]:
    """[pairs, 2] whose answers are the family's, and [pairs] where one is and the other is not."""
    agents = np.array([agent.name for agent in panel.agents])
    inside = np.isin(agents[pairs], np.array(family, dtype=str))
    return inside, np.asarray(inside.sum(axis=1) == 1)
