"""A cell of a published table next to what the released data give, as text and as JSON."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.command import Table as PrintedTable
from experiments.command import cause_of, matches, printed_tables
from judgelab.stats.intervals.estimate import Estimate

MECHANISMS = {
    "MI": "mi",
    "GPPM": "gppm",
    "TVD-MI": "tvd_mi",
    "Judge+ctx": "judge_with_context",
    "Judge-ctx": "judge_without_context",
}
"""Column of the tables -> mechanism of the release."""


@dataclass(frozen=True)
class Row:
    """One cell."""

    table: str  # "2", "3", "4", "5", "6" or "B.1"
    row: str  # domain, attack or agent
    column: str  # mechanism, with what of it is meant where the table has more than one number
    paper: float | None = None  # the printed number, or None
    released: Estimate | None = None  # by the definition of the released code; ``released.n`` items
    # by the corrected definition; ``n`` and ``unscored`` of the row are its
    corrected: Estimate | None = None
    paper_ci: float | None = None  # the printed half width, or None
    digits: int | None = None  # after the point; None: as many as the TVD-MI paper prints there
    # worst and best case of ``corrected``: failed calls, of which only the number is known, decided
    # against and for Good Faith; None where there are none
    cases: tuple[float, float] | None = None

    @property
    def precision(self) -> int:
        """Digits after the point that are printed."""
        if self.digits is not None:
            return self.digits
        special: Mapping[str, int] = paper()["decimals_by_column"]
        usual = int(paper()["decimals"].get(self.table, 3))  # 3 in tables of our own
        return next((n for ending, n in special.items() if self.column.endswith(ending)), usual)

    @property
    def match(self) -> bool | None:
        """Whether ``released`` rounds to the printed number; None where either is missing."""
        value = None if self.released is None else _finite(self.released.value)
        if self.paper is None or value is None:
            return None
        return round(value, self.precision) == round(self.paper, self.precision)

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON: numbers are numbers, None where there is none."""
        released = {} if self.released is None else self.released.as_dict()
        corrected = {} if self.corrected is None else self.corrected.as_dict()
        counted = corrected or released
        return {
            "table": self.table,
            "row": self.row,
            "column": self.column,
            "paper": self.paper,
            "released": released.get("value"),
            "corrected": corrected.get("value"),
            "n": counted.get("n"),
            "unscored": counted.get("unscored"),
            "match": self.match,
            "paper_ci": self.paper_ci,
            "released_ci": None if self.released is None else _finite(self.released.half_width),
            "released_n": released.get("n"),
            "released_unscored": released.get("unscored"),
            "released_p": released.get("p"),
            "corrected_low": corrected.get("low"),
            "corrected_high": corrected.get("high"),
            "corrected_p": corrected.get("p"),
            "worst": None if self.cases is None else _finite(self.cases[0]),
            "best": None if self.cases is None else _finite(self.cases[1]),
        }


Table = PrintedTable[Row]


def paper() -> Mapping[str, Any]:
    """The printed figures (printed/tables.yaml)."""
    return printed_tables("peer_prediction")


def cell(
    table: str,
    row: str,
    column: str,
    released: Estimate | None = None,
    corrected: Estimate | None = None,
    *,
    label: str | None = None,
    cases: tuple[float, float] | None = None,
) -> Row:
    """A row with the paper's figure looked up under ``row``; shown under ``label`` if given."""
    value, half = paper()[f"table{table}"].get(row, {}).get(column), None
    if isinstance(value, list):
        value, half = value
    return Row(table, label or row, column, value, released, corrected, half, cases=cases)


def summary(tables: Sequence[Table], causes: Sequence[Mapping[str, str]] = ()) -> str:
    """How many released cells round to the printed digit, by table, and why the others do not.

    Args:
        tables: the tables.
        causes: table, cause, and the row or column that it is about; the first that fits counts.
    """
    missed = Counter[str]()
    for row in (row for table in tables for row in table.rows if row.match is False):
        cause = cause_of(row.as_dict(), causes)
        place = f"Table {row.table}" if cause else f"Table {row.table}, {row.row}, {row.column}"
        missed[f"{place}: {cause or 'no cause is known'}"] += 1
    return "\n".join([matches(tables), *(f"{n} not: {cause}." for cause, n in missed.items())])


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
