"""What the GEM paper prints, and the authors' spreadsheet, from one JSON file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.core.errors import DataError

FILE = "paper_tables.json"
REVIEWS = "gem_iclr2023_300x3_reviews.parquet"

BOARDS = {
    "6": "table6_gre_bench_llama3.1-70B_evalLM_gpt4o_preproc",
    "7": "table7_gre_bench_llama3.1-8B_evalLM_gpt4o_preproc",
    "10": "table10_gre_bench_llama3.1-8B_evalLM_llama3.2-90B_preproc",
}
"""Table of the paper -> its key: model -> params_B and the three metrics."""

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
    """The file, by what is asked of it.

    Attributes:
        raw: the file's content.
    """

    raw: Mapping[str, Any]

    def board(self, table: str, column: str) -> dict[str, float]:
        """Model -> number of Table 6, 7 or 10; models without their version."""
        rows: Mapping[str, Mapping[str, float]] = self.raw[BOARDS[table]]
        return {name.split(" (v")[0]: float(row[column]) for name, row in rows.items()}

    def sheet(self, column: str) -> dict[str, float]:
        """Model -> number of the spreadsheet, under the tables' names; NaN where it is empty."""
        return {
            SAME_MODEL.get(row["model_name"], row["model_name"]): (
                math.nan if row[column] is None else float(row[column])
            )
            for row in self.raw["GRE-bench.xlsx"]
        }

    @property
    def benchmarks(self) -> list[str]:
        """The spreadsheet's columns of other benchmarks."""
        return [name for name in self.raw["GRE-bench.xlsx"][0] if name not in EXTRA_COLUMNS]

    def cells(self, table: str) -> dict[str, dict[str, Cell]]:
        """Metric -> change of the texts -> cell, of a table of differences."""
        return {
            metric: {name: Cell(c["smd"], c["lo"], c["hi"]) for name, c in row.items()}
            for metric, row in self.raw[f"table{table}"].items()
        }

    @property
    def table1(self) -> Mapping[str, tuple[float, float]]:
        """Metric -> (correlation with the instructors' grades, p)."""
        table: Mapping[str, tuple[float, float]] = self.raw["table1_spearman_instructor_grade"]
        return table

    @property
    def table5(self) -> Mapping[str, Mapping[str, float]]:
        """Metric -> benchmark -> the correlation that is printed."""
        table: Mapping[str, Mapping[str, float]] = self.raw["table5_spearman_vs_benchmarks"]
        return table


def read_printed(folder: Path) -> Printed:
    """Read FILE from the folder.

    Raises:
        DataError: there is none, it is no JSON, or it lacks a table.
    """
    path = folder / FILE
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as cause:
        raise DataError(f"{path} cannot be read: give the folder that holds {FILE}.") from cause
    except ValueError as cause:
        raise DataError(f"{path} is no JSON: fetch it again.") from cause
    needed = [
        *BOARDS.values(),
        "GRE-bench.xlsx",
        "table1_spearman_instructor_grade",
        "table5_spearman_vs_benchmarks",
        *(f"table{number}" for number in ("3", "4", "8")),
    ]
    missing = [key for key in needed if key not in raw]
    if missing:
        raise DataError(f"{path} lacks {missing[0]!r}: is it the right file?")
    return Printed(raw)
