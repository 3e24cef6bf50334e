"""Quadratic against linear least squares."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from judgelab.stats.discrimination.structure import quadratic_against_linear

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


@given(
    st.floats(-5, 5),
    st.floats(-3, 3).filter(lambda c: abs(c) > 0.01),
    st.floats(-20, 20),
)
def test_a_parabola_is_recovered(peak: float, curvature: float, height: float) -> None:
    x = np.arange(9.0)
    fit = quadratic_against_linear(x, height + curvature * (x - peak) ** 2)
    assert fit.curvature == pytest.approx(curvature)
    assert fit.peak == pytest.approx(peak, abs=1e-6)
    assert fit.r2_quadratic == pytest.approx(1)
    assert fit.p < 1e-6


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_a_straight_line_has_no_peak(shift: float) -> None:
    x = np.arange(6.0) + shift
    fit = quadratic_against_linear(x, 2 * (x - shift) + 1)
    assert (fit.curvature, fit.f, fit.p) == (0, 0, 1)
    assert math.isnan(fit.peak)
    assert fit.r2_linear == pytest.approx(1)


def test_nan_points_are_left_out() -> None:
    x = [1.0, 2.0, 3.0, 4.0, 5.0, math.nan, 7.0]
    y = [1.0, 3.0, 4.0, 3.0, 1.5, 9.0, math.nan]
    assert quadratic_against_linear(x, y) == quadratic_against_linear(x[:5], y[:5])
    assert quadratic_against_linear(x, y).n == 5


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([], []),
        ([1.0, 2.0, 3.0], [1.0, 5.0, 2.0]),
        ([1.0, 1.0, 2.0, 2.0], [1.0, 5.0, 2.0, 3.0]),
        ([1.0, 2.0, 3.0, 4.0], [2.0, 2.0, 2.0, 2.0]),
    ],
    ids=["empty", "three points", "two distinct x", "constant y"],
)
def test_nothing_to_test_gives_nan(x: list[float], y: list[float]) -> None:
    fit = quadratic_against_linear(x, y)
    numbers = (fit.r2_linear, fit.r2_quadratic, fit.f, fit.p, fit.peak, fit.curvature)
    assert all(math.isnan(number) for number in numbers)
    assert fit.n == len(x)
