"""Orders that are called sure are right, at any look; what is sure follows; the rest is open."""

from __future__ import annotations

import numpy as np
import pytest

from judgelab.stats.intervals.holm import holm
from judgelab.stats.sequential.elimination import standing, widths
from judgelab.stats.sequential.ends import betting_p


def race(rng: np.random.Generator, chances: list[float], items: int) -> np.ndarray:
    return (rng.random((items, len(chances))) < chances).astype(float)


def test_sure_orders_are_holm_over_both_directions_of_all_pairs() -> None:
    scores = race(np.random.default_rng(1), [0.9, 0.5, 0.45], 120)
    found = standing(scores, 0.95, (0, 1))
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    p = holm([betting_p(scores[:, i] - scores[:, j]) for i, j in pairs])
    assert [found.p[i, j] for i, j in pairs] == pytest.approx(list(p))
    assert found.above.tolist() == [[False, True, True], [False] * 3, [False] * 3]
    assert found.rank_low.tolist() == [1, 2, 2]
    assert found.rank_high.tolist() == [1, 3, 3]
    assert found.open.sum() == 2
    assert not found.wanted(1).any()
    assert found.wanted(None).sum() == 2


def test_two_who_are_surely_the_best_two_need_no_order() -> None:
    scores = race(np.random.default_rng(6), [0.9, 0.9, 0.2, 0.2], 120)
    found = standing(scores, 0.95, (0, 1))
    assert found.open.sum() == 4
    assert not found.wanted(2).any()
    assert found.wanted(1).sum() == 2
    assert found.wanted(3).sum() == 2


def test_what_follows_is_sure() -> None:
    """A above B by early items, B above C by later ones: A above C, though they never met."""
    scores = np.full((80, 3), np.nan)
    scores[:40, 0], scores[:40, 1] = 1.0, 0.0
    scores[40:, 1], scores[40:, 2] = 1.0, 0.0
    found = standing(scores, 0.95, (0, 1))
    assert found.both[0, 2] == 0
    assert found.above[0, 2]
    assert found.rank_low.tolist() == [1, 2, 3]


@pytest.mark.parametrize("bounds", [(0.0, 1.0), None])
def test_equal_competitors_are_told_apart_in_one_of_twenty_at_most(
    bounds: tuple[float, float] | None,
) -> None:
    """Five that are the same, looked at after each ten of 100 items (running p: one call)."""
    rng, wrong = np.random.default_rng(2), 0
    for _ in range(150):
        scores = rng.random((100, 5)) if bounds else rng.normal(size=(100, 5))
        wrong += bool(standing(scores, 0.95, bounds).above.any())
    assert wrong / 150 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 150)


def test_of_a_pool_the_order_is_that_of_its_means() -> None:
    """All items asked: every order is sure, and right; before, wrong in one of twenty at most."""
    rng = np.random.default_rng(3)
    pool = race(rng, [0.8, 0.6, 0.55, 0.3], 60)
    mean = pool.mean(axis=0)
    whole = standing(pool, 0.95, (0, 1), pool=60)
    assert (whole.above == (mean[:, None] > mean[None])).all()
    wrong = 0
    for _ in range(150):
        early = standing(rng.permutation(pool)[:40], 0.95, (0, 1), pool=60)
        wrong += bool((early.above & (mean[:, None] < mean[None])).any())
    assert wrong / 150 <= 0.05


def test_who_dropped_out_keeps_what_was_known() -> None:
    scores = race(np.random.default_rng(4), [0.95, 0.1, 0.5], 60)
    early = standing(scores[:30], 0.95, (0, 1), pool=100)
    scores[30:, 1] = np.nan
    late = standing(scores, 0.95, (0, 1), pool=100)
    assert late.above[early.above].all()
    assert late.p[0, 1] <= early.p[0, 1]


def test_widths() -> None:
    scores = race(np.random.default_rng(5), [0.5, 1.0], 200)
    found = widths(scores, 0.95, (0, 1))
    assert 0.1 < found[0] < 0.25
    assert found[1] < found[0] / 2
    assert np.isinf(widths(scores[:5], 0.95, None)).all()
