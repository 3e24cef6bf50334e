"""What a verdict is worth: golden figures, real metrics, coverage."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from judgelab.stats.trust.exchange import dummies, saving
from tests.judgment_tables import frank


def test_a_metric_that_knows_the_system_alone_saves_little(shared_data: Path) -> None:
    """FRANK bbc and cnndm: BertScore P Art .380 pooled, .073 within systems."""
    table = frank(shared_data, None).of(["BertScore P Art"])
    truth, values, cluster, systems = table.truth, table.values, table.clusters, table.units.first
    pooled = saving(truth, values, np.arange(len(truth)))
    within = saving(truth, values, np.arange(len(truth)), dummies(systems))
    sums = [np.bincount(cluster, x - x.mean()) for x in (truth, values[0])]
    wanted = (sums[0] @ sums[1]) ** 2 / (sums[0] @ sums[0]) / (sums[1] @ sums[1])
    groups = len(sums[0])
    adjusted = 1 - (1 - wanted) * (groups - 1) / (groups - 2)
    assert saving(truth, values, cluster).value[0] == pytest.approx(adjusted)
    assert pooled.value[0] == pytest.approx(0.380, abs=5e-4)
    assert within.value[0] == pytest.approx(0.073, abs=5e-4)
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
    assert found.value[0] == found.low[0] == found.high[0] == 0 and np.isnan(found.value[1])
    assert np.isnan(saving(y[:3], y[None, :3], np.arange(3)).value[0])


def test_a_perfect_judge_saves_and_its_interval_says_how_many_labels_there_are() -> None:
    y = np.tile([0.0, 1.0], 50)
    found = saving(y, y[None], np.arange(100))
    assert found.value[0] > 0.999 and found.high[0] > 0.999
    assert 0.8 < found.low[0] < 0.9  # r may be 1 - 2 x .036
