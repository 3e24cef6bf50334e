"""Bets on a mean: those of the paper, one at a time, and seldom wrong at any look."""

from __future__ import annotations

import numpy as np
import pytest

from judgelab.stats.intervals.holm import holm
from judgelab.stats.sequential.betting import betting_p


def by_the_book(gains: list[float], pool: int | None = None) -> list[float]:
    """The wealth of Waudby-Smith & Ramdas, one bet at a time; of a pool without replacement."""
    wealth, path, seen = 1.0, [], []
    for k, g in enumerate(gains):
        expected = 0.0 if pool is None else max(-1.0, -sum(gains[:k]) / (pool - k))
        mean, square = sum(seen) / (len(seen) + 1), (0.25 + sum(x * x for x in seen))
        boldest = 0.75 / (1 + max(expected, 0.0))
        wealth *= 1 + min(max(mean / (square / (len(seen) + 1)), 0.0), boldest) * (g - expected)
        seen.append(g - expected)
        path.append(wealth)
    return path


@pytest.mark.parametrize("pool", [None, 200])
def test_wealth_is_that_of_one_bet_at_a_time(pool: int | None) -> None:
    gains = np.random.default_rng(1).choice([-1, -0.5, 0, 0.5, 1], 60, p=[0.1, 0.1, 0.2, 0.4, 0.2])
    wanted = by_the_book(list(gains), pool)
    for k in (1, 7, 30, 60):
        assert betting_p(gains[:k], pool) == pytest.approx(1 / max(1, *wanted[:k]))


def test_gaps_are_no_bets_and_large_gains_are_refused() -> None:
    gains = np.random.default_rng(2).choice([-1.0, 1.0], 30)
    assert betting_p(np.insert(gains, 7, np.nan)) == pytest.approx(betting_p(gains))
    assert betting_p(np.empty((2, 0))).tolist() == [1, 1]
    with pytest.raises(ValueError, match="lie in"):
        betting_p([1.2])


def test_a_pool_whose_rest_cannot_turn_it_is_sure() -> None:
    gains = np.r_[np.ones(30), -np.ones(10)]
    assert betting_p(gains[:20], 40) > 0 == betting_p(gains[:21], 40)


@pytest.mark.parametrize("gains", [([0.5, -0.5], [0.5, 0.5]), ([0.5, 0, -1], [0.4, 0.4, 0.2])])
def test_gains_of_nothing_are_called_some_in_less_than_five_percent(
    gains: tuple[list[float], list[float]],
) -> None:
    """Ten judges of gain 0, looked at after each of 100 labels: .02, where t with Holm has .40."""
    drawn = np.random.default_rng(2).choice(gains[0], (400, 10, 100), p=gains[1])
    false = np.mean([(holm(p) <= 0.05).any() for p in betting_p(drawn)])
    assert false <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)
