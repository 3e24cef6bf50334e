"""What annotated data say of a judge, how often it ranks right, and whether that was predicted."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, ttest_rel

from judgelab.stats.ranking.confidence import confidence
from judgelab.stats.ranking.pairs import (
    Outcomes,
    calibration_error,
    ordered_pairs,
    predict,
    predict_pairs,
    ranked_pairs,
)
from judgelab.stats.ranking.system_bias import MODELS, fit_judge

Array = NDArray[np.float64]


def annotated(
    seed: int,
    items: int = 200,
    systems: int = 40,
    bias: float = 0.0,
    noise: float = 1.5,
    item: float = 0.0,
    scale: float = 3.0,
) -> tuple[Array, Array]:
    """Human scores (sd about 1) and metric = scale (human + system bias + noise) + 7."""
    generator = np.random.default_rng(seed)
    human = generator.normal(size=(items, systems)) + generator.normal(0, 0.3, size=systems)
    error = generator.normal(0, noise, size=(items, systems))
    shift = generator.normal(0, bias, size=systems)
    common = generator.normal(0, item, size=(items, 1))
    return human, scale * (human + shift + error + common) + 7


def test_resamples_of_many_items_fit_in_memory() -> None:
    """2,000 resamples of 100,000 items were 3 GB at once."""
    tracemalloc.start()
    ranked_pairs(*annotated(0, items=10, systems=3), items=50_000, draws=100)
    assert tracemalloc.get_traced_memory()[1] < 2e7
    tracemalloc.stop()


def test_planted_quantities_are_found() -> None:
    human, metric = annotated(0, items=400, systems=150, bias=0.4, item=1.0)
    fit = fit_judge(human, metric)
    assert fit.bias.value == pytest.approx(0.4, rel=0.1)
    assert fit.line_bias_sd == pytest.approx(0.4, rel=0.1)
    assert fit.slope == pytest.approx(3.0, rel=0.05)
    assert fit.system_slope == pytest.approx(1.0, abs=0.2)
    assert fit.sd == pytest.approx(human.std())
    assert fit.r == pytest.approx(np.corrcoef(human.ravel(), metric.ravel())[0, 1])
    # var 1 + 1.5^2 + 1 within a system, of which the item's 1 is shared
    assert fit.item_correlation == pytest.approx(1 / 4.25, abs=0.02)
    assert (fit.systems, fit.texts) == (150, 400 * 150)


def test_complete_data_give_the_two_way_component_of_variance() -> None:
    human, metric = annotated(1, items=30, systems=6, bias=0.8)
    fit = fit_judge(human, metric)
    errors = metric / fit.slope - human
    means = errors.mean(axis=0)
    rest = errors - errors.mean(axis=1, keepdims=True) - means + errors.mean()
    inside = (rest**2).sum() / (29 * 5)
    assert fit.bias.value**2 == pytest.approx(means.var(ddof=1) - inside / 30)
    x, y = human.mean(axis=0), metric.mean(axis=0)
    line = np.polyfit(x, y, 1)
    assert fit.system_slope * fit.slope == pytest.approx(line[0])
    left = y - np.polyval(line, x)
    assert fit.line_bias_sd < left.std() / fit.slope * math.sqrt(6 / 4)


def test_what_the_data_cannot_tell_is_nan() -> None:
    human, metric = annotated(4, items=20, systems=4)
    assert math.isnan(fit_judge(human, np.ones_like(human)).r)
    unknown = fit_judge(human, -metric).bias
    assert math.isnan(unknown.value) and math.isnan(unknown.low) and unknown.n == 4
    two = fit_judge(human[:, :2], metric[:, :2])
    assert two.bias.value >= 0 and math.isnan(two.line_bias_sd)
    one = fit_judge(human[:, :1], metric[:, :1])
    assert one.r > 0 and math.isnan(one.bias.value) and math.isnan(one.item_correlation)
    nobody = fit_judge(human, np.full_like(human, np.nan))
    assert math.isnan(nobody.r) and nobody.texts == 0


def test_the_interval_of_the_bias_holds_it() -> None:
    """For complete data: the F test's chi-square of means, less what items add."""
    held = []
    for seed in range(200):
        human, metric = annotated(3000 + seed, items=40, systems=10, bias=0.4, item=0.7)
        found = fit_judge(human, metric).bias
        assert found.n == 10 and found.low <= found.value <= found.high
        held.append(found.low <= 0.4 <= found.high)
    assert 0.9 <= np.mean(held) <= 0.99
    errors = metric / fit_judge(human, metric).slope - human
    means = errors.mean(axis=0)
    rest = errors - errors.mean(axis=1, keepdims=True) - means + errors.mean()
    inside = (rest**2).sum() / (39 * 9) / 40
    for end, share in ((found.low, 0.975), (found.high, 0.025)):
        assert end**2 == pytest.approx(max(means.var(ddof=1) * 9 / chi2.ppf(share, 9) - inside, 0))


