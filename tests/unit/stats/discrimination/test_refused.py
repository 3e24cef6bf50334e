"""What the statistics of discrimination refuse, each in its own words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from judgelab.stats.discrimination import correlation, effect_size, information
from judgelab.stats.intervals.means import bootstrap_mean, sign_flip_p

FIRST = np.array([True, False, False])


def zeros(*shape: int) -> Any:
    return np.zeros(shape)


REFUSED: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
    ("2 dimensions", effect_size.group_difference, (zeros(3), FIRST, ~FIRST)),
    ("one shape", effect_size.score_delta, (zeros(2, 3), zeros(2, 4))),
    ("1 dimension", effect_size.auc_delta, (zeros(2, 3), zeros(2, 3))),
    ("infinite", effect_size.paired_effect_size, ([1.0, math.inf],)),
    ("one shape", correlation.item_correlations, (zeros(2, 3), zeros(3, 2))),
    ("one shape", effect_size.standardized_mean_difference, ([1.0, 2.0], [1.0], [0, 1])),
    ("k >= 1 and n >= 2", information.ceiling, ("tvd", 0, 5)),
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
