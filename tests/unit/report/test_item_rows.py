"""Which rows of a page of items stand first: differences counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judgelab.report.item_rows import ItemRows

NAN = float("nan")


def rows(
    kind: Any,
    items: str,
    values: list[Any],
    labels: list[list[float]],
    group: tuple[str, ...] = (),
    levels: tuple[str, ...] = (),
) -> ItemRows:
    """One row for each letter of ``items``; every verdict was asked for, [rows, judges(, orders)].
    A number for a row is that of one judge."""
    n = len(items)
    said = np.array(values, float).reshape(n, *np.shape(values)[1:2] or (1,), -1)
    return ItemRows(
        kind,
        [f"j{k}" for k in range(said.shape[1])],
        [f"r{k}" for k in range(len(labels[0]))],
        np.array(list(items), object),
        np.array([f"a{k}" for k in range(n)], object),
        np.array([""] * n, object),
        said,
        np.ones(said.shape, bool),
        np.array(labels, float),
        np.array(group or [""] * n, object),
        np.full(n, np.nan),
        levels,
    )


@pytest.mark.parametrize(
    ("items", "values", "people", "unit", "difference"),
    [
        ("ab", [5.0, 2.0], [[1.0, 2.0], [5.0, NAN]], "points", [3.5, 3.0]),
        # of y one text has a grade, so it has no place
        ("xxxyy", [9, 8, 7, 6, NAN], [[1], [2], [3], [2], [2]], "places", [1, 0, 1, NAN, NAN]),
        # nats within the range of grades are no grades
        ("xxx", [1.31, 2.7, 4.2], [[1], [3], [5]], "places", [0, 0, 0]),
        # items of one text are compared among all
        ("abc", [30, 20, 10], [[1], [2], [3]], "places", [1, 0, 1]),
    ],
)
def test_grades_differ_in_points_or_in_places(
    items: str, values: list[Any], people: list[list[float]], unit: str, difference: list[float]
) -> None:
    made = rows("grade", items, values, people)
    assert made.unit == unit
    assert np.array_equal(made.difference[:, 0], difference, equal_nan=True)
    assert next(iter(made.sorts)) == "difference"


def test_preferences_differ_by_both_orders_and_all_raters() -> None:
    """A judge that takes the first text both times is half wrong; one lost order is no verdict."""
    values = [[[1.0, 0.0], [1.0, 1.0]], [[1.0, NAN], [0.0, 0.0]]]
    made = rows("preference", "ab", values, [[1.0, 1.0], [1.0, 0.0]])
    assert np.array_equal(made.difference, [[0.5, 0.0], [NAN, 0.5]], equal_nan=True)
    assert made.unscored.tolist() == [False, True]


def test_categories_differ_by_the_share_of_raters() -> None:
    labels = [[0.0, 1.0], [0.0, NAN], [0.0, 0.0]]
    made = rows("category", "abc", [0.0, 1.0, NAN], labels, levels=("no", "yes"))
    assert np.array_equal(made.difference[:, 0], [0.5, 1, NAN], equal_nan=True)
