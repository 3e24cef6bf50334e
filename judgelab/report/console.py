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
from judgelab.core.terminal import harmless
from judgelab.report import format
from judgelab.report.tables import Column, Row, columns, cut

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

SCREEN = 44  # lines for the tables; the notes and paths come on top
SENTENCE = 60  # characters of a cell beyond which its column is left to the page
LONGEST = 32  # characters of a cell; the page has all
ESTIMATORS = 3  # that are named where there may be one for each judge
HIDDEN = frozenset({"meaning"})  # said at length on the page
PLAIN_WIDTH = 120
HEADING = "bold cyan"


def show(result: Mapping[str, Any], folder: Path) -> None:
    """Print the notes, the tables that fit a screen, and where everything lies: ``folder``."""
    page(screen(result, folder))


def screen(result: Mapping[str, Any], folder: Path) -> list[RenderableType]:
    """The parts that ``show`` prints, from top to bottom."""
    answer, estimators = result.get("answer", []), lines(result)
    alarming, notes = alarms(result), [*result["notes"], *([] if answer else estimators)]
    first = [one for one in notes if not answer or any(said in one for said in alarming)]
    parts: list[RenderableType] = [line(format.text(note)) for note in first]
    if result.get("title"):
        parts += ["", line(format.text(result["title"]), HEADING)]
    for heading, said in answer:
        parts += ["", line(format.text(heading), HEADING), line(format.text(said))]
    left, elsewhere = SCREEN, []
    for place, table in enumerate(result["tables"]):
        if place and result.get("title"):  # the answer is said: one table is enough
            elsewhere.append(format.words(table["name"]))
            continue
        rows, dropped = cut(table["rows"])
        needed = len(rows) + 3 + bool(dropped)
        if not rows or needed > left:
            elsewhere.append(format.words(table["name"]))
            continue
        left -= needed
        parts += _section(table, rows, dropped)
    parts.append("")
    if answer:  # what it was made of comes last
        parts += [line(format.text(note)) for note in notes if note not in first]
        parts += [line(format.text(one)) for one in estimators[:ESTIMATORS]]
        if (more := len(estimators) - ESTIMATORS) > 0:
            parts.append(line(f"{more} estimators more in the report"))
    if elsewhere:
        parts.append(line(f"More in the report: {', '.join(elsewhere)}"))
    return [*parts, f"report   {folder / 'report.html'}", f"records  {folder / 'records'}"]


def alarms(result: Mapping[str, Any]) -> list[str]:
    """What must be read before any number: a partial run, an odd LM, much that is unscored."""
    summary, still = result["summary"], result.get("partial", {})
    found = (still.get("sentence"), summary.get("model_warning"), summary.get("unscored_warning"))
    return [str(said) for said in found if said]


def _section(table: Mapping[str, Any], rows: list[Row], dropped: int) -> list[RenderableType]:
    """The table under its heading, which names the panel where all rows belong to one."""
    shown = columns(rows, table.get("columns", ()), table.get("level", 0.95))
    if any(column.key == "statistic" for column in shown):
        shown = [column for column in shown if column.key not in HIDDEN]
    heading = format.text(table["title"])
    panels = next((column.cells for column in shown if column.key == "panel"), ())
    if len(set(panels)) == 1 and len(shown) > 1:
        heading += f" ({panels[0]})"
        shown = [column for column in shown if column.key != "panel"]
    # sentences are for the page
    brief = [one for one in shown if one is shown[0] or len(max(one.cells, key=len)) <= SENTENCE]
    cells = (tuple(format.shorten(cell, LONGEST) for cell in column.cells) for column in brief)
    short = [replace(column, cells=each) for column, each in zip(brief, cells, strict=True)]
    kept = fitting(short)
    parts: list[RenderableType] = ["", line(heading, HEADING), grid(kept)]
    if len(kept) < len(shown):
        names = {one.key for one in kept}
        more = [one.heading.partition(" [")[0] for one in shown if one.key not in names]
        said = ", ".join(more)
        parts.append(line(f"more columns in tables/{table['name']}.csv: {said}", "dim"))
    if dropped:
        said = f"first and last of {len(rows) + dropped} rows: tables/{table['name']}.csv has all"
        parts.append(line(said, "dim"))
    return parts


def fitting(shown: Sequence[Column]) -> Sequence[Column]:
    """The first of these columns that the width takes; one at least."""
    counts = [k for k in range(1, len(shown) + 1) if _room(shown[:k]) <= width()]
    return shown[: max(counts, default=1)]


def _room(shown: Sequence[Column], gap: int = 2) -> int:
    """Characters that these columns need at least: numbers whole, words broken between words."""

    def widest(column: Column) -> int:
        said = "\n".join([*column.cells, column.heading])
        return max(map(len, said.split("\n") if column.numeric else said.split()), default=0)

    return sum(map(widest, shown)) + gap * (len(shown) - 1)


def line(words: str, style: str = "") -> Text:
    """Words, whatever they hold, broken where the width demands it."""
    from rich.text import Text

    return Text(harmless(words), style=style)


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
        part = harmless(part) if isinstance(part, str) else part
        console.print(part, soft_wrap=whole, markup=False, highlight=False)
    assert isinstance(console.file, io.StringIO)
    return "\n".join(row.rstrip() for row in console.file.getvalue().split("\n"))


def fits(part: RenderableType, width: int) -> bool:
    """Whether nothing in it would have to be broken."""
    from rich.measure import Measurement

    console = _console(width, colour=False)
    wide = console.options.update(max_width=10_000)
    return Measurement.get(console, wide, part).maximum <= width


def grid(shown: Sequence[Column], gap: int = 2) -> Table:
    """A table without rules: names left, numbers right, numbers never broken."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold")
    for column in shown:
        table.add_column(
            line(column.heading),
            justify="right" if column.numeric else "left",
            no_wrap=column.numeric,
            overflow="fold",
        )
    for row in zip(*(column.cells for column in shown), strict=True):
        table.add_row(*(line(cell) for cell in row))
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
