"""Pools of judges: who is in, with what weight, and what they decide together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import divide, row_means
from judgelab.stats.qualification.exams import Bools, Marks
from judgelab.stats.qualification.pooling import (
    Decision,
    Orders,
    Weighting,
    decide,
    fusion_weights,
    pooled_scores,
)
from judgelab.stats.qualification.preference import correct
from judgelab.study.qualification.judge_responses import Hearing

Floats = NDArray[np.float64]

EVERYBODY, HUMAN = "all", "human"
INITIAL = {"consistency": "C", "pertinence": "P", "self_confidence": "S"}


@dataclass(frozen=True)
class Pool:
    """Some judges and what they decided.

    Attributes:
        name: all, C, P, C+P, ..., human; a judge's own name for a pool of one.
        exams: which admit to it.
        power: [judges] weights, 0 for who is not in. Of human: mean over folds, for show.
        decision: of every pair.
        power_samples: [draws, judges] weights where the pool is chosen anew in each resample;
            None where it is not.
        power_by_item: [judges, items] weights where every item has its own (human).
        passed: [judges] who passed its exams, also with a weight of 0; None where none is asked.
    """

    name: str
    exams: tuple[str, ...]
    power: Floats
    decision: Decision
    power_samples: Floats | None = None
    power_by_item: Floats | None = None
    passed: Bools | None = None

    @property
    def members(self) -> Bools:
        """[judges] who has a say."""
        return np.asarray(self.power > 0, dtype=np.bool_)

    @property
    def weightless(self) -> Bools:
        """[judges] who passed and has no say, as the weights are logits: at chance, or below."""
        return np.zeros_like(self.members) if self.passed is None else self.passed & ~self.members


@dataclass(frozen=True)
class PoolingRules:
    """How pools are made.

    Attributes:
        weighting: see ``stats.pooling.fusion_weights``.
        orders: whether both orders of a pair are one vote.
        tolerance: of ties.
        excused: whether a judge who did not sit an exam is let through it.
    """

    weighting: Weighting = "score"
    orders: Orders = "merged"
    tolerance: float = 1e-9
    excused: bool = True


def single(hearing: Hearing, judge: int, rules: PoolingRules) -> Pool:
    """One judge alone."""
    power = np.zeros(len(hearing.judges))
    power[judge] = 1.0
    votes = hearing.votes(rules.orders)
    return Pool(hearing.judges[judge], (), power, decide(votes, power, rules.tolerance))


def examined(hearing: Hearing, marks: Mapping[str, Marks], rules: PoolingRules) -> list[Pool]:
    """Everybody, and those whom each subset of the exams admits, the largest subset last."""
    names = tuple(marks)
    subsets = [subset for size in range(len(names) + 1) for subset in combinations(names, size)]
    return [admitted(hearing, marks, subset, rules) for subset in subsets]


def admitted(
    hearing: Hearing, marks: Mapping[str, Marks], exams: Sequence[str], rules: PoolingRules
) -> Pool:
    """Those who passed all of these exams, weighted."""
    chosen = np.array([name in exams for name in marks], dtype=np.bool_)
    votes = hearing.votes(rules.orders)
    if not exams:
        power = np.ones(len(hearing.judges))
        return Pool(EVERYBODY, (), power, decide(votes, power, rules.tolerance))
    values = np.stack([mark.value for mark in marks.values()])
    samples = np.stack([mark.samples for mark in marks.values()], axis=1)
    through = [_through(mark, ~hearing.sat[exam] & rules.excused) for exam, mark in marks.items()]
    passed: Bools = np.all(np.stack([now for now, _ in through])[chosen], axis=0)
    passes: Bools = np.all(np.stack([then for _, then in through])[chosen], axis=0)
    power = _weights(values, chosen, rules.weighting, passed)
    powers = _weights(samples, chosen, rules.weighting, passes)
    name = "+".join(INITIAL[exam] for exam in marks if exam in exams)
    decision = decide(votes, power, rules.tolerance)
    return Pool(name, tuple(exams), power, decision, powers, passed=passed)


def filtered_by_people(
    hearing: Hearing, gold: Floats, bar: float, folds: int, rules: PoolingRules
) -> Pool:
    """PRE's human filter: judges whose accuracy exceeds the bar, weighted with it.

    The paper takes both from answers that are then judged again; here decisions and grades of
    the items of one fold rest on accuracies on the other folds.
    """
    votes = hearing.votes(rules.orders)
    right = np.stack([correct(np.sign(each), gold) for each in votes])
    fold = np.arange(len(gold)) % folds
    sign = np.full(votes.shape[1:], np.nan)
    powers = np.zeros((folds, len(right)))
    for part in range(folds):
        marks = row_means(right[:, fold != part].reshape(len(right), -1))
        powers[part] = np.where(marks > bar, marks, 0.0)
        sign[fold == part] = decide(votes[:, fold == part], powers[part], rules.tolerance).sign
    decision = Decision(sign, int(np.count_nonzero(sign == 0)))
    return Pool(HUMAN, (), powers.mean(axis=0), decision, power_by_item=powers[fold].T)


def answer_scores(hearing: Hearing, pool: Pool, agents: int) -> Floats:
    """[items, agents] how good a pool finds each answer: mean grade, or pairs won less lost."""
    if hearing.grades is not None:
        weights = pool.power if pool.power_by_item is None else pool.power_by_item
        return pooled_scores(hearing.grades, weights)
    sign = pool.decision.sign
    sign = sign if sign.ndim == 2 else sign.sum(axis=-1)
    net = np.zeros((len(sign), agents))
    known = np.zeros((len(sign), agents))
    for k, (i, j) in enumerate(hearing.pairs):
        decided = ~np.isnan(sign[:, k])
        won = np.where(decided, sign[:, k], 0.0)
        net[:, i] += won
        net[:, j] -= won
        known[:, i] += decided
        known[:, j] += decided
    return np.where(known > 0, net, np.nan)


def same_list(pool: Pool) -> float:
    """In what share of the resamples the same judges are admitted; NaN where none are drawn."""
    if pool.power_samples is None:
        return float("nan")
    return float(((pool.power_samples > 0) == pool.members).all(axis=1).mean())


def _through(mark: Marks, excused: Bools) -> tuple[Bools, Bools]:
    """Who passes now, and in each resample."""
    return mark.passed | excused, mark.passes | excused


def _weights(values: Floats, chosen: Bools, rule: Weighting, passed: Bools) -> Floats:
    """Weights of those who passed, of [..., exams, judges] numbers.

    Who was excused from an exam counts there what the others of the pool have on average: left
    out, an exam that all others passed with 1 would cost its absentee weight.
    """
    inside = passed[..., None, :] & ~np.isnan(values)
    sums = np.where(inside, values, 0.0).sum(axis=-1, keepdims=True)
    usual = divide(sums, inside.sum(axis=-1, keepdims=True))
    power = fusion_weights(np.where(np.isnan(values), usual, values), chosen, rule)
    return np.where(passed, np.where(np.isnan(power), 1.0, power), 0.0)
