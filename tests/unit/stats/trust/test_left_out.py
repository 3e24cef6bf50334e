"""Leaving out clusters: what cannot be told has no interval, and ends no run."""

from __future__ import annotations

import numpy as np

from judgelab.stats.intervals.ends import heavy_ends
from judgelab.stats.trust.clustered import left_out
from judgelab.stats.trust.left_out import leaving_out


def test_columns_that_differ_by_rounding_alone_leave_no_estimate() -> None:
    root = np.sqrt(2)
    rest = np.array([[1, root, root], [root, 2, 2], [root, 2, 2]])
    first = np.array([[1, 0, 1e-7], [0, 0, 0], [1e-7, 0, 0]])  # together a determinant of -2e-14
    found = left_out(
        np.stack([first, rest / 2, rest / 2])[None], np.ones((1, 3, 3)), np.ones((1, 3), np.bool_)
    )
    assert np.isnan(found).all()


def test_an_interval_holds_its_correlation_or_there_is_none() -> None:
    """Without the third unit y does not vary, and there is no correlation to be compared."""
    x, y = np.array([[0.1, 0.5, 0.9, 0.2, 0.4]]), np.array([[1.0, 1, 5, 1, 1]])
    z = np.arctanh([np.corrcoef(x[0], y[0])[0, 1]])
    low, high = heavy_ends(leaving_out(x, y, np.arange(5), z))
    assert np.isnan(low[0]) and np.isnan(high[0])
