"""Group differences, paired and pooled effect sizes, Welch's p."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from experiments.peer_prediction.baseline import pooled_cohens_d, welch_p
from judgelab.stats.discrimination.effect_size import (
    effect_size,
    group_difference,
    paired_effect_size,
    resampled_effect_sizes,
)
from judgelab.stats.intervals.bootstrap import item_draws, item_weights

Array = NDArray[np.float64]
CELLS = st.one_of(st.floats(-100, 100, allow_subnormal=False), st.just(math.nan))
SCORES = st.tuples(st.integers(1, 8), st.integers(1, 7)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=CELLS)
)
NUMBERS = st.floats(-100, 100, allow_subnormal=False)


@given(SCORES, st.data())
def test_group_difference_is_nanmean_minus_nanmean(scores: Array, data: st.DataObject) -> None:
    group = data.draw(arrays(np.int8, scores.shape[1], elements=st.integers(0, 2)))
    found = group_difference(scores, group == 1, group == 2)
    for row, difference in zip(scores, found, strict=True):
        good, bad = row[(group == 1) & ~np.isnan(row)], row[(group == 2) & ~np.isnan(row)]
        if good.size == 0 or bad.size == 0:
            assert math.isnan(difference)
        else:
            assert difference == pytest.approx(good.mean() - bad.mean(), abs=1e-9)


@given(SCORES, st.floats(-50, 50))
def test_group_difference_ignores_a_level_per_item(scores: Array, level: float) -> None:
    positive = np.arange(scores.shape[1]) % 2 == 0
    before = group_difference(scores, positive, ~positive)
    shifted = scores + level * np.arange(len(scores))[:, None]
    after = group_difference(shifted, positive, ~positive)
    assert after == pytest.approx(before, abs=1e-9, nan_ok=True)
    assert group_difference(scores, ~positive, positive) == pytest.approx(-before, nan_ok=True)


def test_masks_must_be_disjoint_booleans() -> None:
    scores = np.zeros((2, 3))
    mask = np.array([True, False, False])
    with pytest.raises(ValueError, match=r"Agents \[0\]"):
        group_difference(scores, mask, mask)
    with pytest.raises(ValueError, match="boolean mask"):
        group_difference(scores, [0, 1, 1], mask)
    with pytest.raises(ValueError, match="boolean mask"):
        group_difference(scores, mask[:2], ~mask)
    with pytest.raises(ValueError, match="2 dimensions"):
        group_difference(scores[0], mask, ~mask)


@given(st.lists(NUMBERS, min_size=2, max_size=30), st.floats(0.01, 100))
def test_effect_size_ignores_scale_and_flips_with_sign(values: list[float], scale: float) -> None:
    items = np.array(values)
    assume(np.ptp(items) > 1e-3)
    d = effect_size(items)
    assert d == pytest.approx(items.mean() / items.std(ddof=1))
    assert effect_size(items * scale) == pytest.approx(d)
    assert effect_size(-items) == pytest.approx(-d)
    t = stats.ttest_1samp(items, 0.0).statistic
    assert d * math.sqrt(len(items)) == pytest.approx(t)


@given(st.lists(NUMBERS, min_size=2, max_size=12), st.integers(0, 99))
def test_resampled_effect_sizes_equal_a_loop(values: list[float], seed: int) -> None:
    items = np.round(np.array(values), 3)
    assume(np.ptp(items) > 0)
    with_gap = np.append(items, np.nan)
    found = resampled_effect_sizes(with_gap, item_weights(len(with_gap), 25, seed))
    for d, indices in zip(found, item_draws(len(with_gap), 25, seed), strict=True):
        drawn = with_gap[indices]
        drawn = drawn[~np.isnan(drawn)]
        if drawn.size < 2 or np.ptp(drawn) == 0:
            assert math.isnan(d)
        else:
            assert d == pytest.approx(drawn.mean() / drawn.std(ddof=1), rel=1e-6, abs=1e-9)


def test_a_resample_that_repeats_one_item_has_no_effect_size() -> None:
    items = np.random.default_rng(0).normal(size=50)
    found = resampled_effect_sizes(items, 49.0 * np.eye(50))
    assert np.isnan(found).all(), "49 x / 49 is not always x, but that is rounding and no spread"


def test_resamples_of_nothing_have_no_effect_size() -> None:
    found = resampled_effect_sizes(np.full(3, np.nan), item_weights(3, 4, 0))
    assert np.isnan(found).all() and found.shape == (4,)


def test_paired_effect_size_counts_and_brackets() -> None:
    generator = np.random.default_rng(0)
    items = generator.normal(1.0, 1.0, size=200)
    items[:7] = np.nan
    found = paired_effect_size(items)
    assert (found.n, found.unscored) == (193, 7)
    assert found.low < found.value < found.high
    # Large-sample standard error of d_z: sqrt(1/n + d^2 / 2n).
    error = math.sqrt((1 + found.value**2 / 2) / 193)
    assert found.half_width == pytest.approx(1.96 * error, rel=0.15)
    assert found.p < 1e-6
    assert found == paired_effect_size(items)
    assert found == paired_effect_size(items, seed=1), "no draws, no seed"
    drawn = [paired_effect_size(items, seed=k, interval="percentile") for k in (0, 1)]
    assert drawn[0] != drawn[1]


def test_no_effect_is_not_significant() -> None:
    found = paired_effect_size(np.random.default_rng(4).normal(size=100))
    assert found.low < 0 < found.high
    assert found.p > 0.05


@pytest.mark.parametrize(
    "values",
    [
        [],
        [math.nan],
        [2.0],
        [2.0, math.nan],
        [3.0, 3.0, 3.0],
        [0.0, 0.0],
        [0.1 + 0.2, 0.3, 0.3],
    ],
    ids=["empty", "unscored", "one", "one of two", "constant", "zeros", "constant but rounding"],
)
def test_without_spread_everything_is_nan(values: list[float]) -> None:
    found = paired_effect_size(values)
    assert all(math.isnan(number) for number in (found.value, found.low, found.high, found.p))
    assert found.n + found.unscored == len(values)


@given(st.lists(NUMBERS, min_size=2, max_size=20), st.lists(NUMBERS, min_size=2, max_size=20))
def test_pooled_d_and_welch_agree_with_scipy(x: list[float], y: list[float]) -> None:
    assume(np.ptp(x) > 1e-3 and np.ptp(y) > 1e-3)
    student = stats.ttest_ind(x, y).statistic
    scale = math.sqrt(1 / len(x) + 1 / len(y))
    assert pooled_cohens_d(x, y) == pytest.approx(student * scale, abs=1e-9)
    assert pooled_cohens_d(y, x) == pytest.approx(-pooled_cohens_d(x, y))
    expected = stats.ttest_ind(x, y, equal_var=False).pvalue
    assert welch_p([*x, math.nan], y) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e150, 1e290])
def test_extreme_scales_neither_vanish_nor_overflow(scale: float) -> None:
    x, y = np.array([1.0, 2.0, 4.0]), np.array([2.0, 2.5, 7.0, 3.0])
    assert effect_size(scale * x) == pytest.approx(effect_size(x))
    found, plain = paired_effect_size(scale * x), paired_effect_size(x)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))
    assert pooled_cohens_d(scale * x, scale * y) == pytest.approx(pooled_cohens_d(x, y))
    assert welch_p(scale * x, scale * y) == pytest.approx(welch_p(x, y))


def test_samples_without_spread_have_no_d_and_no_p() -> None:
    for x, y in (([1.0], [1.0, 2.0]), ([5.0, 5.0], [4.0, 4.0]), ([], [1.0, 2.0])):
        assert math.isnan(pooled_cohens_d(x, y))
        assert math.isnan(welch_p(x, y))
    assert 0 < welch_p([5.0, 5.0], [4.0, 4.5]) < 1
