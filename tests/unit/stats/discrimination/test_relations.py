"""Appendix F's measures of tables, by sklearn and by hand, and their intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import (  # type: ignore[import-untyped, unused-ignore]
    cohen_kappa_score,
    mutual_info_score,
    roc_auc_score,
)

from judgelab.stats.discrimination.relations import (
    DIVERGENCES,
    divergence,
    information,
    measures,
    over_items,
)

TABLE = np.array([[40.0, 10.0], [15.0, 85.0]])
TRUTH = np.repeat([1, 1, 0, 0], TABLE.ravel().astype(int))
SAID = np.repeat([1, 0, 1, 0], TABLE.ravel().astype(int))


def test_measures_are_those_of_sklearn_and_go_together() -> None:
    found = measures(TABLE)
    assert found["youden_j"] == pytest.approx(0.8 + 0.85 - 1)
    assert found["auc"] == pytest.approx(roc_auc_score(TRUTH, SAID))
    assert found["kappa"] == pytest.approx(cohen_kappa_score(TRUTH, SAID))
    assert found["tvd"] == pytest.approx(found["tvd_from_j"]) == pytest.approx(4 / 9 * 0.65)
    assert found["kappa"] == pytest.approx(found["kappa_bound"])  # equality for two categories
    assert found["kappa_bound_printed"] == pytest.approx(2 * found["kappa_bound"])
    assert information(TABLE, "kl") == pytest.approx(mutual_info_score(TRUTH, SAID))
    assert math.isnan(measures([[0, 0], [3, 4]])["youden_j"])


def test_divergences_of_a_test_s_outcomes() -> None:
    assert divergence(TABLE, "tvd") == pytest.approx(0.8 - 0.15)  # J of an accepting test
    p, q = TABLE / TABLE.sum(axis=1, keepdims=True)
    assert divergence(TABLE, "kl") == pytest.approx((p * np.log(p / q)).sum())
    assert divergence(TABLE, "chi2") == pytest.approx(((p - q) ** 2 / q).sum())
    never = [[30, 20], [0, 50]]  # the outcome never comes without the source
    assert math.isinf(divergence(never, "kl"))
    assert divergence(never, "tvd") == pytest.approx(0.6)
    assert divergence(never, "hellinger") == pytest.approx(
        ((np.sqrt([0.6, 0.4]) - np.sqrt([0, 1])) ** 2).sum() / 2
    )
    assert divergence([[5, 0], [0, 5]], "jensen_shannon") == pytest.approx(math.log(2))
    assert all(math.isnan(divergence([[0, 0], [1, 2]], name)) for name in DIVERGENCES)


def test_the_interval_of_j_covers_items_that_belong_together() -> None:
    """30 items of 2 x 10 decisions whose rates differ between items."""
    rng, hits = np.random.default_rng(0), 0
    for _ in range(200):
        rates = np.stack([rng.beta(7, 3, 30), rng.beta(3, 7, 30)], axis=1)
        yes = rng.binomial(10, rates)
        counts = np.stack([yes, 10 - yes], axis=2)
        found = over_items(counts, lambda c: measures(c)["youden_j"], -1.0)
        hits += found.low <= 0.4 <= found.high
    assert 0.9 <= hits / 200 <= 0.99


def test_items_without_a_decision_are_unscored_and_the_infinite_has_no_interval() -> None:
    counts = np.stack([TABLE, TABLE, TABLE + 1, np.zeros((2, 2))])
    found = over_items(counts, lambda c: information(c, "tvd"))
    assert (found.n, found.unscored) == (3, 1)
    assert 0 <= found.low < found.value < found.high
    endless = over_items(np.array([[[3, 2], [0, 5]]] * 4), lambda c: divergence(c, "kl"))
    assert math.isinf(endless.value)
    assert math.isnan(endless.low)
