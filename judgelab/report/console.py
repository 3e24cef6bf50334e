"""Texts and tables on the console, and the findings of a run on about one screen."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.core.estimator import lines
from judgelab.core.terminal import harmless
from judgelab.report import format
from judgelab.report.format import Column, columns, cut

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

SCREEN = 44  # lines for the tables; the notes and paths come on top
SENTENCE = 60  # characters of a cell beyond which its column is left to the page
LONGEST = 32  # characters of a cell; the page has all
ESTIMATORS = 3  # that are named where there may be one for each judge
PLAIN_WIDTH = 120
GAP = 2  # characters between columns
HEADING = "bold cyan"


def screen(result: Mapping[str, Any], folder: Path) -> list[RenderableType]:
    """The answer, the tables that fit a screen, and where everything lies: ``folder``."""
    warned, title = alarms(result), result.get("title")
    parts: list[RenderableType] = [line(format.text(sentence)) for sentence in warned]
    if title:
        parts += ["", line(format.text(title), HEADING)]
    for heading, sentence in result.get("answer", ()):
        parts += ["", line(format.text(heading), HEADING), line(format.text(sentence))]
    room, elsewhere = SCREEN, []
    for place, table in enumerate(result["tables"]):
        rows, dropped = cut(table["rows"])
        height = len(rows) + 3 + bool(dropped)
        if not rows or height > room or (title and place):  # beside a title, one table is enough
            elsewhere.append(format.words(table["name"]))
            continue
        room -= height
        heading = format.text(table["title"])
        in_table = columns(rows, table.get("columns", ()), table.get("level", 0.95))
        parts += section(heading, in_table, f"tables/{table['name']}.csv", dropped)
    notes = [note for note in result["notes"] if not any(note in sentence for sentence in warned)]
    estimators = lines(result)
    notes += estimators[:ESTIMATORS]
    if (more := len(estimators) - ESTIMATORS) > 0:
        notes.append(f"{more} estimators more in the report")
    if elsewhere:
        notes.append(f"More in the report: {', '.join(elsewhere)}")
    parts += ["", *(line(format.text(note)) for note in notes)]
    return [*parts, f"report   {folder / 'report.html'}", f"records  {folder / 'records'}"]


def alarms(result: Mapping[str, Any]) -> list[str]:
    """What must be read before any number: a partial run, an odd LM, much that is unscored."""
    summary, still = result["summary"], result.get("partial", {}).get("sentence")
    causes = [still, summary.get("model_warning"), summary.get("unscored_warning")]
    return [str(sentence) for sentence in causes if sentence]


def section(
    heading: str, fields: Sequence[Column], file: str, dropped: int = 0
) -> list[RenderableType]:
    """A table under its heading, and which of its columns and rows ``file`` alone has."""
    if any(one.key == "statistic" for one in fields):  # what it means is said at length on the page
        fields = [one for one in fields if one.key != "meaning"]
    panels = next((one.cells for one in fields if one.key == "panel"), ())
    if len(set(panels)) == 1 and len(fields) > 1:
        heading += f" ({panels[0]})"
        fields = [one for one in fields if one.key != "panel"]
    visible = fitting(
        [
            replace(one, cells=tuple(format.shorten(cell, LONGEST) for cell in one.cells))
            for one in fields  # sentences are for the page
            if one is fields[0] or len(max(one.cells, key=len)) <= SENTENCE
        ]
    )
    parts: list[RenderableType] = ["", line(heading, HEADING), grid(visible)]
    if more := [one.heading for one in fields if one.key not in {one.key for one in visible}]:
        names = ", ".join(" ".join(one.partition(" [")[0].split()) for one in more)
        parts.append(line(f"more columns in {file}: {names}", "dim"))
    if dropped:
        count = len(visible[0].cells) + dropped
        parts.append(line(f"first and last of {count} rows: {file} has all", "dim"))
    return parts


def fitting(fields: Sequence[Column]) -> Sequence[Column]:
    """The first of these columns that the width takes; one at least."""

    def widest(column: Column) -> int:  # numbers are whole, words broken between words
        words = "\n".join([*column.cells, column.heading])
        return max(map(len, words.split("\n") if column.numeric else words.split()), default=0)

    rooms = list(accumulate(widest(column) + GAP for column in fields))
    return fields[: max(sum(room - GAP <= width() for room in rooms), 1)]


def line(words: str, style: str = "") -> Text:
    """Words, whatever they hold, broken where the width demands it."""
    from rich.text import Text

    return Text(harmless(words), style=style)


def page(parts: Iterable[RenderableType]) -> None:
    """Print to stdout in its width; a character that its encoding lacks becomes "?"."""
    text = rendered(parts, width(), colour=sys.stdout.isatty())
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding), end="", flush=True)


def width() -> int:
    """Columns of the terminal (or of COLUMNS); 120 where there is none."""
    return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns


def rendered(parts: Iterable[RenderableType], width: int, *, colour: bool = False) -> str:
    """The parts as text of at most ``width`` columns; a plain str is never broken."""
    from rich.console import Console

    text = io.StringIO()
    console = Console(
        file=text,
        width=width,
        force_terminal=colour,
        force_jupyter=False,  # inside a notebook too, what is printed is text
        color_system="standard" if colour else None,
        no_color=not colour,
        legacy_windows=False,
    )
    for part in parts:
        whole = isinstance(part, str)
        part = harmless(part) if isinstance(part, str) else part
        console.print(part, soft_wrap=whole, markup=False, highlight=False)
    return "\n".join(row.rstrip() for row in text.getvalue().split("\n"))


def grid(fields: Sequence[Column]) -> Table:
    """A table without rules: names left, numbers right, numbers never broken."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for column in fields:
        table.add_column(
            line(column.heading),
            justify="right" if column.numeric else "left",
            no_wrap=column.numeric,
            overflow="fold",
        )
    for row in zip(*(column.cells for column in fields), strict=True):
        table.add_row(*(line(cell) for cell in row))
    return table
