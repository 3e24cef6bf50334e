"""Pools: weights, the human filter, what answers cost, and judges that ask no LM."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.qualification.exams import confidence, mark, shares
from judgelab.study.qualification.case import (
    admitted,
    answer_scores,
    consistent,
    filtered_by_people,
)
from judgelab.study.qualification.judge_responses import (
    ExamResult,
    JudgeResponses,
)

NAN = np.nan
NO_ANSWERS = shares(np.full((1, 1, 1), NAN))


def heard(cells: Floats, **exams: Mask) -> JudgeResponses:
    """Of as many judges as have grades or verdicts; exam -> who took it."""
    nothing = np.zeros(len(cells))
    results = {
        name: ExamResult(NO_ANSWERS, taken, {}, (nothing, nothing, 0.0), nothing)
        for name, taken in exams.items()
    }
    agents = cells.shape[2] if cells.ndim == 3 else 2
    pairs = np.stack(np.triu_indices(agents, 1), axis=1)
    names = tuple(f"j{k}" for k in range(len(cells)))
    return JudgeResponses(names, pairs, cells, nothing, results)


def test_no_item_is_graded_by_weights_that_it_taught() -> None:
    """Each judge is right on one fold and wrong on the other, and so chosen for the wrong one."""
    human = np.tile([3.0, 2.0, 1.0], (8, 1))
    even = (np.arange(8) % 2 == 0)[:, None]
    grades = np.stack([np.where(even, human, -human), np.where(even, -human, human)])
    responses = heard(grades)
    pool = filtered_by_people(responses, np.ones((8, 3)), folds=2)
    assert (pool.sign == -1).all()
    assert_allclose(answer_scores(responses, pool, 3), -human)
    assert_allclose(pool.power, [0.5, 0.5])  # their mean would have graded all alike


def test_pre_takes_consistency_above_its_own_threshold_and_gives_each_one_vote() -> None:
    """.56 and .95 pass .55; by the mean, .75, the second would alone."""
    answers = np.array([[0.56] * 5, [0.95] * 5, [0.55] * 5])
    marks = mark(shares(answers), None, draws=20)
    responses = heard(np.ones((3, 5, 1, 2)))
    pool = consistent(responses, marks)
    assert_allclose(pool.power, [1, 1, 0])
    assert (pool.name, pool.same_list) == ("PRE", 1.0)


def test_who_is_excused_from_an_exam_weighs_as_its_passers_do() -> None:
    answers = np.repeat([[0.9], [0.9], [0.1]], 10, axis=1)
    sure, unsure = np.full((10, 1), 2.0), np.full((10, 1), 1.0)
    nothing = np.full((10, 1), NAN)
    exam = confidence(np.stack([sure, nothing, sure]), np.stack([unsure, nothing, unsure]))
    marks = {
        "consistency": mark(shares(answers), 0.5, draws=20),
        "self_confidence": mark(exam, None, draws=20),
    }
    taken = {"consistency": np.ones(3, dtype=bool), "self_confidence": exam.counts[0] > 0}
    responses = heard(np.ones((3, 10, 1, 2)), **taken)
    pool = admitted(responses, marks, tuple(marks))
    assert_allclose(pool.power, [0.95, 0.95, 0])
    assert pool.power_samples is not None
    assert_allclose(pool.power_samples, np.tile([0.95, 0.95, 0], (20, 1)))


def test_a_pool_is_weighted_by_the_exams_it_asks_for() -> None:
    marks = {
        "consistency": mark(shares(np.full((1, 5), 0.8)), 0.5, draws=5),
        "pertinence": mark(shares(np.full((1, 5), 0.6)), 0.5, draws=5),
    }
    taken = {exam: np.ones(1, dtype=bool) for exam in marks}
    responses = heard(np.ones((1, 5, 1, 2)), **taken)
    assert_allclose(admitted(responses, marks, ["consistency"]).power, [0.8])
    assert_allclose(admitted(responses, marks, list(marks)).power, [0.7])
