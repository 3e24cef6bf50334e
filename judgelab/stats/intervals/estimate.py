"""A number with its interval, and many as arrays: how every statistic is handed on."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.ends import Ends


@dataclass(frozen=True)
class Estimate:
    """A point estimate with a 95 % interval."""

    value: float  # the estimate, in the unit of the statistic; NaN where it is undefined
    low: float = math.nan  # low, high: ends of the 95 % interval; NaN where there is none
    high: float = math.nan
    n: int = 0  # items used
    unscored: int = 0  # items without a score (a function that counts something else says so)
    p: float = math.nan  # two-sided p value; NaN where no test was made
    clusters: int | None = None  # items, where ``n`` counts something else (rows, say)

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    def as_dict(self) -> dict[str, float | int | None]:
        """The fields, ready for JSON: NaN and infinities become None; no clusters, no key."""
        fields: dict[str, float | int | None] = {
            name: None if isinstance(x, float) and not math.isfinite(x) else x
            for name, x in asdict(self).items()
        }
        if self.clusters is None:
            del fields["clusters"]
        return fields


@dataclass(frozen=True)
class Estimates:
    """Estimates [...]; each array has this shape, or is one number for all."""

    value: Floats  # in the unit of the statistic; NaN where it is not known
    low: Floats  # low, high: ends of the interval; NaN where there is none
    high: Floats
    n: Floats  # clusters (items) that took part
    unscored: Floats = field(default_factory=lambda: np.array(0.0))  # asked for, and missing
    p: Floats = field(default_factory=lambda: np.array(np.nan))  # of the interval's test, if any
    error: Floats = field(default_factory=lambda: np.array(np.nan))  # standard, where there is one

    @staticmethod
    def of(
        value: ArrayLike,
        ends: Ends,
        n: ArrayLike,
        unscored: ArrayLike = 0.0,
        error: ArrayLike = np.nan,
    ) -> Estimates:
        """From values, both ends and counts."""
        v, low, high, k, absent, e = (
            np.asarray(x, dtype=np.float64) for x in (value, *ends, n, unscored, error)
        )
        return Estimates(v, low, high, k, absent, error=e)

    def at(self, *place: int) -> Estimate:
        """One of them."""
        arrays = (self.value, self.low, self.high, self.p, self.n, self.unscored)
        shape = self.value.shape
        value, low, high, p, *counts = (float(np.broadcast_to(x, shape)[place]) for x in arrays)
        n, unscored = (int(np.nan_to_num(count)) for count in counts)
        return Estimate(value, low, high, n, unscored, p)
