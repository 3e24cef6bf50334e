"""Intervals from what each item adds: known cases, and data that say little."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.multitest import multipletests

from experiments.coverage import simulation
from experiments.coverage.scores import Law
from experiments.coverage.simulation import simulate
from experiments.coverage.statistics import STATISTICS
from judgelab.stats.discrimination.effect_size import paired_effect_size
from judgelab.stats.intervals.arrays import average_ranks
from judgelab.stats.intervals.ends import (
    above_p,
    fisher_ends,
    mean_ends,
    of_ratio,
    share_ends,
    t_ends,
)
from judgelab.stats.intervals.means import (
    bootstrap_mean,
    holm,
    holm_levels,
    item_draws,
    item_mean,
    item_weights,
    resampled_means,
    sign_flip_p,
    with_p,
)

RNG = np.random.default_rng(0)


def test_students_interval_is_scipys() -> None:
    items = RNG.normal(3, 2, size=15)
    expected = stats.t.interval(0.95, 14, items.mean(), stats.sem(items))
    assert_allclose(t_ends(items), expected)


def test_a_share_has_wilsons_interval() -> None:
    """Its ends are where the observed share is t standard errors of that end away."""
    items = np.repeat([1.0, 0.0], [16, 4])
    t = stats.t.ppf(0.975, 19)
    for end in share_ends(items):
        assert abs(0.8 - end) == pytest.approx(t * math.sqrt(end * (1 - end) / 19))


def test_items_that_are_all_alike_are_not_certain() -> None:
    exact = stats.binomtest(12, 12).proportion_ci()
    assert_allclose(share_ends(np.ones(12)), (exact.low, 1.0))
    assert_allclose(share_ends(np.zeros(12)), (0.0, 1 - exact.low))
    low, high = share_ends(np.full(100, 0.5))
    assert 0.47 < low < 0.5 < high < 0.53
    assert_allclose(mean_ends(np.zeros(12), bounds=(-1.0, 1.0)), (exact.low - 1, 1 - exact.low))
    assert np.isnan(mean_ends(np.full(12, 3.0))).all(), "no limit, no spread: nothing is known"


def test_skewness_moves_both_ends_to_the_long_tail_and_mirrors() -> None:
    items = RNG.exponential(size=30)
    plain, ours = t_ends(items), mean_ends(items)
    assert ours[0] > plain[0] and ours[1] > plain[1]
    assert_allclose(mean_ends(-items), (-ours[1], -ours[0]))
    symmetric = np.concatenate([items, -items])
    assert_allclose(mean_ends(symmetric), t_ends(symmetric))


@given(arrays(np.float64, (4, 9), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, np.nan])))
def test_many_sets_at_once_are_each_by_itself(values: np.ndarray) -> None:
    for ends in (mean_ends, share_ends, t_ends):
        together = np.array(ends(values))
        for k, row in enumerate(values):
            assert_allclose(together[:, k], ends(row), equal_nan=True)
            assert_allclose(together[:, k], ends(row[~np.isnan(row)]), equal_nan=True, atol=1e-12)
    low, high = share_ends(values)
    known = ~np.isnan(low)
    assert (known == ((~np.isnan(values)).sum(axis=1) > 2)).all()
    assert ((low >= 0) & (low <= high) & (high <= 1))[known].all()


def test_ratio_of_sums() -> None:
    total, count = np.array([2.0, 0.0, 3.0]), np.array([4.0, 0.0, 3.0])
    parts = of_ratio(total, count)
    assert np.isnan(parts[1]) and np.nanmean(parts) == pytest.approx(5 / 7)
    assert_allclose(of_ratio([1.0, 2.0], [4.0, 4.0]), [0.25, 0.5])


def test_a_correlation_of_one_is_not_certain() -> None:
    low, high = fisher_ends(1.0, np.ones(12))
    assert 0.4 < low < 0.6 and high == 1
    low, high = fisher_ends(0.5, 0.5 + 0.01 * RNG.normal(size=12))
    assert 0.3 < low < 0.5 < high < 0.7


def test_estimates_count_and_refuse() -> None:
    found = item_mean([0.5, np.nan, 1.0, 0.75], (0.0, 1.0))
    assert (found.value, found.n, found.unscored) == (0.75, 3, 1)
    assert math.isnan(item_mean([1.0, 2.0]).low) and math.isnan(item_mean([]).value)


@pytest.mark.parametrize("grid", [0, 2])
@pytest.mark.parametrize("n", [3, 4, 12, 40])
def test_p_and_interval_are_of_one_test(n: int, grid: int) -> None:
    """A pair AUC had an interval that holds 0.5, and p .047: p was of another test."""
    rng, seen = np.random.default_rng(n), set()
    for k in range(150):
        auc, change = rng.beta(3, 3 - 2.5 * rng.random(), size=n), rng.exponential(size=n) - 0.7
        if grid:
            auc, change = np.round(auc * grid) / grid, np.round(change * grid) / grid
        if k == 0:
            auc, change = np.full(n, 1.0), np.full(n, -0.5)
        made = [
            (with_p(auc, "items", 0, 0, null=0.5, bounds=(0.0, 1.0)), 0.5),
            (with_p(change / 99, "items", 0, 0, limit=1.0), 0.0),
            (with_p(change, "items", 0, 0), 0.0),
            (paired_effect_size(change), 0.0),
            (paired_effect_size(auc, less=change), 0.0),
        ]
        for one, null in made:
            if not math.isnan(one.low):
                assert (one.p < 0.05) == (not one.low <= null <= one.high), one
                seen.add(one.p < 0.05)
    assert seen == {True, False}


VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=False), st.just(np.inf))


@given(arrays(np.float64, (4, 9), elements=st.one_of(VALUES, st.just(np.nan))))
def test_ranks_leave_nan_out_as_scipy_does(cells: np.ndarray) -> None:
    expected = stats.rankdata(cells, axis=-1, nan_policy="omit")
    np.testing.assert_array_equal(average_ranks(cells), expected)


def test_an_interval_at_its_level_leaves_out_0_where_holm_rejects() -> None:
    """Judges whose gain is from none to large, in thirds, with equal ones among them."""
    rng, claims = np.random.default_rng(0), 0
    for _ in range(30):
        gains = rng.uniform(0, 0.35, 12)[:, None] + rng.choice([-0.5, 0, 0.5], (12, 60))
        gains = np.clip(np.concatenate([gains, gains[:3]]), -1, 1)
        p = above_p(gains, -1.0)
        low = np.array(
            [
                mean_ends(one, level, (-1.0, 1.0))[0]
                for one, level in zip(gains, holm_levels(p), strict=True)
            ]
        )
        rejected = holm(p) <= 0.05
        assert ((low > 0) == rejected).all()
        claims += rejected.sum()
    assert 45 < claims < 405


def test_no_test_counts_for_nothing() -> None:
    assert holm([0.04, np.nan, 0.01]) == pytest.approx([0.04, np.nan, 0.02], nan_ok=True)
    assert not len(holm([]))


@pytest.mark.parametrize("grid", [0, 2])
def test_p_is_the_level_at_which_the_lower_end_is_0(grid: int) -> None:
    """Of skewed values, and of ones that tie, for which Student's end may be the farther one."""
    rng = np.random.default_rng(1)
    values = rng.exponential(size=(40, 30)) - 0.8
    if grid:
        values = np.round(values * grid) / grid
    values[:, 28:] = np.nan
    values[0, :28] = 0.1  # all alike
    for row, p in zip(values, above_p(values, -1.0), strict=True):
        if row[:28].mean() <= 0:
            assert p == 1
        elif 1e-6 < p < 1:
            assert mean_ends(row, 1 - p, (-1.0, 9.0))[0] == pytest.approx(0, abs=1e-6)


