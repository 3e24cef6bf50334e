"""The printed figures of the TVD-MI paper, each beside what the released data give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from experiments.command import Row, printed_tables
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
    entry = Row(table, label or row, column, value, released, corrected, paper_ci=half, cases=cases)
    return replace(entry, digits=digits(table, column))


def absent(table: str, rows: Sequence[Row]) -> list[Row]:
    """Rows that only the paper has, without an average of others."""
    names = {row.row for row in rows}
    return [
        cell(table, name, column)
        for name, columns in paper()[f"table{table}"].items()
        if name not in names and name != "average"
        for column in columns
    ]


def names_of(rows: Sequence[Row]) -> str:
    """The names of rows, each once."""
    return ", ".join(dict.fromkeys(row.row for row in rows))


def digits(table: str, column: str) -> int:
    """After the point, as the TVD-MI paper prints them there."""
    special: Mapping[str, int] = paper()["decimals_by_column"]
    usual = int(paper()["decimals"].get(table, 3))  # 3 in tables of our own
    return next((n for ending, n in special.items() if column.endswith(ending)), usual)
