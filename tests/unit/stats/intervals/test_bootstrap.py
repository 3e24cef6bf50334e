"""Item bootstrap, its interval and p, the sign-flip test, and the Estimate they return."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import (
    bootstrap_mean,
    item_draws,
    item_weights,
    resampled_means,
    sign_flip_p,
)

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)
MAYBE = st.one_of(NUMBERS, st.just(math.nan))


@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 2**32))
def test_weights_are_the_counts_of_the_draws(n_items: int, draws: int, seed: int) -> None:
    weights = item_weights(n_items, draws, seed)
    drawn = item_draws(n_items, draws, seed)
    assert weights.shape == drawn.shape == (draws, n_items)
    for row, indices in zip(weights, drawn, strict=True):
        assert row.tolist() == np.bincount(indices, minlength=n_items).tolist()
    assert (weights == item_weights(n_items, draws, seed)).all()


@given(st.lists(MAYBE, min_size=1, max_size=25), st.integers(0, 1000))
def test_resampled_means_equal_a_loop_over_resamples(values: list[float], seed: int) -> None:
    array = np.array(values)
    found = resampled_means(array, item_weights(len(array), 20, seed))
    for mean, indices in zip(found, item_draws(len(array), 20, seed), strict=True):
        scored = array[indices][~np.isnan(array[indices])]
        if scored.size == 0:
            assert math.isnan(mean)
        else:
            assert mean == pytest.approx(scored.mean(), rel=1e-9, abs=1e-9 * np.nanmax(abs(array)))


@given(st.lists(MAYBE, max_size=25))
def test_bootstrap_mean_counts_what_is_unscored(values: list[float]) -> None:
    if not values:
        values = [math.nan]
    found = bootstrap_mean(values, draws=50)
    scored = [v for v in values if not math.isnan(v)]
    assert (found.n, found.unscored) == (len(scored), len(values) - len(scored))
    assert math.isnan(found.p)
    if not scored:
        assert math.isnan(found.value)
    else:
        assert found.value == pytest.approx(np.mean(scored))
    if len(scored) < 3:
        assert math.isnan(found.low) and math.isnan(found.high)
    else:
        slack = 1e-9 * max(map(abs, scored))
        assert min(scored) - slack <= found.low <= found.high <= max(scored) + slack


def test_interval_agrees_with_scipy_and_covers() -> None:
    generator = np.random.default_rng(5)
    sample = generator.exponential(size=60)
    ours = bootstrap_mean(sample, draws=20_000)
    theirs = stats.bootstrap(
        (sample,), np.mean, n_resamples=20_000, method="percentile", rng=1
    ).confidence_interval
    assert ours.low == pytest.approx(theirs.low, abs=0.01)
    assert ours.high == pytest.approx(theirs.high, abs=0.01)
    covered = 0
    for trial in range(300):
        estimate = bootstrap_mean(generator.normal(size=50), draws=300, seed=trial)
        covered += estimate.low <= 0 <= estimate.high
    assert 0.90 < covered / 300 < 0.98


def test_sign_flip_p_approaches_the_exact_test() -> None:
    values = [0.3, 1.2, -0.4, 0.9, 0.7, 0.1]
    flips = np.array(list(itertools.product((-1, 1), repeat=len(values)))) @ values
    exact = np.mean(np.abs(flips) >= abs(sum(values)) - 1e-12)
    assert sign_flip_p(values, permutations=40_000) == pytest.approx(exact, abs=0.01)


def test_estimate_as_dict_is_json_without_nan() -> None:
    estimate = Estimate(0.5, 0.25, math.inf, n=3, unscored=1)
    text = json.dumps(estimate.as_dict(), allow_nan=False)
    wanted = {"value": 0.5, "low": 0.25, "high": None, "n": 3, "unscored": 1, "p": None}
    assert json.loads(text) == wanted
    assert Estimate(0.5, 0.25, 1.0, n=3).half_width == 0.375
