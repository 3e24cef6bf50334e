"""Favour for the own family: known truth at matched quality, an oracle, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from judgelab.stats.trust.own_family import own_family


def _made(units: int, favour: float, seed: int):
    """The own family writes better texts; b = .4 of length, h counts 1."""
    rng = np.random.default_rng(seed)
    own = rng.choice([-1.0, 0.0, 1.0], (1, units))
    h = np.where(rng.random(units) < 0.5 + 0.3 * own[0], 1.0, -1.0)
    ratio = rng.normal(size=units)
    odds = favour * own[0] + h + 0.4 * ratio
    said = (rng.random((1, units, 2)) < 1 / (1 + np.exp(-odds))[:, None]).astype(float)
    return said, (h + 1) / 2, own, ratio, np.arange(units)


def test_it_is_the_regression_of_statsmodels():
    said, truth, own, ratio, cluster = _made(300, 0.5, 1)
    found = own_family(said, truth, own, ratio, cluster)
    rows = np.column_stack([own[0], np.ones(300), 2 * truth - 1, ratio / ratio.std()])
    oracle = sm.GLM(said[0].reshape(-1), np.repeat(rows, 2, axis=0), sm.families.Binomial())
    wanted = oracle.fit(cov_type="cluster", cov_kwds={"groups": np.repeat(cluster, 2)})
    assert found.favour[0] == pytest.approx(wanted.params[0], abs=1e-6)
    assert (found.high - found.low)[0] == pytest.approx(2 * 1.968 * wanted.bse[0], rel=0.03)


def test_better_texts_of_the_own_family_are_no_favour_and_favour_is_found():
    fair = own_family(*_made(4000, 0.0, 2))
    assert fair.low[0] < 0 < fair.high[0] and fair.high[0] - fair.low[0] < 0.3
    biased = own_family(*_made(4000, 0.8, 3))
    assert biased.low[0] < 0.8 < biased.high[0] and biased.low[0] > 0.5
    assert biased.wrongly[0] > fair.wrongly[0] + 0.1


def test_it_is_refused_below_twenty_pairs():
    said, truth, own, ratio, cluster = _made(300, 0.5, 1)
    own[0, 30:] = 0
    found = own_family(said, truth, own, ratio, cluster)
    assert np.isnan(found.favour[0]) or found.pairs[0] >= 20
    own[0, 10:] = 0
    found = own_family(said, truth, own, ratio, cluster)
    assert np.isnan([found.favour[0], found.low[0], found.wrongly[0]]).all()
    assert f"{found.pairs[0]} labelled pairs" in found.refused[0]
