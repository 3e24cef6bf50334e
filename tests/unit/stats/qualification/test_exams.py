"""Exams, pools and their agreement with people: known values, and what chance does to them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from judgelab.stats.qualification.exams import (
    ConfidenceAnswers,
    accuracy,
    correct,
    decide,
    favour_rate,
    gaps_of,
    lead_over,
    lead_over_chance,
    mark,
    pooled_scores,
    same_verdicts,
    shares,
    votes_of,
)

NAN = np.nan


def test_consistency_counts_equal_verdicts_and_leaves_out_the_unread() -> None:
    before = np.array([1.0, 0.0, 0.5, 0.5, 1.0, NAN])
    after = np.array([1.0, 1.0, 0.5, 1.0, NAN, NAN])
    assert_allclose(same_verdicts(before, after), [1, 0, 1, 0, NAN, NAN])


def test_an_exam_is_a_mean_over_answers_not_over_items() -> None:
    answers = np.array([[[1.0, 1.0, 1.0], [0.0, NAN, NAN]], [[NAN] * 3, [1.0, 0.0, NAN]]])
    exam = shares(answers)
    marks = mark(exam, 0.6, draws=50)
    assert_allclose(marks.estimates.value, [0.75, 0.5])
    assert marks.estimates.n.tolist() == [4, 2] and marks.estimates.unscored.tolist() == [2, 4]
    assert marks.passed.tolist() == [True, False]
    put = np.array([[[True] * 3, [True, True, False]]] * 2)
    assert shares(answers, put).missing.sum(axis=1).tolist() == [1, 3], "asked and not read"


def test_the_mean_of_judges_that_are_alike_fails_none_and_a_named_bar_is_exceeded() -> None:
    same = shares(np.full((3, 10), 0.1 + 0.2))
    marks = mark(same, draws=20)
    assert marks.passed.all() and marks.passes.all() and marks.bar == pytest.approx(0.3)
    assert not mark(same, 0.1 + 0.2, draws=20).passed.any()


def test_who_is_no_better_than_a_control_fails_whatever_the_threshold() -> None:
    rng = np.random.default_rng(2)
    able = (rng.random((30, 8)) < 0.75).astype(float)
    coin = (rng.random((30, 8)) < 0.5).astype(float)
    longer = np.tile([[1.0, 0.0]], (30, 4))
    answers = np.stack([able, coin, longer, np.full((30, 8), 0.5)])
    exam = shares(answers)
    controls = {"random": lead_over_chance(exam), "length": lead_over(answers, longer)}
    marks = mark(exam, 0.0, draws=300, controls=controls)
    assert marks.passed.tolist() == [True, False, False, False]
    assert marks.unbeaten(0) == () and set(marks.unbeaten(2)) == {"length", "random"}
    assert marks.leads["length"].value[2] == 0 and marks.leads["random"].p[3] == 1
    lead = marks.leads["random"].at(0)
    assert lead.value == pytest.approx(able.mean() - 0.5) and lead.n == 30
    assert 0 < lead.low < lead.value < lead.high and lead.p < 0.05
    assert marks.p_pass[0] > 0.9 > marks.p_pass[1:].max()
    assert mark(exam, 0.0, draws=20).passed.all()  # the paper has no controls
    assert marks.leads["random"].low[3] >= -0.5  # no coin is beaten or lost to by more
    few = shares(np.ones((1, 5, 4)))
    held = mark(few, 0.5, 20, controls={"random": lead_over_chance(few)})
    assert not held.passed[0]  # on five items a coin may do as well


def test_confidence_has_to_be_more_than_chance() -> None:
    rng = np.random.default_rng(4)
    hard = rng.standard_normal((2, 40, 2))
    easy = rng.standard_normal((2, 40, 2)) + np.array([1.0, 0.02])[:, None, None]
    exam = ConfidenceAnswers(shares(easy), shares(hard))
    marks = mark(exam, None, 300, controls={"random": lead_over_chance(exam)})
    assert marks.passed.tolist() == [True, False]
    assert_allclose(marks.leads["random"].value[0], (easy[0] - hard[0]).mean())


def test_self_confidence_compares_easy_with_hard() -> None:
    easy = np.array([[0.9, 0.8, 0.85], [0.5, 0.5, 0.5], [NAN, NAN, NAN]])
    hard = np.array([[0.7, 0.9, 0.8], [0.6, 0.5, 0.55], [0.5, 0.5, 0.5]])
    exam = ConfidenceAnswers(shares(easy[:, :, None]), shares(hard[:, :, None]))
    marks = mark(exam, 7.0, draws=200)  # equation 4 has no bar to move
    assert_allclose(marks.estimates.value, [1, 0, NAN])
    assert marks.passed.tolist() == [True, False, False]
    assert np.isnan(marks.p_pass[2]) and 0 < marks.p_pass[0] < 1
    gap = marks.gap
    assert gap is not None
    assert_allclose(gap[0], [0.05, -0.05, NAN])
    assert gap[1, 0] < gap[0, 0] < gap[2, 0]


def test_votes_merge_orders_and_ties_survive_rounding() -> None:
    # three judges, one item, two pairs, both orders
    verdicts = np.array([[[[1, 1], [1, 0]]], [[[0, 0], [1, 0]]], [[[NAN, NAN], [1, NAN]]]])
    votes = votes_of(verdicts)
    assert_allclose(votes[:, 0], [[2, 0], [-2, 0], [NAN, 1]])
    assert decide(votes, [0.1 + 0.2, 0.3, 1.0]).tolist() == [[0.0, 1.0]]
    assert decide(votes, [0.4, 0.3, 0.0]).tolist() == [[1.0, 0.0]]
    assert np.isnan(decide(votes, [0.0, 0.0, 1.0])[0, 0])
    separate = decide(2 * verdicts - 1, [1.0, 1.0, 1.0])
    assert separate[0, 1].tolist() == [1.0, -1.0]


def test_a_missing_grade_favours_neither_answer() -> None:
    scores = np.array([[[5.0, 3.0, NAN]], [[2.0, 2.0, 4.0]]])
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    decision = decide(gaps_of(scores, pairs), [1.0, 1.0])
    assert decision.tolist() == [[1.0, -1.0, -1.0]]
    assert_allclose(pooled_scores(scores, [3.0, 1.0]), [[4.25, 2.75, 4.0]])
    twice = np.repeat(scores, 2, axis=1)  # a weight for each item
    found = pooled_scores(twice, [[3.0, 0.0], [1.0, 2.0]])
    assert_allclose(found, [[4.25, 2.75, 4.0], [2.0, 2.0, 4.0]])


def test_accuracy_counts_ties_half_and_clusters_by_item() -> None:
    gold = np.array([[1, -1, 0], [1, NAN, -1], [1, 1, 1]])
    sign = np.array([[1.0, 1.0, 1.0], [0.0, 1.0, NAN], [1.0, 1.0, -1.0]])
    right = correct(sign, gold)
    assert_allclose(right, [[1, 0, NAN], [0.5, NAN, NAN], [1, 1, 0]])
    found = accuracy(right)
    assert found.value == pytest.approx(3.5 / 6) and (found.n, found.clusters) == (6, 3)
    assert found.low <= found.value <= found.high


def test_bias_counts_what_a_family_should_not_have_won() -> None:
    gold = np.array([[1.0], [0.0], [-1.0], [-1.0]])
    favours = np.array([[1.0], [1.0], [0.0], [NAN]])
    rate = favour_rate(favours, gold)
    assert rate.value == 0.5 and rate.n == 2
