"""Tables as rows of plain values, printed in aligned columns and written as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments.command import aligned, printed_tables
from judgelab.stats.intervals.estimate import Estimate

Value = str | int | float | bool | None


@dataclass(frozen=True)
class Table:
    """A titled table."""

    name: str  # key of its rows in the JSON
    title: str  # for readers
    rows: tuple[Mapping[str, Value], ...]  # name -> value; NaN and infinity mean "none"
    notes: tuple[str, ...] = ()  # sentences below it

    def as_dicts(self) -> list[dict[str, Value]]:
        """Rows ready for JSON, each with the name of its table."""
        return [{"table": self.name, **{k: _plain(v) for k, v in row.items()}} for row in self.rows]

    def text(self) -> str:
        """Title, aligned columns, notes."""
        rows = [{key: _cell(value) for key, value in row.items()} for row in self.rows]
        return aligned(self.title, rows, self.notes)


def paper() -> Mapping[str, Any]:
    """The printed figures (printed/tables.yaml)."""
    return printed_tables("ranking_confidence")


def spread(estimate: Estimate) -> dict[str, Value]:
    """value, low, high, n pairs, systems."""
    return {
        "n": estimate.n,
        "systems": estimate.clusters,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
    }


def _plain(value: Value) -> Value:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: Value) -> str:
    value = _plain(value)
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 50 else f"{round(value, 3) + 0.0:.3f}"
    return f"{value:,}" if isinstance(value, int) else value
