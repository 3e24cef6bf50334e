"""A cell of a printed table beside what the released data give, as text and as JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from experiments.command import KINDS
from experiments.command import Table as PrintedTable
from judgelab.stats.intervals.estimate import Estimate

ROUNDING = 1e-6  # of the last printed digit: a number half-way between two rounds to either


@dataclass(frozen=True)
class Row:
    """One cell."""

    table: str  # "3", "4", ..
    row: str  # method, judge or configuration
    column: str  # dataset and format, or what is measured
    paper: float | None = None  # the printed number, or None
    released: Estimate | None = None  # by the recipe behind the printed number
    # the same judges and weights without the faults of the counting
    corrected: Estimate | None = None
    stated: Estimate | None = None  # the recipe that the paper states, without those faults either
    digits: int = 4  # after the point
    cause: str | None = None  # why ``paper`` is not what the released data give

    @property
    def match(self) -> bool | None:
        """Whether ``released`` rounds to the printed number; None where either is missing."""
        if self.paper is None or self.released is None or not math.isfinite(self.released.value):
            return None
        unit = 10**self.digits
        found, wanted = self.released.value * unit, round(self.paper * unit)
        return bool(abs(found - wanted) <= 0.5 + ROUNDING)

    @property
    def precision(self) -> int:
        """Digits after the point that are printed."""
        return self.digits

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON: numbers are numbers, None where there is none.

        ``n`` and ``unscored`` are of the last column that has a number; those of each column have
        its name before them.
        """
        made: dict[str, Any] = {
            "table": self.table,
            "row": self.row,
            "column": self.column,
            "paper": self.paper,
            "match": self.match,
            "cause": self.cause,
        }
        counted = self.stated or self.corrected or self.released
        made["n"] = None if counted is None else counted.n
        made["unscored"] = None if counted is None else counted.unscored
        for kind in KINDS:
            estimate: Estimate | None = getattr(self, kind)
            known = {} if estimate is None else estimate.as_dict()
            made[kind] = known.get("value")
            parts = ("low", "high", "p", "n", "unscored")
            made |= {f"{kind}_{part}": known.get(part) for part in parts}
        return made


Table = PrintedTable[Row]
