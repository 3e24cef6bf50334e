"""Holm's step-down method: many tests at once, one wrong claim in twenty (Holm 1979).

``holm`` raises p values; ``holm_levels`` says the same as levels of intervals: the smallest p is
tested at alpha / J, the next at alpha / (J - 1), until one fails, whose level is that of all
others. So an interval at its level leaves out 0 exactly where the claim is made.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import Floats


def holm(p: ArrayLike) -> Floats:
    """[tests] adjusted p values; NaN, where there is no test, stays and counts for nothing."""
    # Not statsmodels' multipletests: it collects garbage at each call, a half second in a process
    # with torch, and sequences are looked at hundreds of times.
    adjusted = np.array(p, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(adjusted))
    order = known[np.argsort(adjusted[known])]
    raised = adjusted[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return adjusted


def holm_levels(p: ArrayLike, alpha: float = 0.05) -> Floats:
    """[tests] level of each test's interval."""
    values = np.asarray(p, dtype=np.float64)
    levels = np.ones(len(values))
    left = len(values)
    for each in np.unique(values):  # tests with one p have one level
        share = alpha / max(left, 1)
        alike = values == each
        levels[alike] = 1 - share
        if each > share:
            levels[values > each] = 1 - share
            break
        left -= int(alike.sum())
    return levels
