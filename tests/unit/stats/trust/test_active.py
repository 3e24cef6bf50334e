"""Which items to label next: chances, unbiased means, and the golden trial on real verdicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgelab.stats.trust.active import (
    chances,
    drawn,
    in_either,
    predicted,
    predicted_gain,
    together,
    weighted_mean,
)
from judgelab.stats.trust.agreement import preference_credit
from tests.judgment_tables import llmbar


def test_chances_add_up_to_the_budget_and_none_is_above_one():
    spread = np.r_[np.full(90, 0.1), np.full(10, 9.0)]
    made = chances(spread, 30, tau=0.5)
    assert made.sum() == pytest.approx(30)
    assert made.max() == 1 and made.min() >= 0.5 * 30 / 100
    assert chances(np.ones(40), 10) == pytest.approx(np.full(40, 0.25))
    small = chances(np.array([1.0, 2.0, 3.0, 4.0]), 1, tau=0.5)
    assert small == pytest.approx(0.5 / 4 + 0.5 * np.array([0.1, 0.2, 0.3, 0.4]))


def test_sizes_of_residuals_are_shared_and_a_judge_without_any_has_no_say():
    sizes = np.array([[1.0, 3.0], [0.0, 0.0], [20.0, 20.0]])
    assert together(sizes) == pytest.approx(np.sqrt([(0.25 + 1) / 2, (2.25 + 1) / 2]))
    assert together(sizes[1:2]) == pytest.approx([1, 1])


def test_equal_chances_draw_exactly_their_number_and_unequal_ones_in_proportion():
    rng = np.random.default_rng(0)
    assert drawn(np.full(40, 0.25), rng).sum() == 10
    chance = np.array([0.1, 0.5, 0.9])
    share = np.mean([drawn(chance, rng) for _ in range(4000)], axis=0)
    assert share == pytest.approx(chance, abs=0.03)


def test_the_weighted_mean_is_that_of_horvitz_and_thompson():
    y, chance = np.array([1.0, np.nan, 0.0, 1.0]), np.array([0.5, 0.5, 0.25, 1.0])
    found = weighted_mean(y, np.zeros(4), chance, np.arange(4))
    assert found.value == pytest.approx((1 / 0.5 + 0 + 1) / 4)
    assert (found.n, found.unscored) == (3, 1)
    mean = np.array([0.9, 0.8, 0.2, 0.7])
    found = weighted_mean(y, mean, chance, np.arange(4))
    assert found.value == pytest.approx(mean.mean() + (0.1 / 0.5 - 0.2 / 0.25 + 0.3) / 4)


def _trial(seed: int, items: int = 1500):
    """Residuals that a feature foretells: twelve times as large where it is 1."""
    rng = np.random.default_rng(seed)
    feature = (rng.random(items) < 0.15).astype(float)
    chance_right = np.where(feature == 1, 0.5, 0.99)
    return (rng.random(items) < chance_right).astype(float), feature[None, :, None], rng


def test_a_pilot_foretells_the_gain_and_two_rounds_stay_unbiased():
    found, gains, equal = [], [], []
    for seed in range(80):
        y, features, rng = _trial(seed)
        first = drawn(np.full(len(y), 0.1), rng)
        pilot = np.where(first, y, np.nan)[None]
        fold = np.arange(len(y)) % 5
        told = predicted(pilot, features, fold)
        spread = together(told.spread)
        gains.append(predicted_gain(told.residual[:, first], spread[first]))
        now = np.zeros(len(y))
        now[~first] = chances(spread[~first], 150)
        now[first] = np.minimum(
            1, 150 * (0.5 / (~first).sum() + 0.5 * spread[first] / spread[~first].sum())
        )
        second = ~first & (rng.random(len(y)) < now)
        chance = in_either(np.full(len(y), 0.1), now)
        labels = np.where(first | second, y, np.nan)
        mean = predicted(labels[None], features, fold).mean[0]
        one = weighted_mean(labels, mean, chance, np.arange(len(y)))
        found.append((one.value - y.mean(), one.low <= 0.9165 <= one.high))
        alike = drawn(np.full(len(y), (first | second).mean()), rng)
        equal.append(y[alike].mean() - y.mean())
    errors, held = np.array(found).T
    assert abs(errors.mean()) < 3 * errors.std() / np.sqrt(80)
    assert 0.89 <= held.mean() <= 1
    assert 0.2 < np.mean(gains) < 0.7
    assert errors.std() < 0.85 * np.std(equal)


def test_where_nothing_is_foretold_no_gain_is():
    gains = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = (rng.random((1, 100)) < 0.7).astype(float)
        told = predicted(y, rng.normal(size=(1, 100, 2)), np.arange(100) % 5)
        gains.append(predicted_gain(told.residual, together(told.spread)))
    assert np.mean(np.array(gains) >= 0.1) < 0.05


def _real(shared_data: Path):
    """Credits of GPT-4/Metrics_Reference on all 1,200 items, and whether its orders differ."""
    items = pd.read_parquet(shared_data / "judge_audit" / "llmbar_items.parquet")
    table = llmbar(shared_data, tuple(dict.fromkeys(items["set"])))
    table = table.of(["GPT-4/Metrics_Reference"])
    credit = preference_credit(table.verdicts, table.asked, table.truth)[0]
    differ = np.abs(table.verdicts[0, :, 0] - table.verdicts[0, :, 1])
    return credit, np.nan_to_num(differ, nan=1.0)


def test_labels_of_the_most_uncertain_items_mislead_and_weights_repair_it(shared_data: Path):
    credit, differ = _real(shared_data)
    true, budget = credit.mean(), 150
    rng = np.random.default_rng(0)
    uncertain = np.lexsort((rng.random(1200), -differ))[:budget]
    naive = credit[uncertain]
    assert naive.mean() - true == pytest.approx(-0.32, abs=0.02)
    assert naive.mean() + 2 * naive.std() / np.sqrt(budget) < true
    chance = chances(0.2 + 0.3 * differ, budget)
    found = []
    for _ in range(200):
        labels = np.where(drawn(chance, rng), credit, np.nan)
        mean = predicted(labels[None], differ[None, :, None], np.arange(1200) % 5).mean[0]
        one = weighted_mean(labels, mean, chance, np.arange(1200))
        found.append((one.value - true, one.low <= true <= one.high))
    errors, held = np.array(found).T
    assert abs(errors.mean()) < 0.005
    assert 0.92 <= held.mean() <= 0.985
    assert errors.std() == pytest.approx(0.027, abs=0.004)
