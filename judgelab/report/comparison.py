"""The runs of a sweep side by side: on the console, as CSV and JSON, and as a page."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.report import console, format, html
from judgelab.report.jobs import SweepJob, axes, jobs, warnings
from judgelab.report.study_tables import study_tables
from judgelab.report.sweep_table import LEGEND, points, shown, table
from judgelab.report.tables import Column
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import RenderableType

UNBROKEN = 1000  # columns: such a line is left to the terminal to break


def conclude(folder: Path) -> int:
    """Print the comparison of a sweep, write it, and return how many jobs failed.

    Args:
        folder: hydra.sweep.dir; holds a folder with job.json for every job.

    Raises:
        JudgelabError: there are no jobs, or a result cannot be read.
    """
    found = jobs(folder)
    write(folder)
    console.page(screen(found, folder))
    return sum(job.error is not None for job in found)


def write(folder: Path) -> Path:
    """Write comparison.csv, comparison.json, figures and report.html; returns the latter.

    Beside them, where jobs are of such studies, metrics_by_attacks.csv and judges.csv.

    Raises:
        JudgelabError: there are no jobs, or a result cannot be read.
    """
    found, into = jobs(folder), RunDir(folder)
    sections = list(study_tables(found))
    into.write_json("comparison.json", [_entry(job) for job in found])
    _write_csv(into, "comparison", table(found))
    for section in sections:
        _write_csv(into, section.file, section.rows)
    drawn = {"points": points(found)} | {section.name: section.rows for section in sections}
    names = ["effect_sizes_by_mechanism", "auc_under_attack"] if len(drawn["points"]) else []
    settled = [job for job in found if job.error is None]
    failed = {place: job for place, job in enumerate(found) if job.error is not None}
    text = html.page(
        "sweep.html",
        heading=f"{len(found)} runs: {' × '.join(axes(found))}",
        facts=[f"{len(settled)} finished, {len(failed)} failed", _fixed(found)],
        warnings=warnings(found),
        notes=list(dict.fromkeys(note for job in settled for note in _notes(job))),
        columns=shown(found, _two_lines),
        spans={p: (len(axes(found)), f"failed: {job.error}") for p, job in failed.items()},
        legend=LEGEND,
        repeats=[job.command for job in failed.values() if job.overrides],
        sections=sections,
        figures=html.figures(into, [*names, *(section.figure for section in sections)], drawn),
        runs={run.name: os.path.relpath(run / "report.html", into.path) for run in _runs(settled)},
    )
    return into.write_text("report.html", text)


def screen(found: Sequence[SweepJob], folder: Path) -> list[RenderableType]:
    """Notes, the one table, what failed with the command that repeats it, and the files."""
    from rich.text import Text

    parts: list[RenderableType] = ["", *(Text(said, style="yellow") for said in warnings(found))]
    parts += [Text(note) for note in common_notes(found)]
    parts += ["", Text(f"Comparison of {len(found)} runs", style="bold cyan"), *_fitting(found)]
    for section in study_tables(found):
        title, wide = next(iter(section.tables.items()))
        grid = console.grid(wide)
        fits = console.fits(grid, console.width())
        grid = grid if fits else console.grid(section.narrow)
        parts += ["", Text(title, style="bold cyan"), grid]
    for error, failed in _failures(found).items():
        numbers = ", ".join(str(job.number) for job in failed)
        said = f"job{'s' if len(failed) > 1 else ''} {numbers} failed: {format.text(error)}"
        parts += ["", Text(said, style="red")]
        parts += [f"  {job.command}" for job in failed if job.overrides]
    report, csv = folder / "report.html", folder / "comparison.csv"
    return [*parts, "", f"report   {report}", f"table    {csv}"]


def common_notes(found: Sequence[SweepJob]) -> list[str]:
    """The notes of every finished run: said once."""
    notes = [_notes(job) for job in found if job.result is not None]
    return [
        format.text(note) for note in (notes[0] if notes else []) if all(note in n for n in notes)
    ]


def _notes(job: SweepJob) -> list[str]:
    return [] if job.result is None else list(job.result["notes"])


def _fitting(found: Sequence[SweepJob]) -> list[RenderableType]:
    """The table with as much of the intervals as the width allows."""
    from rich.text import Text

    for write, gap in ((format.estimate, 2), (format.stacked, 1)):
        grid = console.grid(shown(found, write), gap)
        if console.fits(grid, console.width()):
            return [grid]
    bare = console.grid([_narrow(column) for column in shown(found, _value)], gap=1)
    whole = bare if console.fits(bare, console.width()) else console.rendered([bare], UNBROKEN)
    return [whole, Text("95 % intervals: in comparison.csv and the report", style="dim")]


def _narrow(column: Column) -> Column:
    return replace(column, heading=column.heading.replace(" ", "\n"))


def _value(value: object, low: object, high: object) -> str:
    return format.stacked(value, None, None)


def _two_lines(value: object, low: object, high: object) -> str:
    return format.estimate(value, low, high).replace(" ", "\n", 1)


def _fixed(found: Sequence[SweepJob]) -> str:
    """What all jobs were given alike."""
    keys = found[0].settings
    return " ".join(f"{key}={value}" for key, value in keys.items() if key not in axes(found))


def _failures(found: Sequence[SweepJob]) -> dict[str, list[SweepJob]]:
    """Error -> the jobs that failed with it."""
    errors: dict[str, list[SweepJob]] = {}
    for job in found:
        if job.error is not None:
            errors.setdefault(job.error, []).append(job)
    return errors


def _runs(settled: Sequence[SweepJob]) -> Iterator[Path]:
    yield from (job.run for job in settled if job.run is not None)


def _write_csv(into: RunDir, name: str, rows: DataFrame) -> None:
    into.write_text(f"{name}.csv", rows.to_csv(index=False, lineterminator="\n"))


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
