"""Levels of intervals after Holm: an interval leaves out 0 exactly where the claim is made."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from judgelab.stats.intervals.ends import above_p, mean_ends
from judgelab.stats.intervals.means import holm, holm_levels


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


def test_levels_by_hand() -> None:
    found = holm_levels([0.5, 0.001, 0.02, 0.9])
    assert found == pytest.approx([1 - 0.05 / 3, 1 - 0.05 / 4, 1 - 0.05 / 3, 1 - 0.05 / 3])
    assert holm_levels([0.03]) == pytest.approx([0.95])
    assert not len(holm_levels([]))


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
