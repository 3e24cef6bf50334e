"""What a verdict is worth: golden figures, real metrics, coverage."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from judgelab.stats.trust.exchange import dummies, saving, worth
from tests.judgment_tables import frank


def test_worth_of_a_verdict() -> None:
    effective, each, most = worth(0.5, 100, 900)
    assert effective == pytest.approx(100 / 0.55) and most == 2
    assert each == pytest.approx((100 / 0.55 - 100) / 900)
    assert worth(0.0, 100, 900)[1] == 0
    assert worth(0.3, 100, 0)[1] == pytest.approx(0.3, abs=1e-12)


def test_a_metric_that_knows_the_system_alone_saves_little(shared_data: Path) -> None:
    """FRANK bbc and cnndm: BertScore P Art .380 pooled, .073 within systems."""
    tables = [frank(shared_data, name) for name in ("cnndm", "bbc")]
    truth = np.concatenate([one.truth for one in tables])
    place = tables[0].names.index("BertScore P Art")
    values = np.concatenate([one.values[place] for one in tables])[None]
    systems = np.concatenate([one.units.first for one in tables])
    articles = np.concatenate([one.clusters + 10_000 * k for k, one in enumerate(tables)])
    cluster = np.unique(articles, return_inverse=True)[1]
    single = np.arange(len(truth))
    pooled = saving(truth, values, single)
    within = saving(truth, values, single, dummies(systems))
    sums = [np.bincount(cluster, x - x.mean()) for x in (truth, values[0])]
    wanted = (sums[0] @ sums[1]) ** 2 / (sums[0] @ sums[0]) / (sums[1] @ sums[1])
    assert saving(truth, values, cluster).correlation[0] ** 2 == pytest.approx(wanted)
    assert pooled.correlation[0] ** 2 == pytest.approx(0.380, abs=5e-4)
    assert within.correlation[0] ** 2 == pytest.approx(0.073, abs=5e-4)
    means = np.array([truth[systems == name].mean() for name in systems])
    assert np.corrcoef(truth, means)[0, 1] ** 2 == pytest.approx(0.673, abs=5e-4)


@pytest.mark.parametrize("binary", [False, True])
def test_its_interval_holds(binary: bool) -> None:
    """n = 60, rho^2 near .49; the normal-theory interval covers .85-.88 of binary ones."""
    rng, runs = np.random.default_rng(3), 1000

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.normal(size=n)
        f = 0.7 * y + math.sqrt(0.51) * rng.normal(size=n)
        return ((y > 0.8) * 1.0, (f > 0.8) * 1.0) if binary else (y, f)

    y, f = draw(400_000)
    wanted = np.corrcoef(y, f)[0, 1] ** 2
    held = 0
    for _ in range(runs):
        y, f = draw(60)
        found = saving(y, f[None], np.arange(60))
        held += bool(found.low[0] <= wanted <= found.high[0])
    assert 0.93 <= held / runs <= 0.985


def test_backwards_constant_and_few() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    found = saving(y, np.stack([-y + 0.1 * rng.normal(size=50), np.ones(50)]), np.arange(50))
    assert found.value[0] == found.low[0] == found.high[0] == 0
    assert np.isnan(found.value[1])
    assert np.isnan(saving(y[:3], y[None, :3], np.arange(3)).value[0])


def test_labels_of_easy_units_do_not_promise_what_the_pool_does_not_give() -> None:
    """Easy units, on which the judge is right, are labelled ten times as often."""
    rng, held = np.random.default_rng(4), 0
    m, runs = 2000, 300
    for _ in range(runs):
        y, easy = rng.integers(0, 2, m).astype(float), rng.random(m) < 0.3
        f = np.where(rng.random(m) < np.where(easy, 0.95, 0.6), y, 1 - y)
        chance = np.where(easy, 0.3, 0.06)
        drawn = rng.random(m) < chance
        truth = np.where(drawn, y, np.nan)
        found = saving(truth, f[None], np.arange(m), weight=1 / chance)
        naive = saving(truth, f[None], np.arange(m))
        # rho^2 of all such units: P(right) = .705, so r = .41
        held += bool(found.low[0] <= 0.41**2 <= found.high[0])
        assert naive.value[0] > found.value[0]
    assert 0.91 <= held / runs <= 0.985


def test_a_perfect_judge_saves_and_its_interval_says_how_many_labels_there_are() -> None:
    y = np.tile([0.0, 1.0], 50)
    found = saving(y, y[None], np.arange(100))
    assert found.value[0] > 0.999 and found.high[0] > 0.999
    assert 0.8 < found.low[0] < 0.9  # r may be 1 - 2 x .036
