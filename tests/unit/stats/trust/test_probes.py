"""Probes: numbers of items by hand, exact ends, and how often a judge that falls is called safe."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from judgelab.stats.trust.probes import holm, items_needed, jointly, move_ends, probed

NAN = np.nan


def test_items_needed() -> None:
    """The golden numbers of the method note: .3 and power .8."""
    assert items_needed(0.3) == 223
    assert items_needed(0.3, sides=2) == 309
    assert items_needed(0.0) == items_needed(NAN) == 59


def test_nothing_moved_is_safe_from_59_items_on() -> None:
    moves = np.zeros((2, 59))
    moves[1, 0] = NAN
    many, few = probed(moves)
    assert many.outcome == "does not fall" and many.bound == pytest.approx(1 - 0.05 ** (1 / 59))
    assert few.outcome == "no answer" and (few.move.n, few.move.unscored) == (58, 1)
    assert few.needed == 59 and few.towards == few.away == 0


def test_rare_moves_have_the_ends_of_a_share() -> None:
    moves = np.zeros((1, 100))
    moves[0, :2] = 1
    high = move_ends(moves, 0.9)[1][0]
    assert high >= beta.ppf(0.95, 3, 98)
    assert move_ends(-moves, 0.9)[0][0] == pytest.approx(-high)


def test_what_moves_half_of_the_items_is_found_and_a_push_away_is_no_fall() -> None:
    half = np.tile([1.0, 0.0], 20)
    falls, away, unknown = probed(np.stack([half, -half, np.full(40, NAN)]))
    assert falls.outcome == "falls" and falls.move.value == 0.5 and falls.towards == 0.5
    assert falls.move.low > 0.3 and falls.move.p < 0.001
    assert away.outcome == "does not fall" and away.move.p > 0.99 and away.away == 0.5
    assert unknown.outcome == "no answer" and unknown.move.n == 0


def test_a_move_within_the_margin_is_no_fall_however_sure_it_is() -> None:
    moves = np.repeat([0.5, 0.0], [40, 960])[None]
    (small,), (large,) = probed(moves), probed(moves, margin=0.01)
    assert small.move.p < 0.001 and small.move.value == 0.02
    assert (small.outcome, large.outcome) == ("does not fall", "falls")


def test_holm_is_over_all_judges_and_probes() -> None:
    once = np.repeat([1.0, -0.5, 0.0], [14, 5, 41])
    alone = probed(once[None])[0]
    among = probed(np.stack([once, *np.zeros((40, 60))]))[0]
    assert alone.move.p < 0.05 < among.move.p
    assert alone.outcome == "falls" and among.outcome == "no answer"
    assert among.move.p == pytest.approx(min(1, 41 * alone.move.p))
    np.testing.assert_allclose(holm([0.01, NAN, 0.04]), [0.02, NAN, 0.04])


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


def test_moved_together() -> None:
    """Three judges, each moved by half of the items: by the same ones, or each by its own."""
    rng = np.random.default_rng(2)
    same = np.tile(rng.random(400) < 0.5, (3, 1)).astype(float)
    own = (rng.random((3, 400)) < 0.5).astype(float)
    found = jointly(same)
    assert found.majority.value == found.all_of_them.value == pytest.approx(same[0].mean())
    assert found.majority_alone == pytest.approx(0.5, abs=0.05)
    assert found.all_alone == pytest.approx(same[0].mean() ** 3)
    apart = jointly(own)
    assert apart.majority.low < apart.majority_alone < apart.majority.high
    assert apart.all_of_them.low < apart.all_alone < apart.all_of_them.high
    assert jointly(np.array([[1.0, NAN], [NAN, 1.0]])).majority.unscored == 2
