"""A cell of a printed table beside what the released data give, as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from experiments.command import Table as PrintedTable
from experiments.command import counts, interval, number
from judgelab.stats.intervals.estimate import Estimate

ROUNDING = 1e-6
"""Of the last printed digit: a number half-way between two rounds to either."""


@dataclass(frozen=True)
class Row:
    """One cell.

    Attributes:
        table: "3", "4", ...
        row: method, judge or configuration.
        column: dataset and format, or what is measured.
        paper: the printed number, or None.
        released: by the recipe behind the printed number.
        corrected: the same judges and weights without the faults of the counting.
        stated: the recipe that the paper states, without those faults either.
        digits: after the point.
        cause: why ``paper`` is not what the released data give.
    """

    table: str
    row: str
    column: str
    paper: float | None = None
    released: Estimate | None = None
    corrected: Estimate | None = None
    stated: Estimate | None = None
    digits: int = 4
    cause: str | None = None

    @property
    def match(self) -> bool | None:
        """Whether ``released`` rounds to the printed number; None where either is missing."""
        if self.paper is None or self.released is None or not math.isfinite(self.released.value):
            return None
        unit = 10**self.digits
        found, wanted = self.released.value * unit, round(self.paper * unit)
        return bool(abs(found - wanted) <= 0.5 + ROUNDING)

    @property
    def estimates(self) -> dict[str, Estimate | None]:
        """Column -> its number."""
        return {
            "released": self.released,
            "corrected": self.corrected,
            "stated": self.stated,
        }

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
        for kind, estimate in self.estimates.items():
            known = {} if estimate is None else estimate.as_dict()
            made[kind] = known.get("value")
            parts = ("low", "high", "p", "n", "unscored")
            made |= {f"{kind}_{part}": known.get(part) for part in parts}
        return made

    def cells(self) -> dict[str, str]:
        """Paper | released | corrected [interval] | stated [interval] | n | unscored."""
        return {
            "row": self.row,
            "column": self.column,
            "paper": number(self.paper, self.digits),
            "released": number(None if self.released is None else self.released.value, self.digits),
            "corrected": _with_p(self.corrected, self.digits),
            "stated": _with_p(self.stated, self.digits),
            **counts(None, self.match),
            "n": self._each("n"),
            "unscored": self._each("unscored"),
        }

    def _each(self, count: str) -> str:
        """A count of the three columns; once where it is the same in all that have a number."""
        found = [None if x is None else str(getattr(x, count)) for x in self.estimates.values()]
        known = {each for each in found if each is not None}
        return "/".join(each or "-" for each in found) if len(known) > 1 else "".join(known)


Table = PrintedTable[Row]


def summary(tables: Iterable[Table]) -> str:
    """How many cells with released data round to the printed digit, table by table."""
    parts, hits, known = [], 0, 0
    for table in tables:
        matches = [row.match for row in table.rows if row.match is not None]
        if matches:
            parts.append(f"{table.number}: {sum(matches)}/{len(matches)}")
            hits, known = hits + sum(matches), known + len(matches)
    return f"{hits} of {known} comparable cells round to the printed digit ({', '.join(parts)})."


def _with_p(estimate: Estimate | None, digits: int) -> str:
    said = interval(estimate, digits)
    known = estimate is not None and math.isfinite(estimate.low) and not math.isnan(estimate.p)
    return f"{said} p={estimate.p:.3g}" if estimate is not None and known else said
