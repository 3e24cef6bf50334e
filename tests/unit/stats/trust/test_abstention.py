"""Abstention with a guarantee, and intervals of grades: by hand, and trials of known truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from judgelab.stats.trust.abstention import labels_needed, risk_p, thresholds
from judgelab.stats.trust.conformal import grade_interval, quantile


def test_ten_per_cent_at_five_takes_twenty_nine_labels_without_an_error():
    assert labels_needed(0.1, 0.05) == 29
    assert (
        risk_p(np.zeros(29), np.arange(29), 0.1) <= 0.05 < risk_p(np.zeros(28), np.arange(28), 0.1)
    )
    wrong = np.r_[np.ones(4), np.zeros(96)]
    assert risk_p(wrong, np.arange(100), 0.1) == pytest.approx(binom.cdf(4, 100, 0.1))
    assert risk_p(wrong, np.arange(100) // 2, 0.1) == pytest.approx(np.e * binom.cdf(2, 50, 0.1))


def test_thresholds_below_the_first_failure_are_not_accepted():
    confidence = np.repeat([0.9, 0.7, 0.5], 60)
    wrong = np.r_[np.zeros(60), np.ones(30), np.zeros(30), np.zeros(60)]
    wrong[-5:] = np.nan
    found = list(thresholds(confidence, wrong, np.arange(180), np.array([0.5, 0.7, 0.9, 0.95])))
    assert [one.accepted for one in found] == [False, True, False, False]
    assert [one.coverage for one in found] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert [one.n for one in found] == [0, 60, 120, 175]
    assert found[2].wrong == pytest.approx(0.25) and found[2].low < 0.25 < found[2].high


def test_a_threshold_that_errs_too_often_is_seldom_accepted():
    """Risk is .12 at the strict threshold and .2 at the lenient one: both above .1."""
    bad = 0
    for seed in range(600):
        rng = np.random.default_rng(seed)
        confidence = rng.choice([0.5, 1.0], 200)
        wrong = (rng.random(200) < np.where(confidence == 1, 0.12, 0.28)).astype(float)
        bad += any(
            one.accepted
            for one in thresholds(confidence, wrong, np.arange(200), np.array([0.5, 1.0]))
        )
    assert bad / 600 <= 0.05


def test_the_conformal_quantile():
    scores = np.arange(1.0, 10.0)
    assert quantile(scores, 0.1) == 9.0  # ceil(10 * .9) = 9th of 9
    assert quantile(scores[:8], 0.1) == np.inf
    assert quantile(np.arange(1.0, 100.0), 0.1) == 90.0


def test_grade_intervals_hold_new_items_though_responses_of_an_item_are_alike():
    levels, held, width = np.arange(1.0, 6.0), [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        group = np.repeat(np.arange(61), 3)
        people = np.clip(
            np.round(3 + rng.normal(size=61)[group] + 0.5 * rng.normal(size=183)), 1, 5
        )
        judge = people + rng.normal(size=183)
        seen = group < 60
        made = grade_interval(judge[seen], people[seen], group[seen], levels, 0.1, rng)
        low, high = made.at(judge[~seen])
        held.append(((low <= people[~seen]) & (people[~seen] <= high)).mean())
        width.append((high - low).mean())
        assert np.isin(low, levels).all() and np.isin(high, levels).all()
    assert np.mean(held) >= 0.88  # .9 less three standard errors, rounding helps
    assert np.mean(width) < 3.6


def test_too_few_labels_give_the_whole_scale():
    rng = np.random.default_rng(0)
    x = np.arange(12.0)
    made = grade_interval(x, x % 5 + 1, np.arange(12), np.arange(1.0, 6.0), 0.1, rng)
    assert made.half == np.inf
    low, high = made.at(np.array([3.0, np.nan]))
    assert (low[0], high[0]) == (1, 5) and np.isnan([low[1], high[1]]).all()
