"""The overseer's pay, effective rank and compression, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from judgelab.stats.discrimination.structure import compression, effective_rank, overseer


def symmetric(upper: list[list[float]]) -> np.ndarray:  # type: ignore[type-arg]
    """[items, 3, 3] from the pairs 01, 02, 12 of each item."""
    table = np.full((len(upper), 3, 3), np.nan)
    for k, row in enumerate(upper):
        for (i, j), value in zip(((0, 1), (0, 2), (1, 2)), row, strict=True):
            table[k, i, j] = table[k, j, i] = value
    return table


PAIRS = symmetric([[0.4, 0.2, 0.0], [0.6, 0.4, 0.2], [0.8, 0.6, 0.4], [0.2, np.nan, np.nan]])


def test_the_overseer_is_paid_for_all_ordered_pairs() -> None:
    """Equation 2: the sum over i of u_i = sum over j != i, so each pair counts twice."""
    found = overseer(PAIRS[:3])
    assert found.value == pytest.approx(2 * (0.6 + 0.4 + 0.2))
    by_agent = np.nansum(PAIRS[:3].mean(axis=0), axis=1)
    assert found.value == pytest.approx(by_agent.sum())
    assert found.low < found.value < found.high
    assert overseer(PAIRS).value == pytest.approx((1.2 + 2.4 + 3.6 + 6 * 0.2) / 4)
    nothing = overseer(np.full((4, 3, 3), np.nan))
    assert np.isnan(nothing.value)
    assert (nothing.n, nothing.unscored) == (0, 4)


def test_effective_rank_is_that_of_the_eigenvalues_whatever_the_units() -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4)) * [1, 10, 100, 1e-3] + 5
    eigen = np.linalg.eigvalsh(np.corrcoef(scores, rowvar=False))
    assert effective_rank(scores).value == pytest.approx(eigen.sum() ** 2 / (eigen**2).sum())


def test_agents_without_spread_or_scores_do_not_count() -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(40, 3))
    more = np.column_stack([scores, np.full(40, 7.0), np.full(40, np.nan)])
    assert effective_rank(more).value == pytest.approx(effective_rank(scores).value)
    assert np.isnan(effective_rank(more[:, 2:]).value)
    holes = scores.copy()
    holes[0, 0] = np.nan
    assert effective_rank(holes).value == pytest.approx(effective_rank(scores).value, abs=0.1)


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
