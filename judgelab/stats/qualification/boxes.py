"""Box plots as numbers: quartiles, and whiskers to the last value within 1.5 times their gap."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

BOX = ("whisker_low", "quartile_1", "median", "quartile_3", "whisker_high")
REACH = 1.5


def box(values: ArrayLike) -> dict[str, float]:
    """``BOX`` of the values that are known, by Tukey's rule; NaN without any."""
    cells = np.asarray(values, dtype=np.float64).ravel()
    known = cells[~np.isnan(cells)]
    if not len(known):
        return dict.fromkeys(BOX, float("nan"))
    low, middle, high = np.quantile(known, (0.25, 0.5, 0.75))
    near = known[np.abs(known - np.clip(known, low, high)) <= REACH * (high - low)]
    ends = min(near.min(), low), max(near.max(), high)
    return dict(zip(BOX, map(float, (ends[0], low, middle, high, ends[1])), strict=True))
