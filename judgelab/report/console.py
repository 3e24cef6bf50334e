"""Texts and tables on the console, and what a run found on about one screen."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.core.estimator import lines
from judgelab.report import format
from judgelab.report.tables import Column, Row, columns, cut

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

SCREEN = 44  # lines for the tables; the notes and paths come on top
LONGEST = 32  # characters of a cell; the page has all
HIDDEN = frozenset({"meaning"})  # said at length on the page
PLAIN_WIDTH = 120


def show(result: Mapping[str, Any], folder: Path) -> None:
    """Print the notes, the tables that fit a screen, and where everything lies.

    Args:
        result: what Result.to_json gives.
        folder: the run directory.
    """
    page(screen(result, folder))


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
    table_grid = grid([_shortened(column) for column in shown])
    parts: list[RenderableType] = ["", Text(heading, style="bold cyan"), table_grid]
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


def page(parts: Iterable[RenderableType]) -> None:
    """Print to stdout in its width; a character that its encoding lacks becomes "?"."""
    written = rendered(parts, width(), colour=sys.stdout.isatty())
    encoding = sys.stdout.encoding or "utf-8"
    print(written.encode(encoding, "replace").decode(encoding), end="", flush=True)


def width() -> int:
    """Columns of the terminal (or of COLUMNS); 120 where there is none."""
    return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns


def rendered(parts: Iterable[RenderableType], width: int, *, colour: bool = False) -> str:
    """The parts as text of at most ``width`` columns; a plain str is never broken."""
    console = _console(width, colour)
    for part in parts:
        whole = isinstance(part, str)
        console.print(part, soft_wrap=whole, markup=False, highlight=False)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().split("\n")
    return "\n".join(line.rstrip() for line in lines)


def fits(part: RenderableType, width: int) -> bool:
    """Whether nothing in it would have to be broken."""
    from rich.measure import Measurement

    console = _console(width, colour=False)
    wide = console.options.update(max_width=10_000)
    return Measurement.get(console, wide, part).maximum <= width


def grid(shown: Sequence[Column], gap: int = 2) -> Table:
    """A table without rules: names left, numbers right, numbers never broken."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold")
    for column in shown:
        table.add_column(
            Text(column.heading),
            justify="right" if column.numeric else "left",
            no_wrap=column.numeric,
            overflow="fold",
        )
    for row in zip(*(column.cells for column in shown), strict=True):
        table.add_row(*(Text(cell) for cell in row))
    return table


def _console(width: int, colour: bool) -> Console:
    from rich.console import Console

    return Console(
        file=io.StringIO(),
        width=width,
        force_terminal=colour,
        force_jupyter=False,  # inside a notebook too, what is printed is text
        color_system="standard" if colour else None,
        no_color=not colour,
        legacy_windows=False,
    )
