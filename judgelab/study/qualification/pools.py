"""Pools of judges: members, weights, and what they decide together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.qualification.decisions import (
    Orders,
    Weighting,
    correct,
    decide,
    fusion_weights,
    pooled_scores,
)
from judgelab.stats.qualification.exams import Bools, Marks
from judgelab.study.qualification.judge_responses import JudgeResponses

EVERYBODY, HUMAN, PRE = "all", "human", "PRE"
PRE_BAR = 0.55
"""Threshold of P_c in PRE's own exam (Auto-PRE paper, appendix 5)."""

INITIAL = {"consistency": "C", "pertinence": "P", "self_confidence": "S"}


@dataclass(frozen=True)
class Pool:
    """Some judges and what they decided.

    Attributes:
        name: all, C, P, C+P, ..., PRE, human; a judge's own name for a pool of one.
        exams: which admit to it.
        power: [judges] weights, 0 outside the pool. Of human: mean over folds, for show.
        sign: what it decides of every pair, by ``decide``.
        power_samples: [draws, judges] weights where the pool is chosen anew in each resample;
            None where it is not.
        power_by_item: [judges, items] weights where every item has its own (human).
        passed: [judges] that passed its exams, also with a weight of 0; None where none is asked.
    """

    name: str
    exams: tuple[str, ...]
    power: Floats
    sign: Floats
    power_samples: Floats | None = None
    power_by_item: Floats | None = None
    passed: Bools | None = None

    @property
    def members(self) -> Bools:
        """[judges] with a weight above 0."""
        return np.asarray(self.power > 0, dtype=np.bool_)

    @property
    def ties(self) -> int:
        """How many decisions are ties."""
        return int(np.count_nonzero(self.sign == 0))

    @property
    def weightless(self) -> Bools:
        """[judges] that passed with a weight of 0: a logit at or below chance."""
        return np.zeros_like(self.members) if self.passed is None else self.passed & ~self.members

    @property
    def same_list(self) -> float:
        """Share of the resamples that admit the same judges; NaN where none are drawn."""
        if self.power_samples is None:
            return float("nan")
        return float(((self.power_samples > 0) == self.members).all(axis=1).mean())


@dataclass(frozen=True)
class PoolingRules:
    """How pools are made.

    Attributes:
        weighting, orders: see ``fusion_weights`` and ``votes_of``.
    """

    weighting: Weighting = "score"
    orders: Orders = "merged"


def single(responses: JudgeResponses, judge: int, rules: PoolingRules) -> Pool:
    """One judge alone."""
    power = np.zeros(len(responses.judges))
    power[judge] = 1.0
    votes = responses.votes(rules.orders)
    return Pool(responses.judges[judge], (), power, decide(votes, power))


def examined(
    responses: JudgeResponses, marks: Mapping[str, Marks], rules: PoolingRules
) -> list[Pool]:
    """All judges, and those whom each subset of the exams admits, the largest subset last."""
    sizes = range(len(marks) + 1)
    subsets = [subset for size in sizes for subset in combinations(tuple(marks), size)]
    return [admitted(responses, marks, subset, rules) for subset in subsets]


def admitted(
    responses: JudgeResponses, marks: Mapping[str, Marks], exams: Sequence[str], rules: PoolingRules
) -> Pool:
    """The judges that passed all of these exams, weighted; who did not take one is excused."""
    votes = responses.votes(rules.orders)
    if not exams:
        power = np.ones(len(responses.judges))
        return Pool(EVERYBODY, (), power, decide(votes, power))
    chosen = np.array([name in exams for name in marks], dtype=np.bool_)
    taken = responses.taken
    passed: Bools = np.all([marks[exam].passed | ~taken[exam] for exam in exams], axis=0)
    passes: Bools = np.all([marks[exam].passes | ~taken[exam] for exam in exams], axis=0)
    values = np.stack([mark.found.value for mark in marks.values()])
    samples = np.stack([mark.samples for mark in marks.values()], axis=1)
    power = _weights(values, chosen, rules.weighting, passed)
    powers = _weights(samples, chosen, rules.weighting, passes)
    name = "+".join(INITIAL[exam] for exam in marks if exam in exams)
    sign = decide(votes, power)
    return Pool(name, tuple(exams), power, sign, powers, passed=passed)


def consistent(responses: JudgeResponses, marks: Marks, rules: PoolingRules) -> Pool:
    """PRE (Auto-Exam): judges whose P_c exceeds .55, each with one vote (appendix 5)."""
    passed: Bools = np.nan_to_num(marks.found.value) > PRE_BAR
    power, samples = passed.astype(np.float64), np.nan_to_num(marks.samples) > PRE_BAR
    sign = decide(responses.votes(rules.orders), power)
    return Pool(PRE, ("consistency",), power, sign, samples.astype(np.float64), passed=passed)


def filtered_by_people(
    responses: JudgeResponses, gold: Floats, bar: float, folds: int, rules: PoolingRules
) -> Pool:
    """PRE's human filter: judges whose accuracy exceeds the bar, weighted with it.

    The paper takes both from answers that are then judged again; here decisions and grades of
    the items of one fold come from accuracies on the other folds.
    """
    votes = responses.votes(rules.orders)
    right = np.stack([correct(np.sign(each), gold) for each in votes])
    fold = np.arange(len(gold)) % folds
    sign = np.full(votes.shape[1:], np.nan)
    powers = np.zeros((folds, len(right)))
    for part in range(folds):
        marks = row_means(right[:, fold != part].reshape(len(right), -1))
        powers[part] = np.where(marks > bar, marks, 0.0)
        sign[fold == part] = decide(votes[:, fold == part], powers[part])
    return Pool(HUMAN, (), powers.mean(axis=0), sign, power_by_item=powers[fold].T)


def answer_scores(responses: JudgeResponses, pool: Pool, agents: int) -> Floats:
    """[items, agents] how good a pool finds each answer: mean grade, or pairs won less lost."""
    if responses.grades is not None:
        weights = pool.power if pool.power_by_item is None else pool.power_by_item
        return pooled_scores(responses.grades, weights)
    sign = pool.sign if pool.sign.ndim == 2 else pool.sign.sum(axis=-1)
    sides = np.zeros((len(responses.pairs), agents))
    np.put_along_axis(sides, responses.pairs, [[1.0, -1.0]], axis=1)
    net, decided = np.nan_to_num(sign) @ sides, ~np.isnan(sign) @ np.abs(sides)
    return np.where(decided > 0, net, np.nan)


def _weights(values: Floats, chosen: Bools, rule: Weighting, passed: Bools) -> Floats:
    """Weights [..., judges] of those that passed, of numbers [..., exams, judges].

    A judge that was excused from an exam counts there what the others of the pool have on
    average: left out, an exam that all others passed with 1 would lower the absentee's weight.
    """
    inside = passed[..., None, :] & ~np.isnan(values)
    usual = row_means(np.where(inside, values, np.nan))[..., None]
    power = fusion_weights(np.where(np.isnan(values), usual, values), chosen, rule)
    return np.where(passed, np.where(np.isnan(power), 1.0, power), 0.0)
