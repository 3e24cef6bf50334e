"""Statistics of the GEM experiments: closed forms, coverage, null rejection, what is undefined."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from judgelab.stats.discrimination.correlation import joint_symmetry
from judgelab.stats.discrimination.effect_size import (
    SmdDefinition,
    standardized_mean_difference,
    verdict,
)
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.ranking.leaderboard import agreement, rank_intervals

Array = NDArray[np.float64]
DEFINITIONS: tuple[SmdDefinition, ...] = ("corrected", "paper", "released")
SIDES = st.integers(2, 12).flatmap(
    lambda n: st.tuples(*[arrays(np.float64, n, elements=st.integers(-20, 20)) for _ in "ab"])
)


def clustered_rows(
    rng: np.random.Generator, items: int, shift: float
) -> tuple[Array, Array, NDArray[np.int64]]:
    """Two rows per item that share most of their noise, before and after."""
    before = rng.normal(size=(items, 1)) + 0.5 * rng.normal(size=(items, 2))
    after = before + shift + 0.5 * rng.normal(size=(items, 1)) + 0.1 * rng.normal(size=(items, 2))
    return before.ravel(), after.ravel(), np.repeat(np.arange(items), 2)


class TestStandardizedMeanDifference:
    @given(SIDES)
    def test_closed_forms(self, sides: tuple[Array, Array]) -> None:
        before, after = sides
        sigma = math.sqrt((np.var(before, ddof=1) + np.var(after, ddof=1)) / 2)
        assume(sigma > 0)
        d = (after.mean() - before.mean()) / sigma
        error = np.std(after - before, ddof=1) / (math.sqrt(len(before)) * sigma)
        for definition, z in zip(DEFINITIONS, (None, 1.96, 1.645), strict=True):
            found = standardized_mean_difference(before, after, range(len(before)), definition, 10)
            assert found.value == pytest.approx(d, abs=1e-9)
            if z is None:
                continue
            assert found.half_width == pytest.approx(z * error, abs=1e-9)
            assert (found.low + found.high) / 2 == pytest.approx(d, abs=1e-9)

    def test_the_interval_over_items_is_the_jackknifes(self) -> None:
        """Leaving out an item at a time gives the same error, to first order."""
        before, after, item = clustered_rows(np.random.default_rng(0), 150, -0.6)
        found = standardized_mean_difference(before, after, item)
        rows = np.stack([before, after, item], axis=1)
        left_out = [rows[item != k].T for k in range(150)]
        values = np.array([standardized_mean_difference(*one, "paper").value for one in left_out])
        error = math.sqrt(149 / 150 * ((values - values.mean()) ** 2).sum())
        assert found.half_width == pytest.approx(stats.t.ppf(0.975, 149) * error, rel=0.03)
        assert (found.n, found.clusters, found.unscored) == (300, 150, 0)
        assert found.as_dict()["clusters"] == 150

    def test_p_flips_whole_items(self) -> None:
        """With three items there are eight flips, so no p below 1/4, however many rows."""
        rng = np.random.default_rng(1)
        before = rng.normal(size=90)
        after = before + 5 + rng.normal(size=90)
        found = standardized_mean_difference(before, after, np.repeat(["a", "b", "c"], 30))
        assert 0.2 < found.p < 0.3
        assert standardized_mean_difference(before, after, np.arange(90)).p < 0.001

    def test_coverage_and_null_rejection(self) -> None:
        rng = np.random.default_rng(2)
        runs, held, rejected = 300, dict.fromkeys(DEFINITIONS, 0), 0
        for seed in range(runs):
            rows = clustered_rows(rng, 15, 0.0)
            for definition in DEFINITIONS:
                found = standardized_mean_difference(*rows, definition, draws=200, seed=seed)
                held[definition] += found.low <= 0 <= found.high
                rejected += definition == "corrected" and found.p < 0.05
        assert 0.92 <= held["corrected"] / runs <= 0.985
        assert 0.015 <= rejected / runs <= 0.09
        assert held["released"] < held["paper"] < 0.88 * runs

    @pytest.mark.parametrize("definition", DEFINITIONS)
    def test_invariances(self, definition: SmdDefinition) -> None:
        before, after, item = clustered_rows(np.random.default_rng(4), 30, -0.4)

        def numbers(x: Array, y: Array, cluster: NDArray[Any]) -> tuple[float, ...]:
            found = standardized_mean_difference(x, y, cluster, definition)
            return found.value, found.low, found.high, found.p

        base = numbers(before, after, item)
        assert numbers(1e-9 * before, 1e-9 * after, item) == pytest.approx(base)
        assert numbers(before + 1e6, after + 1e6, item) == pytest.approx(base, rel=1e-6)
        order = np.random.default_rng(5).permutation(60)
        shuffled = before[order], after[order], item[order]
        assert numbers(*shuffled)[:3] == pytest.approx(base[:3])
        value, low, high, p = numbers(-before, -after, item)
        assert (value, low, high) == pytest.approx((-base[0], -base[2], -base[1]))
        assert p == pytest.approx(base[3])
        names = np.array([f"paper {k:03}" for k in item])
        assert numbers(before, after, names) == pytest.approx(base)

    def test_unscored_rows_are_left_out_and_counted(self) -> None:
        before, after, item = clustered_rows(np.random.default_rng(6), 20, -0.4)
        gaps_before, gaps_after = before.copy(), after.copy()
        gaps_before[[0, 1, 7]] = np.nan
        gaps_after[[7, 9]] = np.nan
        kept = np.setdiff1d(np.arange(40), [0, 1, 7, 9])
        found = standardized_mean_difference(gaps_before, gaps_after, item)
        plain = standardized_mean_difference(before[kept], after[kept], item[kept])
        assert (found.n, found.unscored, found.clusters) == (36, 4, 19)
        assert (found.value, found.low, found.p) == (plain.value, plain.low, plain.p)

    def test_what_is_undefined_is_nan(self) -> None:
        flat = standardized_mean_difference([0.1] * 6, [0.3] * 6, [0, 0, 1, 1, 2, 2])
        assert math.isnan(flat.value) and math.isnan(flat.low) and math.isnan(flat.p)
        one = standardized_mean_difference([1.0, 2.0], [2.0, 4.0], [0, 0])
        assert one.value == pytest.approx(1.5 / math.sqrt((0.5 + 2) / 2))
        assert math.isnan(one.low) and math.isnan(one.p) and one.clusters == 1
        nothing = standardized_mean_difference([np.nan] * 3, [1.0] * 3, [0, 1, 2])
        assert math.isnan(nothing.value) and (nothing.n, nothing.unscored) == (0, 3)
        assert standardized_mean_difference([], [], []).n == 0
        same = standardized_mean_difference([1.0, 2.0, 4.0], [1.0, 2.0, 4.0], [0, 1, 2])
        assert (same.value, same.p) == (0, 1) and math.isnan(same.low), "no spread"
        assert verdict("no_rise", same) == "undecided", "three items"
        scores = np.arange(8.0)
        still = standardized_mean_difference(scores, scores, np.arange(8))
        assert math.isnan(still.low) and verdict("no_rise", still) == "does not rise"

    @pytest.mark.parametrize(
        ("low", "high", "fall", "no_rise"),
        [
            (-0.3, -0.1, "falls", "does not rise"),
            (-0.3, 0.0, "undecided", "does not rise"),
            (-0.2, 0.2, "undecided", "undecided"),
            (-0.09, 0.09, "does not fall", "does not rise"),
            (0.01, 0.09, "does not fall", "does not rise"),
            (0.01, 0.3, "does not fall", "rises"),
            (math.nan, math.nan, "undecided", "undecided"),
        ],
    )
    def test_verdicts(self, low: float, high: float, fall: str, no_rise: str) -> None:
        estimate = Estimate((low + high) / 2, low, high, 10)
        assert verdict("fall", estimate) == fall
        assert verdict("no_rise", estimate) == no_rise
        printed = verdict("fall", estimate, None), verdict("no_rise", estimate, None)
        assert ("undecided" in printed) == math.isnan(low), "the paper knows no third answer"

    @pytest.mark.parametrize("clusters", [4, 5, 6])
    def test_a_verdict_needs_as_many_items_as_a_test_of_signs(self, clusters: int) -> None:
        rng = np.random.default_rng(11)
        before = rng.normal(size=clusters)
        after = before - 5 - rng.uniform(0, 0.1, clusters)
        fall = standardized_mean_difference(before, after, range(clusters), draws=20_000)
        rise = standardized_mean_difference(after, before, range(clusters), draws=20_000)
        assert fall.high < 0 < rise.low
        assert (fall.p < 0.05) == (clusters >= 6)
        enough = clusters >= 6
        assert verdict("fall", fall) == ("falls" if enough else "undecided")
        assert verdict("no_rise", rise) == ("rises" if enough else "undecided")


class TestAgreement:
    @pytest.mark.parametrize("method", ["spearman", "pearson"])
    def test_leaderboards_have_the_classical_p(self, method: Any) -> None:
        oracle: Any = {"spearman": stats.spearmanr, "pearson": stats.pearsonr}[method]
        x, y = np.random.default_rng(3).normal(size=(2, 14))
        gaps = np.append(x, np.nan)
        found = agreement(gaps, np.append(y, 1.0), method, draws=300)
        value, p = oracle(x, y)
        assert (found.value, found.p) == pytest.approx((value, p))
        assert (found.n, found.unscored) == (14, 1)
        assert found.low < found.value < found.high
        assert agreement(x, x, method).p == 0
        assert math.isnan(agreement(x, np.ones(14), method).p)
        assert math.isnan(agreement(x[:2], y[:2], method).low)


class TestRankIntervals:
    def test_means_have_students_interval_but_for_skewness(self) -> None:
        scores = np.random.default_rng(0).normal([0.0, 3.0, 1.0], size=(40, 3))
        scores[:4, 1] = np.nan
        found = rank_intervals(scores, draws=200)
        for column in range(3):
            known = scores[~np.isnan(scores[:, column]), column]
            low, high = stats.t.interval(0.9, len(known) - 1, known.mean(), stats.sem(known))
            assert found.value[column] == pytest.approx(known.mean())
            ends = found.low[column], found.high[column]
            assert ends == pytest.approx((low, high), abs=0.03)
        assert found.n.tolist() == [40, 36, 40] and found.unscored.tolist() == [0, 4, 0]
        assert found.rank.tolist() == [3, 1, 2]
        assert found.rank_low.tolist() == found.rank_high.tolist() == [3, 1, 2]


class TestSymmetry:
    @staticmethod
    def texts(items: int, noise: float) -> tuple[Array, Array, Array]:
        """An LM of which only the length of a pair agrees in both directions."""
        rng = np.random.default_rng(0)
        tokens = rng.integers(50, 800, size=(items, 3)).astype(np.float64)
        rates = -3 + noise * rng.normal(size=(items, 3, 3))
        return rates * tokens[:, None, :], -3 * tokens, tokens

    def test_length_alone_correlates_per_text_and_not_per_token(self) -> None:
        found = joint_symmetry(*self.texts(80, 0.1))
        for method in ("spearman", "pearson"):
            assert found["text", method].value > 0.95
            alone = found["token", method]
            assert abs(alone.value) < 0.2 and alone.low < 0 < alone.high and alone.p > 0.05
            assert (alone.n, alone.unscored) == (80, 0)

    def test_direction_of_the_conditional(self) -> None:
        """conditional[item, x, y] is log P(y|x): were it log P(x|y), this would not be 1."""
        rng = np.random.default_rng(2)
        marginal = rng.normal(-300, 60, size=(20, 2))
        joint = rng.normal(-600, 5, size=20)
        conditional = np.full((20, 2, 2), np.nan)
        conditional[:, 0, 1] = joint - marginal[:, 0]
        conditional[:, 1, 0] = joint - marginal[:, 1]
        tokens = np.full((20, 2), 100.0)
        assert joint_symmetry(conditional, marginal, tokens)["token", "pearson"].value > 0.999
        turned = conditional.transpose(0, 2, 1)
        assert joint_symmetry(turned, marginal, tokens)["token", "pearson"].value < 0
        single = joint_symmetry(conditional[:1], marginal[:1], tokens[:1])["token", "pearson"]
        assert np.isnan(single.value) and single.n == 1, "two orders of one pair are no two pairs"

    @pytest.mark.parametrize("turn", [[1, 0, 2], [2, 1, 0], [1, 2, 0]])
    def test_no_order_of_agents_matters(self, turn: list[int]) -> None:
        conditional, marginal, tokens = self.texts(12, 0.5)
        conditional[3, 0, 1] = np.nan
        found = joint_symmetry(conditional, marginal, tokens)
        turned = conditional[:, turn][:, :, turn], marginal[:, turn], tokens[:, turn]
        for key, one in joint_symmetry(*turned).items():
            same = found[key].value, found[key].low, 12, 1
            assert (one.value, one.low, one.n, one.unscored) == pytest.approx(same), key


@pytest.mark.parametrize("candidates", [5, 20])
def test_all_ranks_of_tied_candidates_hold_together(candidates: int) -> None:
    """Nominal .90; with a critical value of each candidate's own .65 to .84, .45 to .64 of 20."""
    rng, held, runs = np.random.default_rng(1), 0, 100
    for seed in range(runs):
        scores = (rng.random((30, candidates)) < 0.6).astype(float)
        found = rank_intervals(scores, draws=200, seed=seed, bounds=(0, 1))
        held += bool((found.rank_low == 1).all() and (found.rank_high == candidates).all())
    assert held / runs >= 0.9 - 2 * np.sqrt(0.09 / runs)


def test_a_gap_that_is_always_the_same_is_certain_from_enough_items_only() -> None:
    """From three on it was; others may be seen, as far off as the scale reaches."""
    for items, bounds, certain in ((3, (1, 5), False), (30, (1, 5), True), (30, (1, 100), False)):
        found = rank_intervals(np.tile([4.0, 5.0], (items, 1)), draws=50, bounds=bounds)
        assert (found.rank_high[1] == 1) == certain, (items, bounds)


def test_steps_and_places_of_candidates() -> None:
    """One far off leaves the others to be compared among themselves; order of columns is none."""
    rng = np.random.default_rng(2)
    scores = rng.normal([0.0, 0.0, 5.0, 1.5], size=(40, 4))
    found = rank_intervals(scores, draws=500)
    assert found.rank_low.tolist() == [3, 3, 1, 2]
    assert found.rank_high.tolist() == [4, 4, 1, 2]
    turn = [3, 1, 0, 2]
    turned = rank_intervals(scores[:, turn], draws=500)
    assert turned.rank_low.tolist() == found.rank_low[turn].tolist()
    assert turned.rank_high.tolist() == found.rank_high[turn].tolist()
