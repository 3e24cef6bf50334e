"""What the GEM paper prints (tables.yaml), and the figures of the authors'
spreadsheet of benchmarks (gre_bench.csv)."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from experiments.command import printed_tables

HERE = Path(__file__).parent

METRICS = {"GEM": "GEM", "GEM-S (abstract)": "GEM-S(abs.)", "GEM-S (ASSW)": "GEM-S(ASSW)"}
"""Metric as Table 5 names it -> as Tables 6, 7 and 10 do."""

SAME_MODEL = {"openai/gpt-3.5-turbo-0125": "openai/gpt-3.5-turbo"}
"""The spreadsheet's name -> the tables', where they differ."""

EXTRA_COLUMNS = ("model_name", "parameter_size", "GEM", "GEM-S")


@dataclass(frozen=True)
class Cell:
    """A standardised mean difference with its printed interval."""

    d: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half the length of the printed interval."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class Printed:
    """The printed tables, by what is asked of them."""

    raw: Mapping[str, Any]  # tables.yaml
    rows: Sequence[Mapping[str, Any]]  # of the spreadsheet: column -> cell, None where it is empty

    def board(self, table: str, column: str) -> dict[str, float]:
        """Model -> number of Table 6, 7 or 10; models without their version."""
        place = self.raw["board_columns"].index(column)
        rows: Mapping[str, Sequence[float]] = self.raw[f"table{table}"]
        return {name.split(" (v")[0]: float(row[place]) for name, row in rows.items()}

    def sheet(self, column: str) -> dict[str, float]:
        """Model -> number of the spreadsheet, under the tables' names; NaN where it is empty."""
        return {
            SAME_MODEL.get(row["model_name"], row["model_name"]): (
                math.nan if row[column] is None else float(row[column])
            )
            for row in self.rows
        }

    @property
    def benchmarks(self) -> list[str]:
        """The spreadsheet's columns of other benchmarks."""
        return [name for name in self.rows[0] if name not in EXTRA_COLUMNS]

    def cells(self, table: str) -> dict[str, dict[str, Cell]]:
        """Metric -> change of the texts -> cell, of a table of differences."""
        return {
            metric: {name: Cell(*cell) for name, cell in row.items()}
            for metric, row in self.raw[f"table{table}"].items()
        }

    @property
    def table5(self) -> Mapping[str, Mapping[str, float]]:
        """Metric -> benchmark -> the correlation that is printed."""
        table: Mapping[str, Mapping[str, float]] = self.raw["table5"]
        return table


@cache
def read_printed() -> Printed:
    """The printed tables."""
    with (HERE / "gre_bench.csv").open(encoding="utf-8", newline="") as handle:
        return Printed(
            printed_tables("gem"),
            [{k: v or None for k, v in row.items()} for row in csv.DictReader(handle)],
        )
