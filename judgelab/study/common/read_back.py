"""An estimate of a study's own summary, as the sentences on it need it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from judgelab.core.result import read_estimate
from judgelab.stats.intervals.estimate import Estimate


def read_back(summary: Mapping[str, Any], key: str) -> Estimate:
    """Value, interval and n; NaN for what the summary lacks."""
    found = read_estimate(summary, key)
    value, low, high = (
        math.nan if found[part] is None else float(found[part]) for part in ("value", "low", "high")
    )
    return Estimate(value, low, high, int(found["n"] or 0))
