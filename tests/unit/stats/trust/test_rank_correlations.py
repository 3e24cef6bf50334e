"""Correlations within items and given the system: FRANK's golden values, scipy item by item."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from judgelab.stats.intervals.bootstrap import item_draws
from judgelab.stats.trust.rank_correlations import (
    correlation_pairs,
    partial_correlations,
    spearmans_within,
    taus_within,
)
from tests.judgment_tables import frank


def test_frank_s_partial_correlations(shared_data: Path) -> None:
    table = frank(shared_data, None)
    _, system = np.unique(table.units.first.astype(str), return_inverse=True)
    table = table.of(["BertScore P Art", "FactCC"])

    def given(group: np.ndarray, method: str) -> np.ndarray:
        found = partial_correlations(
            table.values,
            table.truth,
            group,
            table.clusters,
            method,  # type: ignore[arg-type]
        )
        assert all(one.low < one.value < one.high and one.n == 2246 for one in found)
        return np.array([one.value for one in found])

    assert given(system, "pearson") == pytest.approx([0.271, 0.204], abs=5e-4)
    assert given(system, "spearman") == pytest.approx([0.243, 0.304], abs=5e-4)
    pooled, within = given(0 * system, "pearson")[0] ** 2, given(system, "pearson")[0] ** 2
    assert (pooled, within) == (pytest.approx(0.380, abs=5e-4), pytest.approx(0.073, abs=5e-4))


def test_within_items_as_scipy_has_it(shared_data: Path) -> None:
    table = frank(shared_data, "cnndm").of(["FactCC", "Dep Entail"])
    item, truth, scores = table.clusters, table.truth, table.verdicts[:, :, 0]
    count = item.max() + 1
    tau = taus_within(scores, truth, item, count)
    rho = spearmans_within(scores, truth, item, count)
    for judge in range(2):
        for k in range(0, count, 5):
            x, y = scores[judge, item == k], truth[item == k]
            known = ~np.isnan(x)
            if known.sum() < 3 or np.ptp(x[known]) == 0 or np.ptp(y[known]) == 0:
                assert np.isnan(tau[judge, k]) and np.isnan(rho[judge, k])
                continue
            assert tau[judge, k] == pytest.approx(kendalltau(x[known], y[known])[0])
            assert rho[judge, k] == pytest.approx(spearmanr(x[known], y[known])[0])


def test_two_texts_have_no_rank_correlation() -> None:
    assert np.isnan(taus_within([[1.0, 2.0]], [1.0, 2.0], np.zeros(2, int), 1)).all()


def test_clusters_widen_the_interval() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=80)
    y = x + rng.normal(size=80)
    none = np.zeros(160, int)
    one = partial_correlations(np.r_[x, x][None], np.r_[y, y], none, np.tile(np.arange(80), 2))[0]
    two = partial_correlations(np.r_[x, x][None], np.r_[y, y], none, np.arange(160))[0]
    alone = partial_correlations(x[None], y, none[:80], np.arange(80))[0]
    assert one.half_width == pytest.approx(alone.half_width)
    assert one.half_width > 1.3 * two.half_width


def test_differences_of_correlations_vary_as_resampled_clusters_do(shared_data: Path) -> None:
    table = frank(shared_data, "cnndm").of(["BertScore P Art", "BertScore F1 Art", "FactCC"])
    truth, cluster, none = table.truth, table.clusters, np.zeros(len(table.units), int)
    scores = table.verdicts[:, :, 0]
    found = correlation_pairs(scores, truth, none, cluster)
    places = [np.flatnonzero(cluster == k) for k in range(cluster.max() + 1)]
    drawn = []
    for draw in item_draws(len(places), 400, 1):
        at = np.concatenate([places[k] for k in draw])
        r = np.corrcoef(np.r_[scores[:, at], truth[None, at]])[-1, :-1]
        drawn.append(r[found.one] - r[found.other])
    half = (found.high - found.low) / 2
    np.testing.assert_allclose(half, 1.97 * np.std(drawn, axis=0), rtol=0.12)
    whole = np.corrcoef(np.r_[scores, truth[None]])[-1, :-1]
    np.testing.assert_allclose(found.difference, whole[found.one] - whole[found.other])
