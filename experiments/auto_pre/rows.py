"""A cell of a printed table beside what the released data give, as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from experiments.command import Table as PrintedTable
from experiments.command import counts, interval, number
from judgelab.stats.intervals.estimate import Estimate


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
    """

    table: str
    row: str
    column: str
    paper: float | None = None
    released: Estimate | None = None
    corrected: Estimate | None = None
    stated: Estimate | None = None
    digits: int = 4

    @property
    def match(self) -> bool | None:
        """Whether ``released`` rounds (or, as once, is cut) to the printed number.

        None where either is missing.
        """
        if self.paper is None or self.released is None or not math.isfinite(self.released.value):
            return None
        unit = 10**self.digits
        found, wanted = self.released.value * unit, round(self.paper * unit)
        return wanted in (round(found), math.floor(found + 1e-6))

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON: numbers are numbers, None where there is none."""
        made: dict[str, Any] = {
            "table": self.table,
            "row": self.row,
            "column": self.column,
            "paper": self.paper,
            "match": self.match,
        }
        counted = self.stated or self.corrected or self.released
        made["n"] = None if counted is None else counted.n
        made["unscored"] = None if counted is None else counted.unscored
        kinds = {
            "released": self.released,
            "corrected": self.corrected,
            "stated": self.stated,
        }
        for kind, estimate in kinds.items():
            known = {} if estimate is None else estimate.as_dict()
            made[kind] = known.get("value")
            made |= {f"{kind}_{part}": known.get(part) for part in ("low", "high", "p")}
        return made

    def cells(self) -> dict[str, str]:
        """Paper | released | corrected [interval] | stated [interval] | n | unscored."""
        return {
            "row": self.row,
            "column": self.column,
            "paper": number(self.paper, self.digits),
            "released": number(self.released and self.released.value, self.digits),
            "corrected": _with_p(self.corrected, self.digits),
            "stated": _with_p(self.stated, self.digits),
            **counts(self.stated or self.corrected or self.released, self.match),
        }


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
