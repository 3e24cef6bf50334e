"""Votes, and families left out; by hand."""

from __future__ import annotations

import numpy as np

from judgelab.stats.trust.dawid_skene import reports
from judgelab.stats.trust.peers import (
    families,
    majority,
    one_of_each,
    sides_with,
    vote,
    without_each,
)

NAN = np.nan


def test_families_without_a_name_are_judges_alone() -> None:
    family = families(["a", "", "", "a"], ["w", "x", "y", "z"])
    names, others = without_each(family)
    assert names == ["a", "(x)", "(y)"]
    assert others.tolist() == [[False, True, True, False], [True, False, True, True],
                               [True, True, False, True]]  # fmt: skip
    drawn = one_of_each(family, 50, np.random.default_rng(0))
    assert (drawn.sum(axis=1) == 3).all() and set(drawn[:, 0]) == {True, False}


def test_votes_and_ties() -> None:
    verdicts = np.array(
        [
            [[1, 1], [1, 0], [NAN, NAN], [1, 1]],
            [[1, 1], [1, 1], [0, 0], [1, 0]],
            [[0, 0], [1, NAN], [0, 1], [0, 1]],
        ],
        dtype=float,
    )
    counts = reports(verdicts)
    everybody = ~np.eye(3, dtype=np.bool_)
    shares = vote(counts, np.ones((1, 3), np.bool_))[0]
    assert shares[:, 1].tolist() == [4 / 6, 4 / 5, 1 / 4, 4 / 6]
    assert majority(shares).tolist() == [1, 1, 0, 1]
    found = sides_with(counts, everybody)
    # judge 0: the others of unit 0 are tied (nobody to agree with), on unit 1 its own orders are
    np.testing.assert_equal(found[0], [0, 0.5, NAN, 0])
    np.testing.assert_equal(found[1], [0, 1, 0, 0.5])  # unit 2: the other one is tied
    np.testing.assert_equal(found[2], [0, 1, 0.5, 0.5])


def test_categories_are_counted() -> None:
    verdicts = np.array([[[0], [2]], [[2], [2]], [[2], [1]]], dtype=float)
    shares = vote(reports(verdicts, 3), np.ones((1, 3), np.bool_))[0]
    np.testing.assert_allclose(shares, [[1 / 3, 0, 2 / 3], [0, 1 / 3, 2 / 3]])
    assert majority(shares).tolist() == [2, 2]
