"""Tables and lines to stdout: in colour on a terminal, as plain text elsewhere."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from judgelab.report.tables import Column

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

PLAIN_WIDTH = 120


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
