"""A cell of a published table next to what the released data give, as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from experiments.command import Table as PrintedTable
from experiments.command import counts, interval, number
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
    """One cell.

    Attributes:
        table: "2", "3", "4", "5", "6" or "B.1".
        row: domain, attack or agent.
        column: mechanism, with what of it is meant where the table has more than one number.
        paper: the printed number, or None.
        released: by the definition of the released code; ``released.n`` items.
        corrected: by the corrected definition; ``n`` and ``unscored`` of the row are its.
        paper_ci: the printed half width, or None.
        digits: after the point; None: as many as the TVD-MI paper prints there.
        cases: worst and best case of ``corrected``: failed calls, of which only the number is
            known, decided against and for Good Faith; None where there are none.
    """

    table: str
    row: str
    column: str
    paper: float | None = None
    released: Estimate | None = None
    corrected: Estimate | None = None
    paper_ci: float | None = None
    digits: int | None = None
    cases: tuple[float, float] | None = None

    @property
    def precision(self) -> int:
        """Digits after the point that are printed."""
        return decimals(self.table, self.column) if self.digits is None else self.digits

    @property
    def match(self) -> bool | None:
        """Whether ``released`` rounds to the printed number; None where either is missing."""
        value = None if self.released is None else _finite(self.released.value)
        if self.paper is None or value is None:
            return None
        digits = self.precision
        return round(value, digits) == round(self.paper, digits)

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

    def cells(self) -> dict[str, str]:
        """Paper | released code's definition | corrected | n | unscored."""
        digits = self.precision
        half = _finite(math.nan if self.released is None else self.released.half_width)
        return {
            "row": self.row,
            "column": self.column,
            "paper": number(self.paper, digits) + _half(self.paper_ci, digits),
            "released": number(None if self.released is None else self.released.value, digits)
            + _half(half, digits),
            "n released": "" if self.released is None else str(self.released.n),
            "corrected": interval(self.corrected, digits),
            "worst, best": "" if self.cases is None else _ends(self.cases, digits),
            **counts(self.corrected or self.released, self.match),
        }


Table = PrintedTable[Row]


@cache
def paper() -> Mapping[str, Any]:
    """The printed figures (printed/tables.yaml)."""
    file = Path(__file__).parent / "printed" / "tables.yaml"
    loaded: Mapping[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return loaded


def printed(table: str, row: str, column: str) -> tuple[float | None, float | None]:
    """(number, half width) that the paper prints in a cell; None where it prints none."""
    cell = paper()[f"table{table}"].get(row, {}).get(column)
    if isinstance(cell, list):
        return cell[0], cell[1]
    return cell, None


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
    value, half = printed(table, row, column)
    return Row(table, label or row, column, value, released, corrected, half, cases=cases)


def decimals(table: str, column: str) -> int:
    """Digits after the point that the paper prints there."""
    special: Mapping[str, int] = paper()["decimals_by_column"]
    for ending, digits in special.items():
        if column.endswith(ending):
            return digits
    return int(paper()["decimals"].get(table, 3))  # 3 in tables of our own


def summary(tables: Iterable[Table], causes: Sequence[Mapping[str, str]] = ()) -> str:
    """How many released cells round to the printed digit, by table, and why the others do not.

    Args:
        tables: the tables.
        causes: table, cause, and the row or column that it is about; the first that fits counts.
    """
    rows = [row for table in tables for row in table.rows if row.match is not None]
    by_table: dict[str, list[Row]] = {}
    for row in rows:
        by_table.setdefault(row.table, []).append(row)
    share = ", ".join(f"{k}: {_met(found)}/{len(found)}" for k, found in by_table.items())
    missed: dict[str, int] = {}
    for row in rows:
        if not row.match:
            known = (f"Table {one['table']}: {one['cause']}" for one in causes if _fits(row, one))
            cause = next(known, f"Table {row.table}, {row.row}, {row.column}: no cause is known")
            missed[cause] = missed.get(cause, 0) + 1
    lines = [f"{_met(rows)} of {len(rows)} comparable cells round to the printed digit ({share})."]
    return "\n".join([*lines, *(f"{n} not: {cause}." for cause, n in missed.items())])


def _met(rows: Sequence[Row]) -> int:
    return sum(row.match is True for row in rows)


def _fits(row: Row, cause: Mapping[str, str]) -> bool:
    here = {"table": row.table, "row": row.row, "column": row.column}
    return all(cause.get(key, value) == value for key, value in here.items())


def _ends(ends: tuple[float, float], digits: int) -> str:
    return ", ".join(number(end, digits) for end in ends)


def _half(value: float | None, digits: int) -> str:
    return "" if value is None else f"±{value:.{digits}f}"


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
