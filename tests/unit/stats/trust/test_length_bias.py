"""Length-controlled agreement: golden value, statsmodels, known truth, refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm

from judgelab.stats.trust.length_bias import length_bias, log_ratio
from judgelab.stats.trust.logit import clustered_logit
from tests.judgment_tables import ADVERSARIAL, llmbar


def test_a_real_judge_prefers_longer_texts(shared_data: Path):
    table = llmbar(shared_data, ADVERSARIAL)
    found = length_bias(table.verdicts, table.truth, table.units.words, table.clusters)
    at = table.names.index("LLaMA2/Vanilla")
    assert found.length[at] == pytest.approx(1.254, abs=1e-3)
    assert found.length_error[at] == pytest.approx(0.173, abs=5e-4)
    assert found.agreement[at] == pytest.approx(0.328, abs=1e-3)
    assert found.controlled[at] == pytest.approx(0.478, abs=5e-4)
    assert found.low[at] < found.controlled[at] < found.high[at]


def test_coefficients_and_errors_are_those_of_statsmodels():
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(80), 3)
    x = np.column_stack(
        [np.ones(240), rng.normal(size=(240, 2)) + rng.normal(size=80)[group, None]]
    )
    y = (rng.random((2, 240)) < 1 / (1 + np.exp(-x @ [0.2, 1.0, -0.5]))).astype(float)
    y[1, :7], y[0, 20] = np.nan, 0.5
    found = clustered_logit(y, x[None], group)
    for k in range(2):
        kept = ~np.isnan(y[k])
        kwds = {"groups": group[kept]}
        oracle = sm.GLM(y[k][kept], x[kept], family=sm.families.Binomial())
        wanted = oracle.fit(cov_type="cluster", cov_kwds=kwds)
        assert found.coefficients[k] == pytest.approx(wanted.params, abs=1e-6)
        assert found.error[k] == pytest.approx(wanted.bse, rel=1e-5)


def test_the_jackknife_is_near_refits_without_each_cluster():
    rng = np.random.default_rng(4)
    group = np.repeat(np.arange(40), 2)
    x = np.column_stack([np.ones(80), rng.normal(size=80)])
    y = (rng.random((1, 80)) < 1 / (1 + np.exp(-x @ [0.2, 1.0]))).astype(float)
    y[0, :2] = np.nan
    found = clustered_logit(y, x[None], group)
    kept = [(group != g) & ~np.isnan(y[0]) for g in range(1, 40)]
    fits = [sm.GLM(y[0][k], x[k], family=sm.families.Binomial()).fit().params for k in kept]
    assert found.left[0, 1:] == pytest.approx(np.array(fits) - np.mean(fits, axis=0), abs=0.01)
    assert np.isnan(found.left[0, 0]).all()
    low, high = found.ends(1)
    assert high[0] - low[0] > 2 * 1.96 * found.error[0, 1]


def _made(units: int, length: float, seed: int, quality: float = 0.5):
    """Verdicts with b1 = 1; ``quality``: how much longer better texts are."""
    rng = np.random.default_rng(seed)
    h = rng.choice([-1.0, 1.0], units)
    x = quality * h + rng.normal(size=units)
    words = np.column_stack([np.exp(4 + x) - 1, np.full(units, np.exp(4.0) - 1)])
    scaled = x / x.std()
    said = rng.random((1, units, 2)) < 1 / (1 + np.exp(-(h + length * scaled)))[:, None]
    return said.astype(float), (h + 1) / 2, words


def test_the_effect_of_length_and_the_controlled_agreement_cover_the_truth():
    hits = np.zeros(2)
    for seed in range(60):
        verdicts, truth, words = _made(150, 1.0, seed)
        found = length_bias(verdicts, truth, words, np.arange(150))
        hits += [
            found.length_low[0] <= 1.0 <= found.length_high[0],
            found.low[0] <= 1 / (1 + np.exp(-1.0)) <= found.high[0],
        ]
    assert (hits >= 51).all()  # .85: a nominal .95 falls below with p < .003


def test_a_judge_without_length_bias_has_none_though_better_texts_are_longer():
    verdicts, truth, words = _made(3000, 0.0, 1)
    found = length_bias(verdicts, truth, words, np.arange(3000))
    assert abs(found.length[0]) < 0.1
    longer = (log_ratio(words) > 0)[None, :, None]
    assert (verdicts == longer).mean() > 0.55  # what a look without people's labels would blame


def test_refusals():
    verdicts, truth, words = _made(200, 1.0, 1)
    clusters = np.arange(200)
    right = np.repeat(truth[None, :, None], 2, axis=2)
    assert "no finite effect" in length_bias(right, truth, words, clusters).refused[0]
    same = length_bias(verdicts, truth, np.full((200, 2), 9.0), clusters)
    assert "same length" in same.refused[0] and np.isnan(same.controlled[0])
    apart = length_bias(verdicts, truth, np.tile([5.0, 8.0], (200, 1)), clusters)  # all by as much
    assert "same length" in apart.refused[0] and np.isnan(apart.correlation)
    tied = np.where((truth == 1)[:, None], [[90.0, 30.0]], [[30.0, 90.0]])
    assert "told apart" in length_bias(verdicts, truth, tied, clusters).refused[0]
    assert "too few" in length_bias(verdicts, truth * np.nan, words, clusters).refused[0]


def test_judges_without_a_finite_effect_are_told_apart():
    """A judge that goes by length alone is the worst of all, and no odds say so."""
    _, truth, words = _made(200, 1.0, 1)
    longer = (words[:, 0] > words[:, 1]).astype(float)
    said = np.stack([longer, 1 - longer, longer * np.nan, truth])
    found = length_bias(np.repeat(said[:, :, None], 2, axis=2), truth, words, np.arange(200))
    told = ("always prefers the longer", "always prefers the shorter", "no verdict", "no finite")
    for why, wanted in zip(found.refused, told, strict=True):
        assert wanted in why, found.refused
