"""Row, item and pair AUC against scikit-learn and by their symmetries; the macro mean."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped, unused-ignore]

from judgelab.stats.discrimination.auc import macro_auc, pair_auc, row_auc, same_order

Array = NDArray[np.float64]
STEPS = st.one_of(st.integers(-3, 3).map(float), st.floats(-5, 5))
CELLS = st.one_of(STEPS, st.sampled_from([math.nan, math.inf, -math.inf]))


@st.composite
def two_classes(draw: st.DrawFn) -> tuple[Array, Array]:
    items = draw(st.integers(1, 5))
    widths = draw(st.tuples(st.integers(0, 6), st.integers(0, 6)))
    first, second = (draw(arrays(np.float64, (items, width), elements=CELLS)) for width in widths)
    return first, second


@given(two_classes())
def test_row_auc_is_wins_and_half_ties_even_at_infinity(classes: tuple[Array, Array]) -> None:
    for auc, good, bad in zip(row_auc(*classes), *classes, strict=True):
        pairs = [
            1.0 if p > n else 0.5 if p == n else 0.0
            for p, n in itertools.product(good, bad)
            if not (math.isnan(p) or math.isnan(n))
        ]
        assert auc == pytest.approx(np.mean(pairs) if pairs else math.nan, nan_ok=True)


def symmetric_pairs(items: int, agents: int, seed: int = 0) -> Array:
    raw = np.random.default_rng(seed).integers(0, 6, (items, agents, agents)) / 5
    pair = (raw + np.swapaxes(raw, 1, 2)) / 2
    index = np.arange(agents)
    pair[:, index, index] = np.nan
    return pair


def listed_pairs(pair: Array, good: list[int], bad: list[int]) -> tuple[list[float], list[float]]:
    positives = [float(pair[i, j]) for i, j in itertools.combinations(good, 2)]
    negatives = [float(pair[i, j]) for i in good for j in bad]
    return positives, negatives


@pytest.mark.parametrize(
    ("good", "bad"), [([4, 0, 2], [1, 3, 5]), ([0, 1, 2, 3, 4, 6], [5]), ([2, 0, 5], [1])]
)
@pytest.mark.parametrize("balanced", [False, True])
def test_pair_auc_equals_listing_pairs(good: list[int], bad: list[int], balanced: bool) -> None:
    pair = symmetric_pairs(6, 7)
    seeds = [11, 3, 5, 0, 2, 190]
    found = pair_auc(pair, np.array(good), np.array(bad), seeds if balanced else None)
    for auc, matrix, seed in zip(found, pair, seeds, strict=True):
        positives, negatives = listed_pairs(matrix, good, bad)
        if balanced:
            size = min(len(positives), len(negatives))
            state = np.random.RandomState(seed)
            if len(positives) > size:
                positives = [positives[i] for i in state.choice(len(positives), size, False)]
            if len(negatives) > size:
                negatives = [negatives[i] for i in state.choice(len(negatives), size, False)]
        labels = [1] * len(positives) + [0] * len(negatives)
        assert auc == pytest.approx(roc_auc_score(labels, positives + negatives), abs=1e-12)


def test_pair_auc_leaves_out_unscored_pairs_and_agents() -> None:
    pair = symmetric_pairs(3, 6)
    pair[0, 1, :] = pair[0, :, 1] = np.nan
    pair[1] = np.nan
    found = pair_auc(pair, [0, 1, 2], [3, 4, 5])
    assert found[0] == pair_auc(pair[:1], [0, 2], [3, 4, 5])[0]
    assert math.isnan(found[1])
    assert math.isnan(pair_auc(pair, [0], [3, 4])[2]), "one agent makes no positive pair"


def test_macro_auc_tests_against_one_half() -> None:
    generator = np.random.default_rng(1)
    chance = row_auc(generator.normal(size=(150, 14)), generator.normal(size=(150, 15)))
    found = macro_auc(chance)
    assert found.low < 0.5 < found.high and found.p > 0.05
    better = row_auc(generator.normal(0.4, 1, (150, 14)), generator.normal(size=(150, 15)))
    found = macro_auc(np.append(better, np.nan))
    assert (found.n, found.unscored) == (150, 1)
    assert 0.5 < found.low < found.value < found.high and found.p < 1e-6
    worse = macro_auc(1 - better)
    assert worse.high < 0.5 and worse.p == pytest.approx(found.p)
    assert worse.value == pytest.approx(1 - found.value)


NAN = np.nan


def test_rounding_is_no_preference() -> None:
    """Raters who give .7 and .1, and twice .4: means that differ in the last digit."""
    means = np.array([[(0.7 + 0.1) / 2, (0.4 + 0.4) / 2, 0.2]])
    assert means[0, 0] != means[0, 1] or np.nextafter(0.4, 1) > 0.4
    means[0, 0] = np.nextafter(means[0, 1], 1)
    assert same_order([[1.0, 2.0, 0.0]], means).tolist() == [1.0]  # of two pairs, not of three
    assert np.isnan(same_order([[1.0, 2.0]], means[:, :2])).all()
    scores = np.array([[0.1 + 0.2, 0.3]])
    assert same_order(scores, [[1.0, 2.0]]).tolist() == [0.5]


def test_pairs_that_people_tell_apart_count_and_ties_earn_half() -> None:
    found = same_order(
        [[3.0, 2.0, 1.0], [1.0, 1.0, NAN], [1.0, 2.0, 3.0]],
        [[3.0, 3.0, 1.0], [1.0, 2.0, 3.0], [2.0, 2.0, 2.0]],
    )
    np.testing.assert_array_equal(found, [1.0, 0.5, NAN])
