"""The runs of a sweep side by side: on the console, as CSV and JSON, and as a page."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from judgelab.report import attack_table as crossed
from judgelab.report import document as html
from judgelab.report import format, judges, terminal
from judgelab.report.figures import caption, draw, title
from judgelab.report.figures.style import saved
from judgelab.report.jobs import SweepJob, axes, jobs, warnings
from judgelab.report.sweep_table import LEGEND, points, shown, table
from judgelab.report.tables import Column
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import RenderableType

UNBROKEN = 1000  # columns: such a line is left to the terminal to break
FIGURES = {
    "effect_sizes_by_mechanism": "points",
    "auc_under_attack": "points",
    "metrics_by_attacks": "attack_table",
    "discernment_judges": "judges",
}
"""Figure -> the table it draws."""


def conclude(folder: Path) -> int:
    """Print the comparison of a sweep, write it, and return how many jobs failed.

    Args:
        folder: hydra.sweep.dir; holds a folder with job.json for every job.

    Raises:
        JudgelabError: there are no jobs, or a result cannot be read.
    """
    found = jobs(folder)
    write(folder)
    terminal.page(screen(found, folder))
    return sum(job.error is not None for job in found)


def write(folder: Path) -> Path:
    """Write comparison.csv, comparison.json, figures and report.html; returns the latter.

    Beside them, where jobs are of such studies, metrics_by_attacks.csv and judges.csv.

    Raises:
        JudgelabError: there are no jobs, or a result cannot be read.
    """
    found, into = jobs(folder), RunDir(folder)
    into.write_text("comparison.csv", table(found).to_csv(index=False, lineterminator="\n"))
    into.write_json("comparison.json", [_entry(job) for job in found])
    beside = {"metrics_by_attacks": crossed.crossed(found), "judges": judges.judges(found)}
    for file, rows in beside.items():
        if len(rows):
            text = rows.to_csv(index=False, lineterminator="\n")
            into.write_text(f"{file}.csv", text)
    name = f"{len(found)} runs: {' × '.join(axes(found))}"
    return into.write_text(
        "report.html", html.document(name, [html.tag("h1", name), *_body(found, into)])
    )


def screen(found: Sequence[SweepJob], folder: Path) -> list[RenderableType]:
    """Notes, the one table, what failed with the command that repeats it, and the files."""
    from rich.text import Text

    parts: list[RenderableType] = ["", *(Text(said, style="yellow") for said in warnings(found))]
    parts += [Text(note) for note in common_notes(found)]
    parts += ["", Text(f"Comparison of {len(found)} runs", style="bold cyan"), *_fitting(found)]
    for name, wide, narrow in _beside(found):
        grid = terminal.grid(wide, 2)
        if not terminal.fits(grid, terminal.width()):
            grid = terminal.grid(narrow, 2)
        parts += ["", Text(name, style="bold cyan"), grid]
    for error, failed in _failures(found).items():
        numbers = ", ".join(str(job.number) for job in failed)
        said = f"job{'s' if len(failed) > 1 else ''} {numbers} failed: {format.text(error)}"
        parts += ["", Text(said, style="red")]
        parts += [f"  {job.command}" for job in failed if job.overrides]
    return [
        *parts,
        "",
        f"report   {folder / 'report.html'}",
        f"table    {folder / 'comparison.csv'}",
    ]


def _beside(found: Sequence[SweepJob]) -> Iterator[tuple[str, list[Column], list[Column]]]:
    """What some studies have to show beside the one table: title, in full, and in short."""
    if len(cells := crossed.crossed(found)):
        yield crossed.TITLE, crossed.shown(cells), crossed.listed(cells)
    if len(board := judges.judges(found)):
        yield judges.TITLE, judges.shown(board), judges.listed(board)


def common_notes(found: Sequence[SweepJob]) -> list[str]:
    """What every finished run has to say: said once."""
    notes = [job.result["notes"] for job in found if job.result is not None]
    return [
        format.text(note) for note in (notes[0] if notes else []) if all(note in n for n in notes)
    ]


def _fitting(found: Sequence[SweepJob]) -> list[RenderableType]:
    """The table with as much of the intervals as the width allows."""
    from rich.text import Text

    for estimate, gap in ((format.estimate, 2), (format.stacked, 1)):
        grid = terminal.grid(shown(found, estimate), gap)
        if terminal.fits(grid, terminal.width()):
            return [grid]
    bare = terminal.grid(
        _narrow(shown(found, lambda *parts: format.stacked(parts[0], None, None))), gap=1
    )
    whole = bare if terminal.fits(bare, terminal.width()) else terminal.rendered([bare], UNBROKEN)
    return [whole, Text("95 % intervals: in comparison.csv and the report", style="dim")]


def _narrow(columns: Sequence[Column]) -> list[Column]:
    return [replace(column, heading=column.heading.replace(" ", "\n")) for column in columns]


def _two_lines(value: object, low: object, high: object) -> str:
    return format.estimate(value, low, high).replace(" ", "\n", 1)


def _fixed(found: Sequence[SweepJob]) -> str:
    """What all jobs were given alike."""
    keys = found[0].settings
    return " ".join(f"{key}={value}" for key, value in keys.items() if key not in axes(found))


def _body(found: Sequence[SweepJob], into: RunDir) -> Iterator[str]:
    settled = [job for job in found if job.error is None]
    counts = f"{len(settled)} finished, {len(found) - len(settled)} failed"
    yield html.tag("p", " · ".join(part for part in (counts, _fixed(found)) if part), "sub")
    yield html.notes(warnings(found), "missing")
    yield html.notes(
        dict.fromkeys(note for job in settled if job.result for note in job.result["notes"])
    )
    yield html.tag("h2", "All runs")
    first = len(axes(found))
    spans = {
        place: (first, f"failed: {job.error}")
        for place, job in enumerate(found)
        if job.error is not None
    }
    yield html.table(shown(found, _two_lines), spans)
    yield html.tag("p", f"{LEGEND} comparison.csv, comparison.json", "note")
    yield from _repeats(found)
    cells = crossed.crossed(found)
    if len(cells):
        yield html.tag("h2", crossed.TITLE)
        yield html.table(crossed.shown(cells))
        yield html.tag("p", crossed.NOTE, "note")
    board = judges.judges(found)
    if len(board):
        yield html.tag("h2", judges.TITLE)
        yield html.table(judges.shown(board))
        yield html.tag("p", judges.NOTE, "note")
        yield html.tag("h2", judges.CELLS_TITLE)
        yield html.table(judges.cells(board))
    drawn = {"points": points(found), "attack_table": cells, "judges": board}
    yield from _figures(drawn, into)
    yield html.tag("h2", "The runs")
    yield "<ul>" + "".join(f"<li>{_link(job, into.path)}</li>" for job in settled) + "</ul>"


def _failures(found: Sequence[SweepJob]) -> dict[str, list[SweepJob]]:
    """Error -> the jobs that failed with it."""
    errors: dict[str, list[SweepJob]] = {}
    for job in found:
        if job.error is not None:
            errors.setdefault(job.error, []).append(job)
    return errors


def _repeats(found: Sequence[SweepJob]) -> Iterator[str]:
    commands = [job.command for job in found if job.error is not None and job.overrides]
    if commands:
        yield html.tag("h2", "Repeat what failed")
        yield html.code("\n".join(commands), "command")


def _figures(tables: dict[str, DataFrame], into: RunDir) -> Iterator[str]:
    for name in (name for name, needs in FIGURES.items() if len(tables[needs])):
        figure = draw(name, tables)
        svg = saved(figure, "svg")
        into.write_bytes(f"figures/{name}.png", saved(figure, "png"))
        into.write_bytes(f"figures/{name}.svg", svg)
        yield html.tag("h2", title(name))
        yield html.drawing(name, svg, title(name), caption(name, tables))


def _link(job: SweepJob, folder: Path) -> str:
    assert job.run is not None
    target = os.path.relpath(job.run / "report.html", folder)
    return f'<a href="{escape(quote(target))}">{escape(format.text(job.run.name))}</a>'


def _entry(job: SweepJob) -> dict[str, Any]:
    return {
        "job": job.number,
        "overrides": list(job.overrides),
        "settings": job.settings,
        "run": None if job.run is None else str(job.run),
        "error": job.error,
        "estimators": list((job.result or {}).get("estimators", ())),
        "summary": dict(job.summary),
    }
