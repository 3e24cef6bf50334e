"""Asking until it is clear, on matrices of scores: what is asked, what is sure, what is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from judgelab.core.errors import ConfigError
from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.study.common.stopping import Elimination, Stop, until_clear

SHARE = (0.0, 1.0)


def asked(stop: Stop, matrix: Floats, names: Sequence[str] = "", **more: Any) -> Elimination:
    """Of a matrix of scores [items, competitors] in the order drawn."""
    seen = np.full(matrix.shape, np.nan)

    def ask(turns: range, who: Mask) -> None:
        rows = slice(turns.start, turns.stop)
        assert np.isnan(seen[rows]).all()  # nothing twice
        seen[rows] = np.where(who, matrix[rows], np.nan)

    called = list(names) or [f"j{k}" for k in range(matrix.shape[1])]
    given: dict[str, Any] = {"level": 0.95, "bounds": SHARE} | more
    return until_clear(stop, [1] * len(matrix), called, ask, lambda: seen, **given)


def coins(chances: Sequence[float], items: int = 300, seed: int = 0) -> Floats:
    return (np.random.default_rng(seed).random((items, len(chances))) < chances).astype(float)


ALMOST = np.array([[1.0, 1.0, 0.0], [1.0, 0.9, 0.1], [0.9, 1.0, 0.0]] * 400)
"""Two that are tied, and one far below them."""


def test_an_order_of_one_is_refused_or_is_a_width() -> None:
    """Of one judge the run stopped after its first batch: "Sure: their order"."""
    one = coins([0.8], 500)
    with pytest.raises(ConfigError) as refused:
        asked(Stop(order=0.95), one)
    assert str(refused.value) == (
        "study.stop.order is about the order of several, and there is j0 alone: ask for its "
        "agreement with people to a width, study.stop.width=.1"
    )
    with pytest.raises(ConfigError, match="for its mean score"):
        asked(Stop(order=0.95), one, figure="mean score")
    both = asked(Stop(order=0.95, top=1, width=0.2), one)
    alone = asked(Stop(width=0.2), one)
    assert both.count == alone.count
    assert 50 < both.count["j0"] < 500
    assert both.sentences == alone.sentences
    assert both.sentences[1] == "Known to a width of .2: the agreement with people of j0."
    assert "order" not in " ".join(both.sentences)


def test_the_best_so_many_of_no_more_is_refused() -> None:
    with pytest.raises(ConfigError, match="top=2 of 2 leaves nothing"):
        asked(Stop(order=0.95, top=2), coins([0.1, 0.9]))
    with pytest.raises(ConfigError, match=r"study\.stop\.order"):
        Stop(top=1)


def test_a_tie_is_told_as_a_tie_and_never_as_an_order() -> None:
    found = asked(Stop(order=0.95, width=0.2), ALMOST, ["ann", "bob", "cat"])
    assert found.ties == [("ann", "bob")]
    assert found.open == []
    assert len(found.who) < len(ALMOST)
    assert found.sentences[1:] == [
        "ann and bob differ by less than .2: a tie.",
        "Sure (.95): these ties, and the order of every other pair by agreement with people.",
    ]
    best = asked(Stop(order=0.95, width=0.2, top=1), ALMOST, ["ann", "bob", "cat"])
    assert best.sentences[2] == (
        "Sure (.95): nobody but ann and bob may be the best by agreement with people, and those of "
        "them whose order is not sure differ by less than .2."
    )
    alike = asked(Stop(order=0.95, width=0.2), ALMOST[:, :2], ["ann", "bob"])
    assert alike.sentences[2].startswith("Sure (.95): these ties; nobody is ahead")


def test_two_in_a_sure_order_within_the_width_are_a_tie() -> None:
    """.05 apart, always: the order is sure, too, but the tie is what counts."""
    apart = np.tile([0.55, 0.5], (2000, 1))
    found = asked(Stop(order=0.95, width=0.1, batch=500), apart)
    late = asked(Stop(order=0.95, width=0.1), apart, least=2000)
    assert found.ties == late.ties == [("j0", "j1")]
    assert asked(Stop(order=0.95), apart, least=2000).standing.above[0, 1]
    assert not late.standing.above.any()
    assert late.standing.rank_low.tolist() == [1, 1]
    assert "a tie" in late.sentences[1]
    assert "the order of" not in " ".join(late.sentences)


def test_ties_are_tested_as_often_as_there_are_pairs() -> None:
    """Not only as often as pairs are open: which these are was found by looking."""
    tie = [np.resize(x, 50) for x in ([0.65, 0.85], [0.85, 0.65])]
    far = np.resize([0.0, 0.1], 50)
    two, three = np.stack(tie, axis=1), np.stack([*tie, far], axis=1)
    stop, stricter = Stop(order=0.9, width=0.1), Stop(order=1 - 0.1 / 3, width=0.1)
    assert not stop.look(two, 0.9, SHARE)[2].any()
    assert stricter.look(two, 0.9, SHARE)[2].any()
    left = stop.look(three, 0.9, SHARE)[2]
    assert left.any() and not left[2].any()


def test_nobody_stops_before_enough_is_scored() -> None:
    """As ``rules.labels`` wants it; unscored items do not count."""
    matrix = np.tile([1.0, 0.0], (100, 1))
    early = asked(Stop(order=0.95), matrix)
    assert set(early.count.values()) == {10}
    later = asked(Stop(order=0.95), matrix, least=30)
    assert set(later.count.values()) == {30}
    matrix[::2, 1] = np.nan
    some = asked(Stop(order=0.95), matrix, least=30)
    assert some.count == {"j0": 30, "j1": 60}
    never = asked(Stop(order=0.95), matrix, least=70)
    assert never.count == {"j0": 70, "j1": 100}
    assert "Fewer than 70 labelled items gave a score: j1." in never.sentences


@pytest.mark.parametrize("stop", [Stop(order=0.95), Stop(order=0.95, width=0.3), Stop(width=0.2)])
@pytest.mark.parametrize("bounds", [SHARE, None])
def test_places_and_names_of_competitors_change_nothing(stop: Stop, bounds: Any) -> None:
    matrix = coins([0.9, 0.55, 0.5, 0.1], seed=4)
    if bounds is None:
        matrix += np.random.default_rng(5).normal(size=matrix.shape)
    names = ["ann", "bob", "cat", "dan"]
    found = asked(stop, matrix, names, bounds=bounds)
    turn = [2, 0, 3, 1]
    turned = asked(stop, matrix[:, turn], [names[k] for k in turn], bounds=bounds)
    assert turned.count == found.count
    assert {frozenset(p) for p in turned.open} == {frozenset(p) for p in found.open}
    assert {frozenset(p) for p in turned.ties} == {frozenset(p) for p in found.ties}
    assert (turned.standing.above == found.standing.above[np.ix_(turn, turn)]).all()
    called = dict(zip(names, "wxyz", strict=True))
    renamed = asked(stop, matrix, list(called.values()), bounds=bounds)
    assert renamed.count == {called[n]: k for n, k in found.count.items()}
    said = "|".join(found.sentences)
    for name, other in called.items():
        said = said.replace(name, other)
    assert "|".join(renamed.sentences) == said


def test_higher_is_better_and_the_mirror_image_of_scores_turns_the_order() -> None:
    matrix = coins([0.9, 0.5, 0.1], seed=6)
    found, mirror = (asked(Stop(order=0.95), m) for m in (matrix, 1 - matrix))
    assert (mirror.standing.above == found.standing.above.T).all()
    assert mirror.count == found.count
