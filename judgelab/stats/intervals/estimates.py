"""Many estimates with their intervals, as arrays of one shape: how statistics are handed on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.ends import Ends
from judgelab.stats.intervals.estimate import Estimate


def _unknown() -> Floats:
    return np.array(np.nan)


@dataclass(frozen=True)
class Estimates:
    """Estimates [...]; each array has this shape, or is one number for all.

    Attributes:
        value: in the unit of the statistic; NaN where it is not known.
        low, high: ends of the interval; NaN where there is none.
        n: clusters (items) that took part.
        unscored: what was asked for and is missing.
        p: of the test that the interval belongs to; NaN where none was made.
    """

    value: Floats
    low: Floats
    high: Floats
    n: Floats
    unscored: Floats = field(default_factory=lambda: np.array(0.0))
    p: Floats = field(default_factory=_unknown)

    @staticmethod
    def of(value: ArrayLike, ends: Ends, n: ArrayLike, unscored: ArrayLike = 0.0) -> Estimates:
        """From values, both ends and counts."""
        v, low, high, k, lost = (
            np.asarray(x, dtype=np.float64) for x in (value, *ends, n, unscored)
        )
        return Estimates(v, low, high, k, lost)

    def at(self, *place: int) -> Estimate:
        """One of them."""

        def one(values: Floats) -> float:
            return float(np.broadcast_to(values, self.value.shape)[place])

        n, unscored = (int(np.nan_to_num(one(x))) for x in (self.n, self.unscored))
        return Estimate(one(self.value), one(self.low), one(self.high), n, unscored, one(self.p))
