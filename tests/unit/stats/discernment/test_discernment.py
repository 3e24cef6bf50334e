"""Discernment scores: identities, degenerate ratings, and what chance reaches."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from scipy.stats import wilcoxon

from judgelab.stats.discernment.score import (
    How,
    _shuffles,
    calibrate,
    calibrate_summary,
    ceilings,
    combined,
    discernment,
    discernment_ends,
    left_out,
    level_balanced,
    metric_weights,
)
from judgelab.stats.discernment.wilcoxon import (
    Method,
    ZeroMethod,
    scipy_p,
    signed_rank_log_p,
    signed_ranks,
)

LN20 = math.log(20)
ZEROS: tuple[ZeroMethod, ...] = ("wilcox", "pratt", "zsplit")


def likert(rng: np.random.Generator, *shape: int, rho: float = 0.0) -> np.ndarray:
    """Ratings 1 to 5 with correlation about ``rho`` between metrics (the last axis)."""
    shared = rng.normal(size=(*shape[:-1], 1))
    noise = math.sqrt(rho) * shared + math.sqrt(1 - rho) * rng.normal(size=shape)
    return np.clip(np.round(3.5 + noise), 1, 5)


@pytest.mark.parametrize("zero_method", ZEROS)
@pytest.mark.parametrize(
    ("items", "discrete"),
    [(6, True), (60, True), (100, True), (4, False), (40, False), (99, False)],
)
def test_p_values_are_scipys(zero_method: ZeroMethod, items: int, discrete: bool) -> None:
    """Where it counts, and elsewhere by its normal approximation."""
    rng = np.random.default_rng(items)
    rows = rng.integers(-2, 4, (4, items)) if discrete else rng.normal(0.2, 1, (4, items))
    method: Method = "normal" if items > 50 else "auto"
    ours = np.exp(signed_rank_log_p(rows.astype(float), zero_method, method))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = [
            wilcoxon(row, zero_method=zero_method, alternative="greater", correction=False).pvalue
            for row in rows
        ]
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    np.testing.assert_array_equal([scipy_p(row, zero_method) for row in rows * 1.0], theirs)


@pytest.mark.parametrize("zero_method", ["wilcox", "pratt"])
def test_d_does_not_jump_with_items_that_nobody_ranks(zero_method: ZeroMethod) -> None:
    """Three falls, the rest unchanged: one pattern of eight, however many items."""
    for items in (49, 50, 51, 100, 101, 500):
        falls = np.concatenate([np.ones(3), np.zeros(items - 3)])
        assert math.exp(signed_rank_log_p(falls, zero_method)) == pytest.approx(1 / 8), items
    assert scipy_p(falls, "wilcox") == pytest.approx(0.042, abs=1e-3)


def test_d_does_not_jump_where_counting_ends() -> None:
    """Counted and approximated, D agrees within .02 near 1, and within 3 % in far tails."""
    rng = np.random.default_rng(16)
    for mean in (-0.3, 0.0, 0.2, 0.5, 2.0):
        for rows in (rng.normal(mean, 1, (8, 120)), rng.normal(mean, 1, (8, 120)).round().clip(-4)):
            exact, auto = (-signed_rank_log_p(rows, method=m) / LN20 for m in ("exact", "auto"))
            np.testing.assert_allclose(auto, exact, atol=0.02, rtol=0.03)
    for fall in (np.ones(101), np.arange(1.0, 102)):
        counted = -signed_rank_log_p(fall, method="exact") / LN20
        assert -signed_rank_log_p(fall) / LN20 == pytest.approx(counted, abs=0.05)
    middle = np.tile([1.0, -1.0], 75)
    assert math.exp(signed_rank_log_p(middle)) == pytest.approx(
        math.exp(signed_rank_log_p(middle, method="exact")), abs=1e-3
    )
    assert signed_rank_log_p(-np.ones(300)) == 0.0


def test_exact_p_is_never_negative_and_logarithms_outlive_floats() -> None:
    distinct = np.arange(1.0, 101.0)
    normal = signed_rank_log_p(distinct, method="normal")
    assert math.exp(normal) == pytest.approx(1.948e-18, rel=1e-3)
    normal = signed_rank_log_p(np.ones(100), method="normal")
    assert math.exp(normal) == pytest.approx(7.62e-24, rel=1e-3)
    assert signed_rank_log_p(distinct) == pytest.approx(-100 * math.log(2))
    assert -1e5 < signed_rank_log_p(np.ones(5000)) < -2000, "p itself would be 0"
    many = signed_rank_log_p(np.arange(1.0, 201.0), method="exact")
    assert many == pytest.approx(-200 * math.log(2))
    with pytest.raises(ValueError, match="up to 200 ranked pairs"):
        signed_rank_log_p(np.ones(201), method="exact")


@pytest.mark.parametrize("zero_method", ZEROS)
def test_exact_p_are_counts_of_sign_patterns(zero_method: ZeroMethod) -> None:
    """Every assignment of signs to the ranks there are, midranks of ties and zeros included."""
    rng = np.random.default_rng(11)
    for items in (1, 2, 5, 9):
        row = rng.integers(-2, 4, items).astype(float)
        ranks = signed_ranks(row[None], zero_method).ranks[0]
        signs = np.array(list(itertools.product((0, 1), repeat=int((ranks > 0).sum()))))
        sums = signs @ ranks[ranks > 0] if signs.size else np.zeros(1)
        expected = (sums >= ranks[row > 0].sum() - 1e-9).mean()
        assert math.exp(signed_rank_log_p(row, zero_method, "exact")) == pytest.approx(expected)
    same_ranks = np.array([1.0, 2.0, 3.0, 4.0]) * np.array(
        list(itertools.product((-1, 1), repeat=4))
    )
    by_one = [float(signed_rank_log_p(row, method="exact")) for row in same_ranks]
    np.testing.assert_allclose(signed_rank_log_p(same_ranks, method="exact"), by_one)


@pytest.mark.parametrize(
    ("items", "method", "alike", "own"),
    [
        (100, "normal", 17.77, 13.61),
        (100, "auto", 23.14, 23.14),
        (100, "exact", 23.14, 23.14),
        (12, "auto", 2.777, 2.777),
        (12, "normal", 2.748, 2.271),
    ],
)
def test_nothing_exceeds_the_ceiling(items: int, method: Method, alike: float, own: float) -> None:
    assert ceilings(items, method) == pytest.approx((alike, own), abs=0.01)
    rng = np.random.default_rng(12)
    for _ in range(20):
        falls = rng.integers(1, 5, (items, 2)).astype(float)
        assert discernment(falls, np.zeros_like(falls), how=How(method=method)).d <= alike + 0.01
    with pytest.raises(ValueError, match="no discernment"):
        ceilings(0)


def test_with_ties_the_exact_distribution_counts_sign_patterns() -> None:
    """Three falls of three: 1 pattern of 8, however the ranks tie."""
    changed = np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    assert signed_rank_log_p(changed) == pytest.approx(-3 * math.log(2))
    few_of_many = np.concatenate([np.ones(3), np.zeros(97)])
    p: dict[str, float] = {}
    for zero_method in ("wilcox", "zsplit"):
        p[zero_method] = float(np.exp(signed_rank_log_p(few_of_many, zero_method, "normal")))
    assert p == {"wilcox": pytest.approx(0.042, abs=1e-3), "zsplit": pytest.approx(0.28, abs=0.01)}
    assert np.exp(signed_rank_log_p(few_of_many, method="exact")) == pytest.approx(0.125)


def test_means_of_repeated_ratings_tie_in_spite_of_rounding() -> None:
    noisy = np.array([4.2 - 4.0, 1.2 - 1.0, 2.2 - 2.0, 4.0 - 4.4])
    exact = np.array([0.2, 0.2, 0.2, -0.4])
    assert len(set(noisy[:3])) > 1, "the differences do differ in their last bits"
    assert signed_rank_log_p(noisy) == signed_rank_log_p(exact)


def test_d_of_05_is_1_and_of_1_is_0() -> None:
    d, d_ew = combined(np.log([[0.05], [1.0]]), np.ones(1))
    np.testing.assert_allclose(d, [1, 0], atol=1e-12)
    np.testing.assert_allclose(d_ew, [1, 0], atol=1e-12)


@pytest.mark.parametrize("metrics", [1, 2, 3, 4])
def test_the_printed_combination_adds_ln_m(metrics: int) -> None:
    rng = np.random.default_rng(3)
    first = rng.normal(0.3, 1, (60, metrics))
    second = rng.normal(size=(60, metrics))
    printed = discernment(first, second, how=How(combine="printed"))
    assert printed.d - printed.d_ew == pytest.approx(math.log(metrics) / LN20)
    harmonic = discernment(first, second)
    assert harmonic.d == pytest.approx(harmonic.d_ew) == printed.d_ew
    assert harmonic.d_ew == pytest.approx(-math.log(metrics / (1 / harmonic.p).sum()) / LN20)


def test_weights_take_metrics_in_and_out() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.normal(0.4, 1, (50, 2)), rng.normal(size=(50, 2))
    one = discernment(first, second, weights=[1.0, 0.0])
    assert one.d_ew == pytest.approx(-math.log(one.p[0]) / LN20)
    for wrong in ([0.5], [0.5, 0.6], [1.5, -0.5]):
        with pytest.raises(ValueError, match="add up to 1"):
            metric_weights(2, wrong)


@pytest.mark.parametrize("zero_method", ZEROS)
@pytest.mark.parametrize("method", ["auto", "normal", "exact"])
def test_ratings_all_alike_are_no_discernment(zero_method: ZeroMethod, method: Method) -> None:
    same = np.full((100, 3), 4.0)
    d, d_ew, p = discernment(same, same, how=How(zero_method, method=method))
    assert (d, d_ew) == (0.0, 0.0)
    assert p.tolist() == [1.0, 1.0, 1.0]


def test_one_sided_a_judge_that_prefers_the_perturbed_discerns_nothing() -> None:
    rng = np.random.default_rng(5)
    good, bad = rng.normal(1, 1, (100, 2)), rng.normal(size=(100, 2))
    assert discernment(good, bad).d > 5
    assert discernment(bad, good).d < 0.01


def test_unscored_items_are_left_out_of_their_metric_only() -> None:
    rng = np.random.default_rng(6)
    first, second = rng.normal(0.5, 1, (40, 2)), rng.normal(size=(40, 2))
    holed = first.copy()
    holed[:10, 0] = np.nan
    found = discernment(holed, second)
    assert found.p[0] == discernment(first[10:], second[10:]).p[0]
    assert found.p[1] == discernment(first, second).p[1]
    holed[:, 0] = np.nan
    assert math.isnan(discernment(holed, second).d)
    assert discernment(holed, second, weights=[0.0, 1.0]).d_ew > 0, "it has no weight"


def test_levels_count_alike() -> None:
    assert level_balanced([1.0, 3.0, 8.0], ["word", "word", "sentence"]) == 5.0
    assert math.isnan(level_balanced([1.0, np.nan], ["word", "sentence"]))


@pytest.mark.parametrize(("metrics", "rho"), [(1, 0.0), (2, 0.5), (4, 0.0), (4, 0.9)])
def test_chance_rejects_about_5_percent_with_weights(metrics: int, rho: float) -> None:
    """2,000 judges that rate at random: D^EW > 1 in .04 to .075; as printed, far more often."""
    rng = np.random.default_rng(7)
    first = likert(rng, 2000, 100, metrics, rho=rho)
    second = likert(rng, 2000, 100, metrics, rho=rho)
    log_p = signed_rank_log_p(np.moveaxis(first - second, 1, 2))
    d, d_ew = combined(log_p, metric_weights(metrics, None), "printed")
    assert 0.04 <= (d_ew > 1).mean() <= 0.075
    if metrics == 4:
        assert (d > 1).mean() > 0.15
        assert d.mean() == pytest.approx(0.87, abs=0.09), "a random judge scores close to 1"


def test_the_calibrated_threshold_holds_its_level() -> None:
    """On ratings of chance the threshold is passed in about 5 % of cases, however many metrics."""
    rng = np.random.default_rng(8)
    how = How(combine="printed")
    passed = []
    for seed in range(200):
        first, second = likert(rng, 60, 3), likert(rng, 60, 3)
        bar = calibrate(first, second, how=how, replicates=200, seed=seed)
        passed.append(discernment(first, second, how=How(combine="printed")).d > bar.d)
    assert 0.015 <= np.mean(passed) <= 0.09


def test_what_almost_never_changes_cannot_pass_its_threshold() -> None:
    first, second, how = np.full((100, 1), 5.0), np.full((100, 1), 5.0), How(method="normal")
    second[:3] = 4
    assert discernment(first, second, how=how).d_ew > 1, "nominally significant"
    assert discernment(first, second, how=how).d_ew <= calibrate(first, second, how=how).d_ew
    assert discernment(first, second).d_ew < 1, "one pattern of eight"


def test_averages_and_minima_have_thresholds_of_their_own() -> None:
    rng = np.random.default_rng(9)
    ratings = likert(rng, 4, 60, 2)
    levels = ["word", "word", "sentence"]
    bars = calibrate_summary(ratings, [None] * 3, levels, replicates=300)
    assert 0 < bars.minimum.d_ew < bars.average.d_ew < 2
    seen = ratings.copy()
    seen[0] += 1.5
    assert discernment(seen[0], seen[1]).d_ew > bars.average.d_ew


def test_thresholds_of_averages_and_minima_hold_their_level() -> None:
    """Judges that see nothing, their original shared: about 5 % pass, with weights and without."""
    rng, how = np.random.default_rng(13), How(method="normal")  # in a tenth of the time
    weights, levels = [None, [0.8, 0.2]], ["word", "sentence"]
    passed = []
    for seed in range(150):
        ratings = likert(rng, 3, 60, 2, rho=0.5)
        bars = calibrate_summary(ratings, weights, levels, how, replicates=100, seed=seed)
        pairs = zip(ratings[1:], weights, strict=True)
        found = [discernment(ratings[0], one, own, how) for one, own in pairs]
        for name in ("d", "d_ew"):
            values = [getattr(one, name) for one in found]
            average, least = (getattr(bar, name) for bar in (bars.average, bars.minimum))
            passed.append([level_balanced(values, levels) > average, min(values) > least])
    rates = np.reshape(passed, (150, 4)).mean(axis=0)
    assert (rates >= 0.015).all() and (rates <= 0.09).all(), rates


def test_a_missing_rating_stays_where_it_is_in_a_shuffle() -> None:
    """Thresholds are those of the ten items that are there, and chance passes them in 5 %."""
    rng = np.random.default_rng(14)
    levels, weights = ["character", "word", "sentence"], [None] * 3
    full = likert(rng, 4, 60, 2)
    holed = full.copy()
    holed[0, 10:] = np.nan
    some, few = (
        calibrate_summary(one, weights, levels, replicates=600) for one in (holed, full[:, :10])
    )
    for name in ("average", "minimum"):
        pair = getattr(some, name).d_ew, getattr(few, name).d_ew
        assert pair[0] == pytest.approx(pair[1], abs=0.12), name
    passed, how = [], How(method="normal")  # in a third of the time
    for seed in range(150):
        ratings = likert(rng, 4, 60, 1)
        ratings[0, 10:] = np.nan
        bars = calibrate_summary(ratings, weights, levels, how, replicates=100, seed=seed)
        found = [discernment(ratings[0], one, how=How(method="normal")).d for one in ratings[1:]]
        passed.append([sum(found) / 3 > bars.average.d, min(found) > bars.minimum.d])
    rates = np.mean(passed, axis=0)
    assert (rates >= 0.015).all() and (rates <= 0.1).all(), rates


def test_metrics_that_miss_different_ratings_are_shuffled_each_within_its_own() -> None:
    rng = np.random.default_rng(15)
    ratings = likert(rng, 3, 40, 2, rho=0.9)
    ratings[1, :30, 0] = ratings[0, 35:, 1] = np.nan
    taken = _shuffles(rng.random((5, 3, 40)), ~np.isnan(ratings))
    shuffled = np.take_along_axis(ratings[None], taken, axis=1)
    np.testing.assert_array_equal(np.isnan(shuffled), np.isnan(ratings)[None].repeat(5, axis=0))
    for one in shuffled:
        np.testing.assert_array_equal(np.sort(one, axis=0), np.sort(ratings, axis=0))
    assert (taken[:, :, 30:35, 0] == taken[:, :, 30:35, 1]).all(), "whole items move together"
    assert not (taken[:, :, 30:35, 0] == np.arange(3)[:, None]).all()


def test_each_item_is_left_out_in_turn_and_the_interval_holds_the_score() -> None:
    rng = np.random.default_rng(10)
    first, second = likert(rng, 30, 2) + 0.5, likert(rng, 30, 2)
    found, score = left_out(first, second, [0.8, 0.2]), discernment(first, second, [0.8, 0.2])
    np.testing.assert_allclose(found.d[0], [score.d, score.d_ew])
    fewer = discernment(np.delete(first, 7, 0), np.delete(second, 7, 0), [0.8, 0.2])
    np.testing.assert_allclose(found.d[8], [fewer.d, fewer.d_ew])
    low, high = discernment_ends(found.d.T, found.most.T)
    assert (low < found.d[0]).all() and (found.d[0] < high).all()
    assert (high < found.most[0]).all()


def test_an_interval_of_discernment_at_either_end() -> None:
    before = np.ones((12, 1))
    for after, low, high in ((0, 0.9, 2.78), (1, 0.0, 0.6)):
        found = left_out(before, np.full((12, 1), float(after)))
        ends = discernment_ends(found.d[:, 0], found.most[:, 0])
        if after:
            assert found.d[0, 0] == ends[0] == 0 < ends[1] < high, "D = 0, not for certain"
        else:
            assert low < ends[0] < 1.1 and ends[1] == pytest.approx(found.most[0, 0])
