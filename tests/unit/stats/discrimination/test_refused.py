"""What the statistics of discrimination and of leaderboards refuse, each in its own words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from judgelab.stats.discrimination import auc, correlation, effect_size, information, standardized
from judgelab.stats.intervals.bootstrap import bootstrap_mean, item_weights, sign_flip_p
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.ranking import leaderboard

FIRST = np.array([True, False, False])
PAIR = np.where(np.eye(4, dtype=bool), np.nan, 0.5) * np.ones((2, 1, 1))
LOPSIDED, HALF = PAIR.copy(), PAIR.copy()
LOPSIDED[0, 0, 1], HALF[0, 0, 1] = 1.5, np.nan
TEXTS = np.zeros((4, 3, 3)), np.zeros((4, 3)), np.ones((4, 3))


def zeros(*shape: int) -> Any:
    return np.zeros(shape)


REFUSED: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
    (r"Agents \[0\]", effect_size.group_difference, (zeros(2, 3), FIRST, FIRST)),
    ("boolean mask", effect_size.group_difference, (zeros(2, 3), [0, 1, 1], FIRST)),
    ("boolean mask", effect_size.group_difference, (zeros(2, 3), FIRST[:2], ~FIRST)),
    ("2 dimensions", effect_size.group_difference, (zeros(3), FIRST, ~FIRST)),
    ("one shape", effect_size.score_delta, (zeros(2, 3), zeros(2, 4))),
    ("1 dimension", effect_size.auc_delta, (zeros(2, 3), zeros(2, 3))),
    ("infinite", effect_size.effect_size_delta, ([1.0, math.inf], [1.0, 2.0])),
    ("in the positive and in the negative", auc.item_auc, (zeros(2, 3), FIRST, FIRST)),
    (r"\[items, agents\]", auc.item_auc, (zeros(3), FIRST, ~FIRST)),
    ("same items", auc.row_auc, (zeros(2, 3), zeros(3, 3))),
    ("symmetric", auc.pair_auc, (LOPSIDED, [0, 1], [2, 3])),
    ("symmetric", auc.pair_auc, (HALF, [0, 1], [2, 3])),
    ("shape", auc.pair_auc, (PAIR[0], [0, 1], [2, 3])),
    ("twice", auc.pair_auc, (PAIR, [0, 1], [1, 2])),
    (r"0\.\.3", auc.pair_auc, (PAIR, [0, 4], [1])),
    ("integer indices", auc.pair_auc, (PAIR, np.arange(4) < 2, [2, 3])),
    ("as many seeds", auc.pair_auc, (PAIR, [0, 1], [2, 3], True, [1])),
    ("choose one of", correlation.clustered_correlation, ([[1.0]], [[1.0]], "tau")),
    ("one shape", correlation.item_correlations, (zeros(2, 3), zeros(3, 2))),
    ("without tokens", correlation.joint_symmetry, (TEXTS[0], TEXTS[1], 0 * TEXTS[2])),
    ("Needs", correlation.joint_symmetry, (TEXTS[0][:, :2, :2], TEXTS[1], TEXTS[2])),
    ("its item", standardized.standardized_mean_difference, ([1.0, 2.0], [1.0, 2.0], [0])),
    ("one shape", standardized.standardized_mean_difference, ([1.0, 2.0], [1.0], [0, 1])),
    ("Unknown def", standardized.standardized_mean_difference, ([1.0], [1.0], [0], "printed")),
    ("expects", standardized.verdict, ("rise", Estimate(0.0))),
    ("k >= 1 and n >= 2", information.ceiling, ("tvd", 0, 5)),
    ("spearman or pearson", leaderboard.agreement, ([1.0], [1.0], "kendall")),
    ("level", leaderboard.rank_intervals, ([[1.0, 2.0]], 90)),
    ("needs items", item_weights, (0, 5, 0)),
    ("needs items", bootstrap_mean, ([1.0, 2.0, 3.0], 0)),
    ("permutations", sign_flip_p, ([1.0, 2.0], 0)),
    *(
        ("dimensions|infinite", of, (values,))
        for of in (bootstrap_mean, sign_flip_p)
        for values in ([[1.0]], [math.inf, 1.0], 3.0)
    ),
]


@pytest.mark.parametrize(("words", "call", "arguments"), REFUSED)
def test_what_cannot_be_is_refused(
    words: str, call: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    with pytest.raises(ValueError, match=words):
        call(*arguments)
