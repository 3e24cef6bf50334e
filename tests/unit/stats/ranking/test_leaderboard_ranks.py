"""Ranks hold for all candidates together, and a gap that is always the same needs items, too."""

from __future__ import annotations

import numpy as np
import pytest

from judgelab.stats.ranking.leaderboard import rank_intervals


@pytest.mark.parametrize("candidates", [5, 20])
def test_all_ranks_of_tied_candidates_hold_together(candidates: int) -> None:
    """Nominal .90; with a critical value of each candidate's own .65 to .84, .45 to .64 of 20."""
    rng, held, runs = np.random.default_rng(1), 0, 100
    for seed in range(runs):
        scores = (rng.random((30, candidates)) < 0.6).astype(float)
        found = rank_intervals(scores, draws=200, seed=seed, bounds=(0, 1))
        held += bool((found.rank_low == 1).all() and (found.rank_high == candidates).all())
    assert held / runs >= 0.9 - 2 * np.sqrt(0.09 / runs)


def test_a_gap_that_is_always_the_same_is_certain_from_enough_items_only() -> None:
    """From three on it was; others may be seen, as far off as the scale reaches."""
    for items, bounds, certain in ((3, (1, 5), False), (30, (1, 5), True), (30, (1, 100), False)):
        found = rank_intervals(np.tile([4.0, 5.0], (items, 1)), draws=50, bounds=bounds)
        assert (found.rank_high[1] == 1) == certain, (items, bounds)


def test_steps_and_places_of_candidates() -> None:
    """One far off leaves the others to be compared among themselves; order of columns is none."""
    rng = np.random.default_rng(2)
    scores = rng.normal([0.0, 0.0, 5.0, 1.5], size=(40, 4))
    found = rank_intervals(scores, draws=500)
    assert found.rank_low.tolist() == [3, 3, 1, 2]
    assert found.rank_high.tolist() == [4, 4, 1, 2]
    turn = [3, 1, 0, 2]
    turned = rank_intervals(scores[:, turn], draws=500)
    assert turned.rank_low.tolist() == found.rank_low[turn].tolist()
    assert turned.rank_high.tolist() == found.rank_high[turn].tolist()
