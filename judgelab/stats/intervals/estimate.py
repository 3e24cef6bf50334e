"""A number with its interval: the one shape in which every statistic is handed on."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A point estimate with a 95 % interval.

    Attributes:
        value: the estimate, in the unit of the statistic; NaN where it is undefined.
        low, high: ends of the 95 % interval; NaN where there is none.
        n: items used.
        unscored: items dropped because they hold no score (a function that counts something
            else, such as cells, says so).
        p: two-sided p value; NaN where no test was made.
        clusters: where ``n`` counts something else than items (rows, say): items they come
            from; else None.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    unscored: int = 0
    p: float = math.nan
    clusters: int | None = None

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    def as_dict(self) -> dict[str, float | int | None]:
        """The fields, ready for JSON: NaN and infinities become None; no clusters, no key."""
        fields: dict[str, float | int | None] = {
            "value": _finite(self.value),
            "low": _finite(self.low),
            "high": _finite(self.high),
            "n": self.n,
            "unscored": self.unscored,
            "p": _finite(self.p),
        }
        return fields if self.clusters is None else {**fields, "clusters": self.clusters}


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
