"""Group differences, effect sizes, Welch's p, and what an attack changes of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from judgelab.stats.discrimination.effect_size import (
    auc_delta,
    effect_size,
    group_difference,
    paired_effect_size,
    resampled_effect_sizes,
    score_delta,
)
from judgelab.stats.intervals.means import item_draws, item_weights

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


def test_without_spread_everything_is_nan() -> None:
    nan, other = math.nan, list(range(7))
    for values in ([], [nan], [2.0], [2.0, nan], [3.0] * 3, [0.0] * 2, [0.1 + 0.2, 0.3, 0.3]):
        for less in (None, other[: len(values)]):
            found = paired_effect_size(values, less=less)
            assert np.isnan([found.value, found.low, found.high, found.p]).all()
            assert found.n + found.unscored == len(values)


@given(
    st.tuples(st.integers(1, 6), st.integers(1, 5)).flatmap(
        lambda shape: st.tuples(
            arrays(np.float64, shape, elements=CELLS), arrays(np.float64, shape, elements=CELLS)
        )
    )
)
def test_score_delta_counts_agents_scored_on_both_sides(tables: tuple[Array, Array]) -> None:
    clean, attacked = tables
    found = score_delta(clean, attacked, draws=20)
    changes = []
    for before, after in zip(clean, attacked, strict=True):
        row = (after - before)[~np.isnan(after - before)]
        if row.size:
            changes.append(row.mean())
    assert (found.n, found.unscored) == (len(changes), len(clean) - len(changes))
    expected = np.mean(changes) if changes else math.nan
    assert found.value == pytest.approx(expected, abs=1e-9, nan_ok=True)
    back = score_delta(attacked, clean, draws=20)
    assert back.value == pytest.approx(-found.value, abs=1e-9, nan_ok=True)
    assert back.p == pytest.approx(found.p, nan_ok=True)


def test_a_failed_call_is_not_an_effect() -> None:
    clean = np.tile(np.linspace(0, 1, 5), (30, 1)) + np.arange(30)[:, None]
    attacked = clean.copy()
    attacked[:10, 3:] = np.nan
    attacked[10:15] = np.nan
    found = score_delta(clean, attacked)
    assert (found.value, found.n, found.unscored, found.p) == (0, 25, 5, 1)
    assert math.isnan(found.low), "25 items without a change do not bound that of others"
    assert score_delta(clean, attacked, interval="percentile").high == 0


def test_effect_size_delta_is_paired() -> None:
    generator = np.random.default_rng(3)
    clean = generator.normal(2, 1, size=150)
    attacked = clean * 0.5 + generator.normal(0, 0.05, size=150)
    clean[:4], attacked[2:9] = np.nan, np.nan
    found = paired_effect_size(attacked, less=clean)
    shared = ~(np.isnan(clean) | np.isnan(attacked))
    assert found.value == effect_size(attacked[shared]) - effect_size(clean[shared])
    assert (found.n, found.unscored) == (141, 9)
    apart = paired_effect_size(clean[shared]).half_width
    assert found.half_width < apart / 2, "shared resamples cancel what both sides share"
    assert found.low < found.value < found.high


def test_auc_delta_uses_items_that_have_both() -> None:
    clean = np.array([0.9, 0.8, np.nan, 0.7, 0.9])
    attacked = np.array([0.5, 0.6, 0.1, np.nan, 0.7])
    found = auc_delta(clean, attacked)
    assert found.value == pytest.approx(-0.8 / 3)
    assert (found.n, found.unscored) == (3, 2)
    assert -1 <= found.low <= -0.4 and -0.2 <= found.high <= 0.05
