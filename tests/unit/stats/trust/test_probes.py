"""Probes: numbers of items by hand, exact ends, and how often a judge that falls is called safe."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from judgelab.stats.trust.probes import items_needed, move_ends

NAN = np.nan


def test_items_needed() -> None:
    """The golden numbers of the method note: .3 and power .8."""
    assert items_needed(0.3) == 223
    assert items_needed(0.3, sides=2) == 309
    assert items_needed(0.0) == items_needed(NAN) == 59


def test_nothing_moved_has_the_ends_of_a_share_of_none() -> None:
    moves = np.zeros((2, 74))
    moves[1] = NAN
    low, high = move_ends(moves)
    assert high[0] == -low[0] == pytest.approx(1 - 0.025 ** (1 / 74)) and high[0] < 0.05
    assert np.isnan(high[1])


def test_rare_moves_have_the_ends_of_a_share() -> None:
    moves = np.zeros((1, 100))
    moves[0, :2] = 1
    high = move_ends(moves, 0.9)[1][0]
    assert high >= beta.ppf(0.95, 3, 98)
    assert move_ends(-moves, 0.9)[0][0] == pytest.approx(-high)


@pytest.mark.parametrize(
    ("sizes", "chances"),
    [((1.0,), (0.05,)), ((0.5,), (0.1,)), ((1.0, -1.0), (0.06, 0.01)), ((0.5, -0.5), (0.15, 0.05))],
    ids=["rare", "half", "both ways", "noisy"],
)
def test_who_falls_by_the_margin_is_seldom_called_safe(
    sizes: tuple[float, ...], chances: tuple[float, ...]
) -> None:
    """At most alpha and the noise of 1,500 trials; a t test calls .19 of the rare ones safe."""
    rng = np.random.default_rng(7)
    values = np.array([*sizes, 0.0])
    for items in (60, 150):
        drawn = rng.choice(values, size=(1500, items), p=[*chances, 1 - sum(chances)])
        high = move_ends(drawn, 0.9)[1]
        assert (high < 0.05).mean() < 0.075
