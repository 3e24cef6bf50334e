"""The true rate behind a judge that errs: the paper's example, refusals, coverage."""

from __future__ import annotations

import numpy as np
import pytest

from judgelab.stats.trust.labelled_pool import LabelledPool
from judgelab.stats.trust.rogan_gladen import rate_behind, true_rate


def test_the_papers_example() -> None:
    found = true_rate(0.62, 500, 0.75, 40, 0.9, 60)
    assert (found.value, found.low, found.high) == pytest.approx((0.5692, 0.4287, 0.6978), abs=5e-5)
    assert not found.refused


@pytest.mark.parametrize("rates", [(0.5, 40, 0.5, 60), (0.75, 4, 0.9, 60), (0.75, 40, 0.9, 3)])
def test_a_judge_that_says_nothing_and_too_few_labels_are_refused(
    rates: tuple[float, int, float, int],
) -> None:
    found = true_rate(0.62, 500, *rates)
    assert found.refused and np.isnan([found.value, found.low, found.high]).all()


def test_it_holds_where_labels_come_from_a_population_with_another_rate() -> None:
    """True rate .3 in the pool, .6 among the 100 labelled; q0 .8, q1 .9."""
    rng, runs = np.random.default_rng(0), 4000
    ones = rng.binomial(100, 0.6, runs)
    q1, q0 = rng.binomial(ones, 0.9) / ones, rng.binomial(100 - ones, 0.8) / (100 - ones)
    p = rng.binomial(800, 0.3 * 0.9 + 0.7 * 0.2, runs) / 800
    found = true_rate(p, np.full(runs, 800), q0, 100 - ones, q1, ones)
    held = (found.low <= 0.3) & (found.high >= 0.3)
    assert 0.93 <= held[~found.refused].mean() <= 0.98


def test_units_of_a_cluster_count_once() -> None:
    rng = np.random.default_rng(1)
    y = (rng.random(600) < 0.4).astype(float)
    f = np.where(rng.random((2, 600)) < 0.85, y, 1 - y)
    shown = np.where(np.arange(600) < 150, y, np.nan)
    one = rate_behind(LabelledPool.of(shown, f, np.arange(600)))
    m1 = int((shown == 1).sum())
    by_hand = true_rate(
        f[:, 150:].mean(axis=1), 450, (1 - f[:, :150])[:, y[:150] == 0].mean(axis=1), 150 - m1,
        f[:, :150][:, y[:150] == 1].mean(axis=1), m1,
    )  # fmt: skip
    assert one.low == pytest.approx(by_hand.low) and one.high == pytest.approx(by_hand.high)
    twice = rate_behind(
        LabelledPool.of(np.tile(shown, 2), np.tile(f, 2), np.tile(np.arange(600), 2))
    )
    assert twice.low == pytest.approx(one.low) and twice.value == pytest.approx(one.value)
    ties = rate_behind(
        LabelledPool.of(np.where(np.arange(600) == 3, 0.5, shown), f, np.arange(600))
    )
    assert ties.refused.all()
