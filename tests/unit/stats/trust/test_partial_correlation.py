"""Correlations net of the system, and what they save: golden figures, scipy, coverage."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr

from judgelab.stats.intervals.ends import t_ends
from judgelab.stats.trust.partial_correlation import (
    dummies,
    leaving_out,
    partial_correlation,
    saving,
)
from tests.judgment_tables import frank


def test_frank_s_partial_correlations(shared_data: Path) -> None:
    table = frank(shared_data)
    _, system = np.unique(table.units.first.astype(str), return_inverse=True)
    table = table.of(["BertScore P Art", "FactCC"])

    found = [partial_correlation(v, table.truth, system, table.clusters) for v in table.values]
    assert all(one.low < one.value < one.high and one.n == 2246 for one in found)
    assert [one.value for one in found] == pytest.approx([0.271, 0.204], abs=5e-4)


def test_without_systems_it_is_scipy_s_and_what_is_missing_is_counted() -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 5, 60).astype(float)
    x = np.stack([y + rng.normal(size=60), np.ones(60), np.full(60, np.nan)])
    x[0, :7] = np.nan
    none = np.zeros(60, int)
    found, constant, nothing = (partial_correlation(v, y, none, np.arange(60)) for v in x)
    assert found.value == pytest.approx(pearsonr(x[0, 7:], y[7:])[0])
    assert (found.n, found.unscored, found.clusters) == (53, 7, 53)
    assert np.isnan([constant.value, constant.low, nothing.value, nothing.high]).all()


def test_leaving_out_is_the_jackknife_of_fisher_s_z() -> None:
    rng = np.random.default_rng(3)
    x, cluster = rng.normal(size=40), np.arange(40) // 2
    y = x + rng.normal(size=40)
    kept = [cluster != k for k in range(20)]
    z, left = (
        np.arctanh([np.corrcoef(x[k], y[k])[0, 1] for k in ks]) for ks in ([kept[0] | True], kept)
    )
    adds = leaving_out(x, y, cluster, float(np.tanh(z[0])))
    assert adds == pytest.approx(z + 19 * (left.mean() - left))


def test_an_interval_holds_its_correlation_or_there_is_none() -> None:
    """Without the third unit y does not vary, and there is no correlation to be compared."""
    x, y = np.array([0.1, 0.5, 0.9, 0.2, 0.4]), np.array([1.0, 1, 5, 1, 1])
    adds = leaving_out(x, y, np.arange(5), float(np.corrcoef(x, y)[0, 1]))
    low, high = t_ends(adds, heavy=True)
    assert np.isnan(low) and np.isnan(high)


def test_a_metric_that_knows_the_system_alone_saves_little(shared_data: Path) -> None:
    """FRANK bbc and cnndm: BertScore P Art .380 pooled, .073 within systems."""
    table = frank(shared_data).of(["BertScore P Art"])
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
