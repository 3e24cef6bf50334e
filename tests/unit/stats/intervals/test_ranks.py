"""Average ranks are scipy's, of which only the second that scipy.stats takes to import is saved."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import stats

from experiments.peer_prediction.baseline import welch_p
from judgelab.stats.intervals.arrays import average_ranks

VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=False), st.just(np.inf))


@given(arrays(np.float64, array_shapes(max_dims=3, max_side=9), elements=VALUES))
def test_ranks_are_scipys(cells: np.ndarray) -> None:
    np.testing.assert_array_equal(average_ranks(cells), stats.rankdata(cells, axis=-1))


@given(arrays(np.float64, (4, 9), elements=st.one_of(VALUES, st.just(np.nan))))
def test_ranks_leave_nan_out_as_scipy_does(cells: np.ndarray) -> None:
    expected = stats.rankdata(cells, axis=-1, nan_policy="omit")
    np.testing.assert_array_equal(average_ranks(cells), expected)


@pytest.mark.parametrize("sizes", [(2, 2), (5, 9), (30, 12)])
def test_welchs_p_is_scipys(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, y = rng.normal(0, 1, sizes[0]), rng.normal(0.5, 2, sizes[1])
        assert welch_p(x, y) == pytest.approx(stats.ttest_ind(x, y, equal_var=False).pvalue)