def test_bootstrap_is_what_a_loop_gives() -> None:
    human, metric = annotated(5, items=15, systems=3, noise=3.0)
    metric[4, 1] = np.nan
    found = ranked_pairs(human, metric, items=10, draws=4000, seed=2)
    generator = np.random.default_rng(9)
    means = human.mean(axis=0)
    for k, (better, worse) in enumerate(zip(found.first, found.second, strict=True)):
        assert means[better] > means[worse]
        assert found.delta[k] == pytest.approx(means[better] - means[worse])
        same, apart = [], []
        for _ in range(1000):
            one, other = generator.integers(0, 15, size=(2, 10))
            first = np.nanmean(metric[one, better])
            same.append(first > np.nanmean(metric[one, worse]))
            apart.append(first > np.nanmean(metric[other, worse]))
        assert found.paired[k] == pytest.approx(np.mean(same), abs=0.06)
        assert found.unpaired[k] == pytest.approx(np.mean(apart), abs=0.06)


def test_ties_are_halves_and_equal_systems_no_pair() -> None:
    human = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    metric = np.array([[2.0, 2.0, 1.0], [2.0, 2.0, 1.0]])
    found = ranked_pairs(human, metric, draws=50)
    assert list(zip(found.first, found.second, strict=True)) == [(0, 1), (2, 1)]
    assert found.paired.tolist() == found.unpaired.tolist() == [0.5, 0.0]
    absent = np.full_like(metric, np.nan)
    assert len(ranked_pairs(human, absent, draws=5).delta) == 0


def test_rounding_is_no_difference() -> None:
    """Equal means whose sums differ in the last digit: no pair for people, a tie for a metric."""
    human = np.array([[0.3, 0.1 + 0.2, 1.0]] * 3)
    found = ranked_pairs(human, human, draws=20)
    assert list(zip(found.first, found.second, strict=True)) == [(2, 0), (2, 1)]
    other = np.array([[1.0, 0.0, 2.0]] * 3)
    found = ranked_pairs(other, human, draws=20)
    assert found.paired.tolist() == found.unpaired.tolist() == [0.5, 1.0, 1.0]


def test_pairs_are_predicted_from_the_other_systems_alone() -> None:
    human, metric = annotated(6, items=50, systems=6, bias=0.3)
    pairs = ranked_pairs(human, metric, draws=10)
    spoilt = metric.copy()
    spoilt[:, [pairs.first[0], pairs.second[0]]] *= -50
    clean = predict_pairs(human, metric, pairs)
    other = predict_pairs(human, spoilt, pairs)
    inside = predict_pairs(human, spoilt, pairs, judge=fit_judge(human, spoilt))
    for model in MODELS:
        assert clean["unpaired", model][0] == pytest.approx(other["unpaired", model][0])
        assert clean["unpaired", model][1] != other["unpaired", model][1]
    assert clean["unpaired", "algorithm_1"][0] != inside["unpaired", "algorithm_1"][0]
    assert (clean["paired", "algorithm_1"] >= clean["unpaired", "algorithm_1"]).all()


def test_the_bias_term_calibrates_judges_that_have_such_a_bias() -> None:
    """Judges as the extended model has them: without the term far too sure, with it about right."""
    made: dict[str, list[Array]] = {model: [] for model in MODELS}
    seen, first, second = [], [], []
    for k in range(20):
        human, metric = annotated(100 + k, items=100, systems=14, bias=0.45, noise=1.2)
        pairs = ranked_pairs(human, metric, draws=200, seed=k)
        found = predict_pairs(human, metric, pairs)
        for model in MODELS:
            made[model].append(found["unpaired", model])
        seen.append(pairs.unpaired)
        first.append(pairs.first + 14 * k)
        second.append(pairs.second + 14 * k)
    errors, samples = {}, {}
    for model in MODELS:
        data = Outcomes(*map(np.concatenate, (made[model], seen, first, second)))
        errors[model], samples[model] = calibration_error(data, draws=300)
    assert errors["algorithm_1"].value > 0.1
    assert errors["bias"].value < 0.05
    assert errors["line"].value < 0.08
    assert np.quantile(samples["bias"] - samples["algorithm_1"], 0.975) < 0


