"""The printed figures of the TVD-MI paper, each beside what the released data give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from experiments.command import Row, Table, cause_of, matches, printed_tables
from judgelab.stats.intervals.estimate import Estimate

MECHANISMS = {
    "MI": "mi",
    "GPPM": "gppm",
    "TVD-MI": "tvd_mi",
    "Judge+ctx": "judge_with_context",
    "Judge-ctx": "judge_without_context",
}
"""Column of the tables -> mechanism of the release."""


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
    found = Row(table, label or row, column, value, released, corrected, paper_ci=half, cases=cases)
    return replace(found, digits=digits(table, column))


def digits(table: str, column: str) -> int:
    """After the point, as the TVD-MI paper prints them there."""
    special: Mapping[str, int] = paper()["decimals_by_column"]
    usual = int(paper()["decimals"].get(table, 3))  # 3 in tables of our own
    return next((n for ending, n in special.items() if column.endswith(ending)), usual)


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
