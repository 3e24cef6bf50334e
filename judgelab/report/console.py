"""What a run found, on about one screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.core.estimator import lines
from judgelab.report import format, terminal
from judgelab.report.tables import Column, Row, columns, cut

if TYPE_CHECKING:
    from rich.console import RenderableType

SCREEN = 44  # lines for the tables; the notes and paths come on top
LONGEST = 32  # characters of a cell; the page has all
HIDDEN = frozenset({"meaning"})  # said at length on the page


def show(result: Mapping[str, Any], folder: Path) -> None:
    """Print the notes, the tables that fit a screen, and where everything lies.

    Args:
        result: what Result.to_json gives.
        folder: the run directory.
    """
    terminal.page(screen(result, folder))


def screen(result: Mapping[str, Any], folder: Path) -> list[RenderableType]:
    """The parts that ``show`` prints, from top to bottom."""
    from rich.text import Text

    said = [*result["notes"], *lines(result)]
    parts: list[RenderableType] = [Text(format.text(note)) for note in said]
    left, elsewhere = SCREEN, []
    for table in result["tables"]:
        rows, dropped = cut(table["rows"])
        needed = len(rows) + 3 + bool(dropped)
        if not rows or needed > left:
            elsewhere.append(table["name"])
            continue
        left -= needed
        parts += _section(table, rows, dropped)
    parts += _places(elsewhere, folder)
    return parts


def _section(table: Mapping[str, Any], rows: list[Row], dropped: int) -> list[RenderableType]:
    from rich.text import Text

    shown = columns(rows, table.get("columns", ()), table.get("level", 0.95))
    hidden = HIDDEN if any(column.key == "statistic" for column in shown) else frozenset()
    shown, common = _without_common([column for column in shown if column.key not in hidden])
    title = format.text(table["title"])
    heading = f"{title} ({', '.join(common)})" if common else title
    grid = terminal.grid([_shortened(column) for column in shown])
    parts: list[RenderableType] = ["", Text(heading, style="bold cyan"), grid]
    if dropped:
        said = f"first and last of {len(rows) + dropped} rows: tables/{table['name']}.csv has all"
        parts.append(Text(said, style="dim"))
    return parts


def _shortened(column: Column) -> Column:
    return replace(column, cells=tuple(format.shorten(cell, LONGEST) for cell in column.cells))


def _without_common(shown: list[Column]) -> tuple[list[Column], list[str]]:
    """The panel goes into the heading where all rows shown belong to one."""
    for column in shown:
        if column.key == "panel" and len(shown) > 1 and len(set(column.cells)) == 1:
            return [other for other in shown if other is not column], [column.cells[0]]
    return shown, []


def _places(elsewhere: list[str], folder: Path) -> list[RenderableType]:
    from rich.text import Text

    parts: list[RenderableType] = [""]
    if elsewhere:
        parts.append(Text(f"More in the report: {', '.join(map(format.words, elsewhere))}"))
    parts.append(f"report   {folder / 'report.html'}")
    parts.append(f"records  {folder / 'records'}")
    return parts
