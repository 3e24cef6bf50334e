"""Which relevant and irrelevant answers meet, so that length does not tell which is which."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judgelab.exam.protocol import Floats


def length(text: str) -> float:
    """ln of the number of words; of nothing as of one word."""
    return float(np.log(max(len(text.split()), 1)))


def couples(gaps: Floats, most: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """Couples of candidates [couples, 2], longer and shorter by as much as can be.

    Whoever prefers the longer answer, or the shorter one, is right about one of each couple. The
    assignment has the least sum of what the two gaps of a couple lack of cancelling out; of its
    better half (and no fewer than ``most``) so many are drawn.

    Args:
        gaps: [candidates] ln length of the relevant answer minus that of the irrelevant one.
        most: couples to be drawn; None: all there are.
        rng: of the draw.
    """
    from scipy.optimize import linear_sum_assignment

    longer, shorter = np.flatnonzero(gaps > 0), np.flatnonzero(gaps < 0)
    left = np.abs(gaps[longer][:, None] + gaps[shorter][None, :])
    rows, columns = linear_sum_assignment(left)
    found = np.stack([longer[rows], shorter[columns]], axis=1)
    if most is None:
        return found
    best = np.argsort(left[rows, columns], kind="stable")[: max(most, len(found) // 2)]
    return np.asarray(found[rng.permutation(best)[:most]])
