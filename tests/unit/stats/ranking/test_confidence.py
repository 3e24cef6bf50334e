"""Ranking confidence: simulation, closed form, their inverses, pairing and bias."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from judgelab.stats.ranking.confidence import Draws, confidence, required_n, simulate

S = 0.249
"""The sd of ACU scores that the audit's figures rest on."""

SMOOTH = Draws(pairs=1000, evaluations=20, seed=1)
"""As many draws as the paper's, with more pairs of systems among them."""


@pytest.fixture(scope="module")
def scores() -> NDArray[np.float64]:
    """Human scores in [0, 1] in steps, skewed, with many zeros: as content units give them."""
    generator = np.random.default_rng(3)
    return np.asarray(generator.binomial(8, generator.beta(1.2, 2.0, size=900)) / 8)


@pytest.mark.parametrize("bias", [0.0, 0.05, 0.1])
def test_simulation_is_near_the_closed_form(scores: NDArray[np.float64], bias: float) -> None:
    r = np.array([0.1, 0.2, 0.42, 0.7, 1.0])[:, None, None]
    n = np.array([50, 200, 2000])[:, None]
    delta = np.array([-0.1, 0.02, 0.05, 0.3])
    share, error = simulate(r, n, delta, scores, SMOOTH, system_bias_sd=bias)
    assert share.shape == (5, 3, 4)
    off = np.abs(share - confidence(r, n, delta, scores, system_bias_sd=bias)) / error
    assert off.max() < 4
    assert 0.3 < np.sqrt((off**2).mean()) < 1.3, "the errors are neither vast nor too small"


def test_systems_on_the_same_items(scores: NDArray[np.float64]) -> None:
    """Items that give both systems the same true score and noise with probability c."""
    generator, shape, noise = np.random.default_rng(4), (4000, 60), 0.5
    ratings = np.array(
        [generator.choice(scores, shape) + generator.normal(0, noise, shape) for _ in range(2)]
    )
    ratings[1] = np.where(generator.random(shape) < 0.4, ratings[0], ratings[1])
    right = (ratings[1] + 0.05 - ratings[0]).mean(axis=1) > 0
    r = scores.std() / math.hypot(float(scores.std()), noise)
    exact = confidence(r, 60, 0.05, sd=scores.std(), item_correlation=0.4)
    assert right.mean() == pytest.approx(float(exact), abs=4 * 0.5 / math.sqrt(4000))


def test_a_literal_transcription_agrees(scores: NDArray[np.float64]) -> None:
    """Algorithm 1 in loops, noise drawn text by text."""
    generator = np.random.default_rng(0)
    r, n, delta, pairs, evaluations = 0.3, 30, 0.1, 150, 20
    sigma = scores.std() * math.sqrt(1 / r**2 - 1)
    width = len(scores) ** -0.2 * scores.std(ddof=1)
    shares = []
    for _ in range(pairs):
        a = generator.choice(scores, n) + generator.normal(0, width, n)
        b = generator.choice(scores, n) + generator.normal(0, width, n) + delta
        correct = 0
        for _ in range(evaluations):
            first = (a + generator.normal(0, sigma, n)).mean()
            second = (b + generator.normal(0, sigma, n)).mean()
            correct += (first < second) == (delta > 0)
        shares.append(correct / evaluations)
    ours, within = map(float, simulate(r, n, delta, scores, SMOOTH))
    error = math.hypot(within, np.std(shares) / math.sqrt(pairs))
    assert abs(ours - np.mean(shares)) < 4 * error


def test_pairing_of_one_half_is_the_paper_without_its_root_of_two() -> None:
    for r, wanted, printed in ((0.42, 0.883, 0.954), (0.20, 0.715, 0.789)):
        one = confidence(r, 100, 0.1, sd=S, item_correlation=0.5)
        assert float(one) == pytest.approx(printed, abs=0.0015)
        alone = confidence(r, 100, 0.1, sd=S)
        assert float(alone) == pytest.approx(wanted, abs=0.0015), "the audit's closed form"


@pytest.mark.parametrize("extension", [{}, {"item_correlation": 0.7, "system_bias_sd": 0.02}])
@pytest.mark.parametrize("smoothed", [False, True])
def test_required_items_are_the_fewest(
    scores: NDArray[np.float64], smoothed: bool, extension: dict[str, float]
) -> None:
    given = {"scores": scores} if smoothed else {"sd": S}

    def value(r: float, n: float, delta: float) -> float:
        return float(confidence(r, n, delta, **given, **extension))  # type: ignore[arg-type]

    for r, delta, target in product((0.15, 0.5, 0.9), (0.1, 0.2), (0.8, 0.95)):
        n = required_n(r, delta, target, **given, **extension)  # type: ignore[arg-type]
        assert value(r, n, delta) >= target > value(r, n - 1, delta) if n > 1 else True


def test_a_bias_between_systems_caps_the_confidence(scores: NDArray[np.float64]) -> None:
    many = confidence(0.6, np.array([100, 10**5, 10**9]), 0.1, scores, system_bias_sd=0.1)
    assert (np.diff(many) > 0).all()
    assert many[-1] == pytest.approx(0.7602, abs=1e-4)
    share, error = simulate(0.6, 10**5, 0.1, scores, SMOOTH, system_bias_sd=0.1)
    assert abs(share - many[1]) < 4 * error
    assert required_n(0.6, 0.1, 0.95, scores, system_bias_sd=0.1) == math.inf
    assert required_n(0.6, 0.1, 0.7, scores, system_bias_sd=0.1) < math.inf


def test_differences_that_no_number_of_items_tells() -> None:
    assert required_n(0.3, 1e-160) == math.inf, "more items than a number can say"
    items = required_n(0.3, 1e-10)
    assert 1e21 < items < 1e22
    assert float(confidence(0.3, items, 1e-10)) >= 0.95


def test_counting_scores_is_drawing_them() -> None:
    """With many items of few values the sums come from counts: the same distribution."""
    few = np.array([0.0, 0.25, 0.5, 1.0])
    share, error = simulate(1.0, np.array([32, 33]), 0.1, few, Draws(20000, 1, 2))
    off = np.abs(share - confidence(1.0, np.array([32, 33]), 0.1, few)) / error
    assert off.max() < 4 and share[0] != share[1]
