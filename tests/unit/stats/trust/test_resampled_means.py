"""The bootstrap of PPI++ against ppi_py, and against the interval from influences."""

from __future__ import annotations

import numpy as np
import pytest

from judgelab.stats.trust.labelled_pool import LabelledPool
from judgelab.stats.trust.prediction_powered import estimate
from judgelab.stats.trust.resampled_means import resampled_means


def _made(labels: int = 120, pool: int = 600):
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, pool).astype(float)
    right = rng.random((3, pool)) < np.array([0.9, 0.7, 0.5])[:, None]
    values = np.where(right, truth, 1 - truth)
    return np.where(np.arange(pool) < labels, truth, np.nan), values


def test_quantiles_are_those_of_ppboot() -> None:
    ppi_py = pytest.importorskip("ppi_py")
    truth, values = _made()
    known, tuning = ~np.isnan(truth), np.array([0.8, 0.5, 0.13])
    pool = LabelledPool.of(truth, values, np.arange(len(truth)))
    drawn = resampled_means(pool, tuning, 2000, 1)
    for k, lam in enumerate(tuning):
        np.random.seed(3)  # noqa: NPY002 - what ppboot draws from
        low, high = ppi_py.ppboot(
            np.mean, truth[known], values[k, known], values[k, ~known],
            lam=lam, n_resamples=2000, alpha=0.05,
        )  # fmt: skip
        ours = np.quantile(drawn[:, k], [0.025, 0.975])
        assert ours == pytest.approx([float(low), float(high)], abs=0.007)


def test_the_spread_is_that_of_influences_and_clusters_stay_together() -> None:
    truth, values = _made()
    alone = LabelledPool.of(truth, values, np.arange(len(truth)))
    found = estimate(alone, "power")
    drawn = resampled_means(alone, found.tuning, 3000, 1)
    assert drawn.mean(axis=0) == pytest.approx(found.value, abs=0.003)
    assert drawn.std(axis=0) == pytest.approx(found.error, rel=0.06)
    twice = LabelledPool.of(
        np.tile(truth, 2), np.tile(values, 2), np.tile(np.arange(len(truth)), 2)
    )
    again = resampled_means(twice, found.tuning, 3000, 1)
    np.testing.assert_allclose(again, drawn)


def test_a_missing_verdict_leaves_its_unit_out() -> None:
    truth, values = _made()
    values[1, [3, 400]] = np.nan
    pool = LabelledPool.of(truth, values, np.arange(len(truth)))
    drawn = resampled_means(pool, np.full(3, 0.5), 2000, 1)
    wanted = estimate(pool, "none").value[1]
    assert np.isfinite(drawn).all()
    assert drawn[:, 1].mean() == pytest.approx(wanted, abs=0.05)
