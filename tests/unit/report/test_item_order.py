"""Which rows of a page of items stand first: differences counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judgelab.report.item_order import ItemOrder
from judgelab.report.judged_texts import JudgedTexts
from judgelab.stats.discrimination.auc import item_auc

NAN = float("nan")


def rows(
    kind: Any,
    items: str,
    values: list[list[list[float]]],
    labels: list[list[float]],
    group: tuple[str, ...] = (),
    levels: tuple[str, ...] = (),
) -> JudgedTexts:
    """One row for each letter of ``items``; every verdict was asked for."""
    n, said = len(items), np.array(values, float)
    names = np.array([f"a{k}" for k in range(n)], object)
    empty = np.array([""] * n, object)
    return JudgedTexts(
        kind,
        [f"j{k}" for k in range(said.shape[1])],
        [f"r{k}" for k in range(len(labels[0]))],
        np.array(list(items), object),
        names,
        empty,
        np.array(group or empty, object),
        said,
        np.ones(said.shape, bool),
        np.array(labels, float),
        np.full(n, np.nan),
        levels,
    )


def test_grades_on_the_scale_of_people_differ_in_points() -> None:
    order = ItemOrder(rows("grade", "ab", [[[5.0]], [[2.0]]], [[1.0, 2.0], [5.0, NAN]]))
    assert order.unit == "points"
    assert order.difference[:, 0].tolist() == [3.5, 3.0]


def test_scores_on_another_scale_differ_in_places_within_the_item() -> None:
    """Item x: scores 9 > 8 > 7, people 1 < 2 < 3; item y has one text with a grade."""
    values = [[[9.0]], [[8.0]], [[7.0]], [[6.0]], [[NAN]]]
    order = ItemOrder(rows("grade", "xxxyy", values, [[1.0], [2.0], [3.0], [2.0], [2.0]]))
    assert order.unit == "places"
    assert np.array_equal(order.difference[:, 0], [1, 0, 1, NAN, NAN], equal_nan=True)
    judge, people, among = (part[0, 0] for part in order.places)
    assert (judge, people, among) == (1, 3, 3)
    assert next(iter(order.sorts)) == "difference"


def test_nats_that_lie_within_the_range_of_grades_are_no_grades() -> None:
    order = ItemOrder(rows("grade", "xxx", [[[1.31]], [[2.7]], [[4.2]]], [[1.0], [3.0], [5.0]]))
    assert order.unit == "places"
    assert order.difference[:, 0].tolist() == [0, 0, 0]


def test_items_with_one_text_are_compared_among_all_texts() -> None:
    order = ItemOrder(rows("grade", "abc", [[[30.0]], [[20.0]], [[10.0]]], [[1.0], [2.0], [3.0]]))
    assert order.unit == "places of all"
    assert order.difference[:, 0].tolist() == [1, 0, 1]


def test_preferences_differ_by_both_orders_and_all_raters() -> None:
    """A judge that takes the first text both times is half wrong; one lost order is no verdict."""
    values = [[[1.0, 0.0], [1.0, 1.0]], [[1.0, NAN], [0.0, 0.0]]]
    order = ItemOrder(rows("preference", "ab", values, [[1.0, 1.0], [1.0, 0.0]]))
    assert np.array_equal(order.difference, [[0.5, 0.0], [NAN, 0.5]], equal_nan=True)
    assert np.array_equal(order.spread, [0.5, NAN], equal_nan=True)
    assert order.rows.unscored.tolist() == [False, True]


def test_categories_differ_by_the_share_of_raters() -> None:
    values = [[[0.0]], [[1.0]], [[NAN]]]
    labels = [[0.0, 1.0], [0.0, NAN], [0.0, 0.0]]
    order = ItemOrder(rows("category", "abc", values, labels, levels=("no", "yes")))
    assert np.array_equal(order.difference[:, 0], [0.5, 1, NAN], equal_nan=True)


def test_the_wrong_side_adds_up_to_what_an_items_auc_lacks() -> None:
    rng = np.random.default_rng(0)
    score = rng.integers(0, 6, (5, 4)).astype(float)
    score[0, 1] = NAN
    group = ("Faithful", "Style", "Strategic", "Low Effort") * 5
    letters = "".join(letter * 4 for letter in "abcde")
    order = ItemOrder(rows("grade", letters, score.reshape(-1, 1, 1).tolist(), [[]] * 20, group))
    off = order.misplaced.reshape(5, 4)
    good, bad = np.array([True, True, False, False]), np.array([False, False, True, True])
    assert np.nanmean(off[:, :2], axis=1) == pytest.approx(1 - item_auc(score, good, bad))
    assert off[:, 2:].mean(axis=1) == pytest.approx(1 - item_auc(score, good, bad))
    assert list(order.sorts) == ["misplaced", "score"]


def test_without_people_judges_are_held_against_each_other() -> None:
    values = [[[1.0], [30.0]], [[2.0], [20.0]], [[3.0], [10.0]]]
    order = ItemOrder(rows("grade", "xxx", values, [[], [], []]))
    assert order.spread.tolist() == [1, 0, 1]
    assert next(iter(order.sorts)) == "spread"
