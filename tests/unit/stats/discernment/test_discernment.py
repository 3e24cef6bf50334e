"""Discernment scores: identities, degenerate ratings, and what chance reaches."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.stats import rankdata, wilcoxon

from judgelab.stats.discernment.score import (
    How,
    Weights,
    calibrate,
    calibrate_summary,
    ceiling,
    combine_metrics,
    discernment_ends,
    leave_one_out,
    level_balanced,
    metric_weights,
    paired_judges,
)
from judgelab.stats.discernment.wilcoxon import Method, signed_rank_log_p
from judgelab.stats.intervals.arrays import Floats

LN20, USUAL = math.log(20), How()


class Scores(NamedTuple):
    d: float
    d_ew: float
    p: Floats


def discernment(
    before: ArrayLike, after: ArrayLike, weights: Weights = None, how: How = USUAL
) -> Scores:
    log_p = signed_rank_log_p(np.subtract(before, after).T, how.method)
    d, d_ew = combine_metrics(log_p, metric_weights(len(log_p), weights), how.combine)
    return Scores(float(d), float(d_ew), np.exp(log_p))


def likert(rng: np.random.Generator, *shape: int, rho: float = 0.0) -> np.ndarray:
    """Ratings 1 to 5 with correlation about ``rho`` between metrics (the last axis)."""
    shared = rng.normal(size=(*shape[:-1], 1))
    noise = math.sqrt(rho) * shared + math.sqrt(1 - rho) * rng.normal(size=shape)
    return np.clip(np.round(3.5 + noise), 1, 5)


@pytest.mark.parametrize(
    ("items", "discrete"),
    [(6, True), (60, True), (100, True), (4, False), (40, False), (99, False)],
)
def test_p_values_are_scipys(items: int, discrete: bool) -> None:
    """Where it counts, and elsewhere by its normal approximation."""
    rng = np.random.default_rng(items)
    rows = rng.integers(-2, 4, (4, items)) if discrete else rng.normal(0.2, 1, (4, items))
    method: Method = "normal" if items > 50 else "auto"
    ours = np.exp(signed_rank_log_p(rows.astype(float), method))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = [wilcoxon(row, alternative="greater", correction=False).pvalue for row in rows]
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def counted(row: np.ndarray) -> float:
    """ln of the share of all sign patterns of the midranks whose sum is as high, by adding up."""
    row = row[row != 0]
    doubled = np.rint(2 * rankdata(np.abs(row))).astype(int)
    ways = np.zeros(doubled.sum() + 1)
    ways[0] = 1.0
    for rank in doubled:
        ways[rank:] += ways[:-rank].copy()
    return math.log(ways[doubled[row > 0].sum() :].sum()) - len(row) * math.log(2)


@pytest.mark.parametrize("items", [1, 2, 5, 9, 100])
def test_p_counts_sign_patterns_given_ties_and_leaves_zeros_out(items: int) -> None:
    row = np.random.default_rng(items).integers(-2, 4, items) + 0.0
    assert signed_rank_log_p(row) == pytest.approx(counted(row), abs=1e-9)
    for zeros in (1, 50, 500):  # however many items nobody ranks: one pattern of eight
        falls = np.concatenate([np.ones(3), np.zeros(zeros)])
        assert math.exp(signed_rank_log_p(falls)) == pytest.approx(1 / 8)
    for method in ("auto", "normal"):
        assert signed_rank_log_p(np.zeros((3, 4)), method).tolist() == [0.0] * 3
    assert np.isnan(signed_rank_log_p([np.nan]))


def test_d_does_not_jump_where_counting_ends() -> None:
    """Counted and approximated, D agrees within .02 near 1, and within 3 % in far tails."""
    rng = np.random.default_rng(16)
    for mean in (-0.3, 0.0, 0.2, 0.5, 2.0):
        for row in (rng.normal(mean, 1, 120), rng.normal(mean, 1, 120).round().clip(-4)):
            exact, auto = -counted(row) / LN20, -signed_rank_log_p(row) / LN20
            np.testing.assert_allclose(auto, exact, atol=0.02, rtol=0.03)
    middle = np.tile([1.0, -1.0], 75)
    assert math.exp(signed_rank_log_p(middle)) == pytest.approx(math.exp(counted(middle)), abs=1e-3)
    assert signed_rank_log_p(-np.ones(300)) == 0.0


def test_logarithms_outlive_floats() -> None:
    distinct = np.arange(1.0, 101.0)
    assert math.exp(signed_rank_log_p(distinct, "normal")) == pytest.approx(1.948e-18, rel=1e-3)
    assert signed_rank_log_p(distinct) == pytest.approx(-100 * math.log(2))
    assert -1e5 < signed_rank_log_p(np.ones(5000)) < -2000, "p itself would be 0"


@pytest.mark.parametrize(
    ("items", "method", "most"),
    [(100, "normal", 17.77), (100, "auto", 23.14), (12, "auto", 2.777), (12, "normal", 2.748)],
)
def test_nothing_exceeds_the_ceiling(items: int, method: Method, most: float) -> None:
    assert ceiling(items, method) == pytest.approx(most, abs=0.01)
    rng = np.random.default_rng(12)
    for _ in range(20):
        falls = rng.integers(1, 5, (items, 2)).astype(float)
        assert discernment(falls, np.zeros_like(falls), how=How(method=method)).d <= most + 0.01


def test_means_of_repeated_ratings_tie_in_spite_of_rounding() -> None:
    noisy = np.array([4.2 - 4.0, 1.2 - 1.0, 2.2 - 2.0, 4.0 - 4.4])
    exact = np.array([0.2, 0.2, 0.2, -0.4])
    assert len(set(noisy[:3])) > 1, "the differences do differ in their last bits"
    assert signed_rank_log_p(noisy) == signed_rank_log_p(exact)


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


def test_weights_take_metrics_in_and_out_and_levels_count_alike() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.normal(0.4, 1, (50, 2)), rng.normal(size=(50, 2))
    one = discernment(first, second, weights=[1.0, 0.0])
    assert one.d_ew == pytest.approx(-math.log(one.p[0]) / LN20)
    assert level_balanced([1.0, 3.0, 8.0], ["word", "word", "sentence"]) == 5.0
    assert math.isnan(level_balanced([1.0, np.nan], ["word", "sentence"]))


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


@pytest.mark.parametrize(("metrics", "rho"), [(1, 0.0), (2, 0.5), (4, 0.0), (4, 0.9)])
def test_chance_rejects_about_5_percent_with_weights(metrics: int, rho: float) -> None:
    """1,000 judges that rate at random: D^EW > 1 in .035 to .08; as printed, far more often."""
    rng = np.random.default_rng(7)
    first = likert(rng, 1000, 100, metrics, rho=rho)
    second = likert(rng, 1000, 100, metrics, rho=rho)
    log_p = signed_rank_log_p(np.moveaxis(first - second, 1, 2))
    d, d_ew = combine_metrics(log_p, metric_weights(metrics, None), "printed")
    assert 0.035 <= (d_ew > 1).mean() <= 0.08
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
        bar = calibrate(first - second, how=how, replicates=200, seed=seed)
        passed.append(discernment(first, second, how=how).d > bar[0])
    assert 0.015 <= np.mean(passed) <= 0.09


def test_a_threshold_on_few_items_is_exact_and_unmoved_items_change_none() -> None:
    for items, draws in ((4, 50), (8, 300), (30, 50)):
        falls = np.random.default_rng(items).normal(size=(items, 1))
        bars = {calibrate(falls, replicates=draws, seed=seed) for seed in range(4)}
        assert calibrate(np.vstack([[[0.0], [np.nan]], falls]), replicates=draws) in bars
        assert (len(bars) == 1) == (items < 30), "seeds do not matter"
        if items < 30:
            swaps = np.array(list(product((1, -1), repeat=items))) * falls[:, 0]
            d = -signed_rank_log_p(swaps) / np.log(20)
            assert (d > min(bars)[0] + 1e-9).mean() <= 0.05 < (d > min(bars)[0] - 1e-9).mean()


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
        for k, name in enumerate(("d", "d_ew")):
            values = [getattr(one, name) for one in found]
            average, least = bars["average"][k], bars["minimum"][k]
            passed.append([level_balanced(values, levels) > average, min(values) > least])
    rates = np.reshape(passed, (150, 4)).mean(axis=0)
    assert (rates >= 0.015).all() and (rates <= 0.09).all(), rates


def test_each_item_is_left_out_in_turn_and_the_interval_holds_the_score() -> None:
    rng = np.random.default_rng(10)
    first, second = likert(rng, 30, 2) + 0.5, likert(rng, 30, 2)
    d, most = leave_one_out(first - second, [0.8, 0.2])
    score = discernment(first, second, [0.8, 0.2])
    np.testing.assert_allclose(d[0], [score.d, score.d_ew])
    fewer = discernment(np.delete(first, 7, 0), np.delete(second, 7, 0), [0.8, 0.2])
    np.testing.assert_allclose(d[8], [fewer.d, fewer.d_ew])
    low, high = discernment_ends(d.T, most.T)
    assert (low < d[0]).all() and (d[0] < high).all() and (high < most[0]).all()


def test_an_interval_of_discernment_at_either_end() -> None:
    before = np.ones((12, 1))
    for after, low, high in ((0, 0.9, 2.78), (1, 0.0, 0.6)):
        d, most = leave_one_out(before - after)
        ends = discernment_ends(d[:, 0], most[:, 0])
        if after:
            assert d[0, 0] == ends[0] == 0 < ends[1] < high, "D = 0, not for certain"
        else:
            assert low < ends[0] < 1.1 and ends[1] == pytest.approx(most[0, 0])


LEVELS = ["word", "word", "sentence"]


Rated = tuple[Floats, Sequence[Weights]]


def rated(rng: np.random.Generator, truth: Floats, see: float, scale: float = 1.0) -> Rated:
    """Ratings [4, items, 2] by a judge of its own scale, its original above by see x truth."""
    ratings = rng.normal(size=(4, len(truth), 2))
    ratings[0] += see * truth[:, None]
    return scale * ratings, [None, [0.8, 0.2], [1.0, 0.0]]


def test_the_difference_is_that_of_the_ds_on_shared_items() -> None:
    rng = np.random.default_rng(0)
    one, other = rated(rng, np.ones(30), 1.0), rated(rng, np.ones(30), 0.2)
    one[0][1, :3, 1] = math.nan
    one[0][3, 5, 1] = math.nan  # of a metric without weight there
    [made] = paired_judges({"one": one, "other": other}, LEVELS).values()
    d = []
    for ratings, weights in (one, other):
        pairs = zip(ratings[1:, 3:], weights, strict=True)
        scores = [discernment(ratings[0, 3:], part, own).d_ew for part, own in pairs]
        d.append(float(level_balanced(scores, LEVELS)))
    assert (made.first, made.second) == pytest.approx(d)
    found = made.difference
    assert found.value == pytest.approx(d[0] - d[1]) and (found.n, found.unscored) == (27, 3)
    assert found.low < found.value < found.high
    assert (found.low > 0) == (found.p < 0.05) and made.p_holm == found.p


def test_judges_are_told_apart_whatever_their_scale_and_p_are_adjusted() -> None:
    rng = np.random.default_rng(2)
    judges = {
        name: rated(rng, np.ones(40), see, scale)
        for name, see, scale in (("blind", 0.0, 1.0), ("sharp", 1.0, 0.1), ("also", 1.0, 50.0))
    }
    made = paired_judges(judges, LEVELS)
    assert list(made) == [("blind", "sharp"), ("blind", "also"), ("sharp", "also")]
    apart, alike = made["blind", "sharp"], made["sharp", "also"]
    assert apart.difference.high < 0 and apart.difference.p < apart.p_holm < 0.01
    assert alike.difference.low < 0 < alike.difference.high and alike.p_holm > 0.05


def test_where_every_item_says_the_same_there_is_no_interval() -> None:
    falls = np.stack([np.ones((6, 1)), np.zeros((6, 1))])
    all_fall, none_falls = (falls, [None]), (0 * falls, [None])
    found = paired_judges({"a": all_fall, "b": none_falls, "c": none_falls}, ["word"])
    made = found["a", "b"].difference
    assert made.p == 2**-5 and math.isnan(made.low)
    assert found["b", "c"].difference.p == 1
    unread = np.full((2, 6, 1), math.nan), [None]
    nothing = paired_judges({"a": all_fall, "b": unread}, ["word"])["a", "b"]
    assert math.isnan(nothing.difference.value) and math.isnan(nothing.p_holm)
    assert (nothing.difference.n, nothing.difference.unscored) == (0, 6)


def test_items_are_left_out_in_groups_where_there_are_many() -> None:
    rng = np.random.default_rng(4)
    one, other = (rated(rng, np.ones(450), see) for see in (0.1, 0.2))
    [made] = paired_judges({"one": one, "other": other}, LEVELS).values()
    assert made.difference.low < made.difference.value < made.difference.high


def test_judges_that_discern_alike_differ_in_about_5_percent() -> None:
    rng, how, passed = np.random.default_rng(3), How(method="normal"), []
    for _ in range(120):
        truth = rng.exponential(size=24)
        pair = {name: rated(rng, truth, 1.0) for name in "ab"}
        passed.append(paired_judges(pair, LEVELS, how)["a", "b"].difference.p < 0.05)
    assert 0.0 < np.mean(passed) <= 0.11


def test_texts_that_there_are_not_take_no_item_away() -> None:
    """An item whose text one perturbation could not change counts in the others."""
    rng = np.random.default_rng(5)
    pair = {"a": rated(rng, rng.normal(size=30), 1.0), "b": rated(rng, rng.normal(size=30), 0.3)}
    there = np.ones((3, 30), dtype=np.bool_)
    there[1, :20] = False
    for ratings, _ in pair.values():
        ratings[2, :20] = np.nan
    [few] = paired_judges(pair, LEVELS).values()
    [all_of] = paired_judges(pair, LEVELS, there=there).values()
    assert (few.difference.n, all_of.difference.n) == (10, 30)
    d = [discernment(ratings[0], ratings[k + 1], weights[k]).d_ew
         for ratings, weights in pair.values() for k in range(3)]  # fmt: skip
    assert all_of.first == pytest.approx(float(level_balanced(d[:3], LEVELS)))
    assert all_of.second == pytest.approx(float(level_balanced(d[3:], LEVELS)))
