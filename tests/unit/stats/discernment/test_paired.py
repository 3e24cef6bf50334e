"""Two judges on the same items: the difference of their D, its error and its p."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from judgelab.stats.discernment.paired import JudgeRatings, _difference, paired_judges
from judgelab.stats.discernment.score import How, discernment, level_balanced
from judgelab.stats.intervals.arrays import Floats

LEVELS = ["word", "word", "sentence"]


def rated(rng: np.random.Generator, truth: Floats, see: float, scale: float = 1.0) -> JudgeRatings:
    """Ratings [4, items, 2] by a judge of its own scale, its original above by see x truth."""
    ratings = rng.normal(size=(4, len(truth), 2))
    ratings[0] += see * truth[:, None]
    return JudgeRatings(scale * ratings, [None, [0.8, 0.2], [1.0, 0.0]])


def test_the_difference_is_that_of_the_ds_on_shared_items() -> None:
    rng = np.random.default_rng(0)
    one, other = rated(rng, np.ones(30), 1.0), rated(rng, np.ones(30), 0.2)
    one.ratings[1, :3, 1] = math.nan
    one.ratings[3, 5, 1] = math.nan  # of a metric without weight there
    [made] = paired_judges({"one": one, "other": other}, LEVELS).values()
    d = []
    for judge in (one, other):
        pairs = zip(judge.ratings[1:, 3:], judge.weights, strict=True)
        scores = [discernment(judge.ratings[0, 3:], part, own).d_ew for part, own in pairs]
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
    all_fall, none_falls = JudgeRatings(falls, [None]), JudgeRatings(0 * falls, [None])
    found = paired_judges({"a": all_fall, "b": none_falls, "c": none_falls}, ["word"])
    made = found["a", "b"].difference
    assert made.p == 2**-5 and math.isnan(made.low)
    assert found["b", "c"].difference.p == 1
    unread = JudgeRatings(np.full((2, 6, 1), math.nan), [None])
    nothing = paired_judges({"a": all_fall, "b": unread}, ["word"])["a", "b"]
    assert math.isnan(nothing.difference.value) and math.isnan(nothing.p_holm)
    assert (nothing.difference.n, nothing.difference.unscored) == (0, 6)


def test_items_are_left_out_in_groups_where_there_are_many() -> None:
    rng = np.random.default_rng(4)
    one, other = (rated(rng, np.ones(450), see) for see in (0.1, 0.2))
    assert one.leaving_out(one.rated, LEVELS).shape == (201,)
    [made] = paired_judges({"one": one, "other": other}, LEVELS).values()
    assert made.difference.low < made.difference.value < made.difference.high


def test_judges_that_discern_alike_differ_in_about_5_percent() -> None:
    rng, how, passed = np.random.default_rng(3), How(method="normal"), []
    for _ in range(120):
        truth = rng.exponential(size=24)
        pair = {name: rated(rng, truth, 1.0) for name in "ab"}
        judges = {name: JudgeRatings(j.ratings, j.weights, how) for name, j in pair.items()}
        passed.append(paired_judges(judges, LEVELS)["a", "b"].difference.p < 0.05)
    assert 0.0 < np.mean(passed) <= 0.11


def test_texts_that_there_are_not_take_no_item_away() -> None:
    """An item whose text one perturbation could not change counts in the others."""
    rng = np.random.default_rng(5)
    pair = {"a": rated(rng, rng.normal(size=30), 1.0), "b": rated(rng, rng.normal(size=30), 0.3)}
    there = np.ones((3, 30), dtype=np.bool_)
    there[1, :20] = False
    holes = {}
    for name, one in pair.items():
        ratings = one.ratings.copy()
        ratings[2, :20] = np.nan
        holes[name] = replace(one, ratings=ratings)
    [few] = paired_judges(holes, LEVELS).values()
    known = {name: replace(one, there=there) for name, one in holes.items()}
    [all_of] = paired_judges(known, LEVELS).values()
    assert (few.difference.n, all_of.difference.n) == (10, 30)
    d = [discernment(o.ratings[0], o.ratings[k + 1], o.weights[k]).d_ew
         for o in holes.values() for k in range(3)]  # fmt: skip
    assert all_of.first == pytest.approx(float(level_balanced(d[:3], LEVELS)))
    assert all_of.second == pytest.approx(float(level_balanced(d[3:], LEVELS)))


def test_a_difference_that_is_not_known_is_not_sure() -> None:
    shared = np.ones(12, dtype=np.bool_)
    unknown = _difference(np.array([0.4, 0.3, np.nan, 0.5]), shared)
    assert np.isnan(unknown.low) and np.isnan(unknown.p)
    assert _difference(np.array([0.4, 0.3, 0.4, 0.5]), shared).p < 1