def test_p_values_are_those_of_statsmodels() -> None:
    rng = np.random.default_rng(3)
    for _ in range(3):
        p = rng.choice(rng.uniform(0, 0.2, 12), 9)
        assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-15)


NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)
MAYBE = st.one_of(NUMBERS, st.just(math.nan))


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


SETS = 500
MARGINS = (0.92, 0.985)


@pytest.fixture(autouse=True)
def smaller_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "LARGE", 60_000)
    monkeypatch.setattr(simulation, "TYPICAL", 100)


@pytest.mark.parametrize(
    ("statistic", "law"),
    [
        ("item AUC", "normal"),
        ("d", "normal"),
        ("d", "skewed"),
        ("accuracy on pairs", "skewed"),
        ("rho within items", "normal"),
        ("change of AUC", "skewed"),
        ("mean score", "skewed"),
    ],
)
def test_intervals_hold_at_twelve_items_where_percentiles_do_not(statistic: str, law: Law) -> None:
    found = simulate(statistic, law, 12, SETS)
    assert MARGINS[0] < found.ours.held < MARGINS[1]
    assert found.percentile.held < min(found.ours.held, 0.925)


def test_every_statistic_of_the_table_runs() -> None:
    for name in STATISTICS:
        found = simulate(name, "discrete", 12, 10)
        assert found.ours.none < 1, name