def test_predictions_are_the_closed_form() -> None:
    human, metric = annotated(9, items=50, systems=5, bias=0.3, item=0.5)
    fit = fit_judge(human, metric)
    for model, slope, bias in (
        ("algorithm_1", 1.0, 0.0),
        ("bias", 1.0, fit.bias.value),
        ("line", fit.system_slope, fit.line_bias_sd),
    ):
        shared = {"item_correlation": fit.item_correlation, "system_bias_sd": bias}
        exact = confidence(fit.r, 80, 0.2 * slope, sd=fit.sd, **shared)
        made = predict(model, np.array([0.2]), [fit], 80, paired=True)  # type: ignore[arg-type]
        assert made[0] == pytest.approx(float(exact))
        backwards = predict(model, np.array([0.1]), [fit_judge(human, -metric)], 50, paired=True)  # type: ignore[arg-type]
        assert np.isnan(backwards).all()


def outcomes() -> Outcomes:
    return Outcomes(
        np.array([0.55, 0.58, 0.91, 0.93, 1.0, math.nan]),
        np.array([1.0, 0.0, 1.0, 0.5, 1.0, 1.0]),
        np.array([0, 0, 1, 2, 3, 4]),
        np.array([1, 2, 2, 3, 0, 0]),
    )


def test_calibration_error_by_hand() -> None:
    error, samples = calibration_error(outcomes(), draws=400)
    by_hand = abs(0.55 + 0.58 - 1) + abs(0.91 + 0.93 - 1.5) + 0
    assert error.value == pytest.approx(by_hand / 5)
    assert (error.n, error.unscored, error.clusters) == (5, 1, 4)
    assert error.low <= np.nanmedian(samples) <= error.high


def test_an_observed_order_is_as_sure_as_the_paired_t_test_says() -> None:
    _, metric = annotated(8, items=30, systems=3, bias=0.3)
    metric[2, 0] = np.nan
    found = ordered_pairs(metric)
    for k, (high, low) in enumerate(zip(found.first, found.second, strict=True)):
        both = ~np.isnan(metric[:, high] - metric[:, low])
        test = ttest_rel(metric[both, high], metric[both, low])
        assert found.gap[k] > 0 and found.shared[k] == both.sum()
        assert found.sampled[k] == pytest.approx(1 - test.pvalue / 2)
        assert found.agreed[k] == found.sampled[k]
    doubted = ordered_pairs(metric, bias_sd=1.0)
    assert (doubted.sampled == found.sampled).all() and (doubted.agreed < found.sampled).all()


def test_items_that_all_say_the_same_are_a_sign_test() -> None:
    """Two grades of 4 against two of 3 show no spread, and prove little."""
    for bias in (0.0, 0.01):
        found = ordered_pairs(np.array([[4.0, 3.0, 3.0], [4.0, 3.0, 3.0]]), bias)
        assert found.sampled.tolist() == [0.75, 0.75, 0.5]
        assert (found.agreed <= found.sampled).all() and found.agreed[2] == 0.5
    many = ordered_pairs(np.array([[4.0, 3.0]] * 10))
    assert many.sampled[0] == 1 - 0.5**10
    tied = ordered_pairs(np.array([[0.3, 0.1 + 0.2]] * 10))
    assert tied.sampled[0] == 0.5 and tied.gap[0] == 0


def test_the_confidence_of_an_order_holds_under_the_model() -> None:
    """Of orders given with confidence p, a share p is people's, bias included."""
    said, right = [], []
    for seed in range(150):
        human, metric = annotated(500 + seed, items=60, systems=8, bias=0.3, scale=1.0)
        truth = human.mean(axis=0)
        found = ordered_pairs(metric, bias_sd=0.3)
        said.append(found.agreed)
        right.append(truth[found.first] > truth[found.second])
    p, hit = np.concatenate(said), np.concatenate(right)
    for low, high in ((0.5, 0.65), (0.65, 0.8), (0.8, 0.95)):
        inside = (p >= low) & (p < high)
        # A flat prior on differences makes the rule a little too sure; no more than this.
        assert hit[inside].mean() == pytest.approx(p[inside].mean(), abs=0.08)
