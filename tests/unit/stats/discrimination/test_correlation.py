"""Clustered and per-item correlations against scipy, resample by resample."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from judgelab.stats.discrimination.correlation import (
    Method,
    clustered_correlation,
    item_correlations,
)
from judgelab.stats.discrimination.structure import (
    compression,
    effective_rank,
    quadratic_against_linear,
)
from judgelab.stats.intervals.ends import fisher_ends
from judgelab.stats.intervals.means import item_draws, with_p

Array = NDArray[np.float64]
ORACLE: dict[Method, Callable[[Array, Array], tuple[float, float]]] = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
}
CELLS = st.one_of(
    st.integers(-3, 3).map(float), st.floats(-5, 5).map(lambda v: round(v, 3)), st.just(math.nan)
)
TABLES = st.tuples(st.integers(1, 5), st.integers(1, 6)).flatmap(
    lambda shape: st.tuples(
        arrays(np.float64, shape, elements=CELLS), arrays(np.float64, shape, elements=CELLS)
    )
)


def oracle(method: Method, x: Array, y: Array) -> float:
    scored = ~(np.isnan(x) | np.isnan(y))
    x, y = x[scored], y[scored]
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(ORACLE[method](x, y)[0])


@pytest.mark.parametrize("method", list(ORACLE))
@given(tables=TABLES)
def test_values_equal_scipy(method: Method, tables: tuple[Array, Array]) -> None:
    x, y = tables
    pooled = clustered_correlation(x, y, method, draws=3)
    assert pooled.value == pytest.approx(oracle(method, x, y), abs=1e-9, nan_ok=True)
    assert pooled.unscored == np.count_nonzero(np.isnan(x) | np.isnan(y))
    assert pooled.n == np.count_nonzero((~np.isnan(x + y)).any(axis=1))
    if method != "spearman":
        return
    rows = [oracle(method, a, b) for a, b in zip(x, y, strict=True)]
    assert item_correlations(x, y) == pytest.approx(rows, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("method", list(ORACLE))
def test_intervals_are_of_the_resampled_and_of_the_remaining_items(method: Method) -> None:
    x, y = np.random.default_rng(3).integers(0, 4, (2, 9, 5)).astype(float)
    x[4, 2] = math.nan
    drawn = [oracle(method, x[rows], y[rows]) for rows in item_draws(9, 40, 6)]
    found = clustered_correlation(x, y, method, 40, 6, "percentile")
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]))
    left = np.array([oracle(method, *(np.delete(t, k, axis=0) for t in (x, y))) for k in range(9)])
    ends = fisher_ends(found.value, left)
    assert clustered_correlation(x, y, method).low == pytest.approx(float(ends[0]))


def test_item_levels_do_not_enter_the_mean_item_correlation() -> None:
    generator = np.random.default_rng(5)
    x = generator.normal(size=(60, 12))
    y = generator.normal(size=(60, 12))
    level = 20 * np.arange(60.0)[:, None]
    assert clustered_correlation(x + level, y + level, draws=50).value > 0.95
    found = with_p(item_correlations(x + level, y + level), "items", 2000, 0, bounds=(-1, 1))
    assert found.low < 0 < found.high and found.p > 0.01
    related = with_p(item_correlations(x, x + y), "items", 2000, 0, bounds=(-1, 1))
    assert related.low > 0.3 and related.p < 0.001


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e150])
def test_extreme_scales_do_not_matter(scale: float) -> None:
    x, y = np.random.default_rng(2).normal(size=(2, 8, 5))
    for method in ORACLE:
        small = clustered_correlation(scale * x, y, method, draws=50)
        plain = clustered_correlation(x, y, method, draws=50)
        assert (small.value, small.low) == pytest.approx((plain.value, plain.low))
        assert item_correlations(scale * x, y) == pytest.approx(item_correlations(x, y))


def test_undefined_correlations_are_nan() -> None:
    constant = clustered_correlation(np.ones((4, 3)), np.arange(12.0).reshape(4, 3))
    assert math.isnan(constant.value) and math.isnan(constant.p)
    nothing = clustered_correlation(np.full((2, 2), np.nan), np.ones((2, 2)))
    assert math.isnan(nothing.value) and (nothing.n, nothing.unscored) == (0, 4)
    one_item = clustered_correlation([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0]])
    assert one_item.value == pytest.approx(1) and math.isnan(one_item.low)


@pytest.mark.parametrize(("n", "p"), [(4, 1 / 12), (5, 1 / 60), (7, 2 / 5040)])
def test_a_perfect_order_of_few_items_has_the_p_of_a_permutation(n: int, p: float) -> None:
    order = np.arange(float(n))[:, None]
    for other in (order**3, -order):
        assert clustered_correlation(order, other).p == pytest.approx(p)


POINTS = st.lists(
    st.tuples(st.integers(-40, 40).map(lambda v: v / 4), st.floats(-10, 10)),
    min_size=5,
    max_size=20,
)


@given(POINTS)
def test_f_test_equals_sums_of_squares(points: list[tuple[float, float]]) -> None:
    x, y = np.array(points).T
    assume(len(np.unique(x)) >= 4 and np.ptp(y) > 0.1)
    fit = quadratic_against_linear(x, y)
    rss = []
    for degree in (1, 2):
        design = np.vander(x, degree + 1)
        coefficients, *_ = np.linalg.lstsq(design, y, rcond=None)
        rss.append(float(((y - design @ coefficients) ** 2).sum()))
    assume(rss[1] > 1e-6)
    f = (rss[0] - rss[1]) / (rss[1] / (len(x) - 3))
    total = float(((y - y.mean()) ** 2).sum())
    assert fit.n == len(x)
    assert fit.f == pytest.approx(f, rel=1e-5, abs=1e-6)
    assert fit.p == pytest.approx(stats.f.sf(f, 1, len(x) - 3), rel=1e-4, abs=1e-6)
    assert fit.r2_linear == pytest.approx(1 - rss[0] / total, abs=1e-9)
    assert fit.r2_quadratic == pytest.approx(1 - rss[1] / total, abs=1e-9)
    assert 0 - 1e-9 <= fit.r2_linear <= fit.r2_quadratic + 1e-9 <= 1 + 2e-9
    assert fit.curvature == pytest.approx(coefficients[0], rel=1e-6, abs=1e-9)


@given(st.floats(-5, 5), st.floats(-3, 3).filter(lambda c: abs(c) > 0.01), st.floats(-20, 20))
def test_a_parabola_is_recovered(peak: float, curvature: float, height: float) -> None:
    x = np.arange(9.0)
    fit = quadratic_against_linear(x, height + curvature * (x - peak) ** 2)
    assert fit.curvature == pytest.approx(curvature)
    assert fit.peak == pytest.approx(peak, abs=1e-6)
    assert fit.r2_quadratic == pytest.approx(1)
    assert fit.p < 1e-6


def test_effective_rank_is_that_of_the_eigenvalues_whatever_the_units() -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4)) * [1, 10, 100, 1e-3] + 5
    eigen = np.linalg.eigvalsh(np.corrcoef(scores, rowvar=False))
    assert effective_rank(scores).value == pytest.approx(eigen.sum() ** 2 / (eigen**2).sum())


def test_the_interval_of_the_effective_rank_covers() -> None:
    """Two factors behind six agents, 30 items: near 95 of 100."""
    rng = np.random.default_rng(4)
    loads = np.kron(np.eye(2), np.ones(3))
    r = (loads.T @ loads + np.eye(6) / 4) / 1.25
    truth, held = 36 / (r**2).sum(), 0
    for _ in range(50):
        scores = rng.normal(size=(30, 2)) @ loads + rng.normal(size=(30, 6)) * 0.5
        found = effective_rank(scores)
        held += found.low <= truth <= found.high
    assert 0.88 <= held / 50 <= 1


def test_compression_is_a_ratio_of_sums_over_items_that_have_both() -> None:
    found = compression([100, 300, 50, 200, 0], [10, 20, 0, 10, 5])
    assert found.value == pytest.approx(600 / 40)
    assert (found.n, found.unscored) == (3, 2)
    assert found.low < 15 < found.high
    assert np.isnan(compression([1, 2], [0, 0]).value)
