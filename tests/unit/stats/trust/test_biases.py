"""What moves a judge: golden values of real judges, known truth, refusals, numbers by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import beta

from judgelab.stats.trust.biases import move_ends, noise, position_bias
from tests.judgment_tables import llmbar, made_pairs


def _of(table):
    return position_bias(table.verdicts, table.asked, table.clusters)


def test_real_judges_have_the_published_bias() -> None:
    table = llmbar()
    found = _of(table)
    wanted = {"Falcon/CoT": (0.93, 0.888, 0.965), "GPT-4/Metrics_Reference": (0.51, 0.490, 0.534)}
    for name, (share, *ends) in wanted.items():
        one = found.at(table.names.index(name))
        assert one.value == pytest.approx(share)
        assert (one.low, one.high) == pytest.approx(ends, abs=5e-4)


def test_a_judge_that_takes_the_first_text_is_found_and_a_fair_one_is_not():
    fair = _of(made_pairs(200, (0.8,) * 400, first=0.0))
    assert 0.92 < ((fair.low <= 0.5) & (fair.high >= 0.5)).mean() < 0.98
    found = _of(made_pairs(400, (0.8,), first=0.4))
    assert found.low[0] < 0.7 < found.high[0]  # .4 + .6 * .5
    always = _of(made_pairs(50, (0.8,), first=1.0))
    assert always.value[0] == 1 and 0.85 < always.low[0] < 1 and always.high[0] == 1


def test_units_of_one_item_are_one_cluster():
    table = made_pairs(60, (0.7,), first=0.3, seed=2)
    twice = np.concatenate([table.verdicts, table.verdicts], axis=1)
    found = position_bias(twice, np.ones(twice.shape, np.bool_), np.tile(np.arange(60), 2))
    alone = _of(table)
    assert (found.low[0], found.high[0]) == pytest.approx((alone.low[0], alone.high[0]))
    assert found.n[0] == 60


def test_nothing_moved_has_the_ends_of_a_share_of_none() -> None:
    low, high = move_ends(np.stack([np.zeros(74), np.full(74, np.nan)]))
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
def test_who_falls_is_seldom_safe(sizes: tuple[float, ...], chances: tuple[float, ...]) -> None:
    """By the margin: at most alpha and noise of 1,500 trials; t calls .19 of the rare ones safe."""
    rng = np.random.default_rng(7)
    values = np.array([*sizes, 0.0])
    for items in (60, 150):
        drawn = rng.choice(values, size=(1500, items), p=[*chances, 1 - sum(chances)])
        high = move_ends(drawn, 0.9)[1]
        assert (high < 0.05).mean() < 0.075


@pytest.mark.parametrize("seed", range(3))
def test_two_verdicts_differ_as_often_as_a_loop_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (60, 5)) / 7
    values[rng.random(values.shape) < 0.4] = np.nan
    cluster, differ, apart = np.arange(60) // 3, [], []
    for own in values:
        pairs = list(combinations(own[~np.isnan(own)], 2))
        differ += [np.mean([a != b for a, b in pairs])] if pairs else []
        apart += [np.mean([abs(a - b) for a, b in pairs])] if pairs else []
    found, moved = noise(values, cluster), rng.permutation(60)
    wanted = np.mean(differ), np.mean(apart), len(differ)
    assert (found.differ.value, found.apart.value, found.units) == pytest.approx(wanted)
    assert found.differ.low < found.differ.value < found.differ.high
    other = noise(values[moved][:, rng.permutation(5)], cluster[moved])
    assert other.differ.as_dict() == pytest.approx(found.differ.as_dict())


def test_the_interval_holds_and_narrows_with_items() -> None:
    """Runs that differ with probability .2 on each text, 300 tables of 100 texts."""
    rng = np.random.default_rng(0)
    runs = np.stack([np.zeros((300, 100)), rng.random((300, 100)) < 0.2], axis=2).astype(float)
    found = [noise(one, np.arange(100)).differ for one in runs]
    assert 0.92 < np.mean([one.low <= 0.2 <= one.high for one in found]) < 0.99
    twice = [noise(np.tile(one, (2, 1)), np.arange(200)).differ for one in runs[:20]]
    assert all(b.half_width < a.half_width for a, b in zip(found, twice, strict=False))
