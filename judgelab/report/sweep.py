"""The end of a sweep: its runs side by side on the console, as CSV and JSON, and as a page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import JudgelabError, PartialRunError
from judgelab.report import console, figures, format
from judgelab.report.comparison import comparisons, drawings_of
from judgelab.report.jobs import SweepJob, axes, jobs, warnings
from judgelab.report.page import render, write_csv
from judgelab.report.sweep_answer import answer, best_first
from judgelab.report.sweep_tables import LEGEND, shown, table
from judgelab.store.fingerprint import VOLATILE
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from rich.console import RenderableType

UNBROKEN = 1000  # columns: such a line is left to the terminal to break


def conclude(folder: Path) -> int:
    """Print the comparison of a sweep, write it, and return the exit code of the worst job."""
    found = best_first(jobs(folder))
    write(folder)
    console.page(screen(found, folder))
    if any(job.error is not None for job in found):
        return JudgelabError.exit_code
    return PartialRunError.exit_code if any(job.partial for job in found) else 0


def write(folder: Path) -> Path:
    """Write comparison.csv, comparison.json, figures and report.html; returns the latter.

    Beside them the tables that studies add.

    Args:
        folder: hydra.sweep.dir; holds a folder with job.json for every job.

    Raises:
        JudgelabError: there are no jobs, or a result cannot be read.
    """
    found, into = best_first(jobs(folder)), RunDir(folder)
    sections = comparisons(found)
    into.write_json("comparison.json", [_entry(job) for job in jobs(folder)])
    write_csv(into, "comparison.csv", table(found))
    for section in (one for one in sections if one.tables):
        write_csv(into, f"{section.name}.csv", section.rows)
    tables = {section.name: section.rows for section in sections}
    names = [name for section in sections for name in section.figures]
    failed = {place: job for place, job in enumerate(found) if job.error is not None}
    runs = [job.run for job in found if job.run is not None]
    text = render(
        "sweep.html",
        heading=f"{len(found)} runs: {' × '.join(axes(found))}",
        facts=[_counts(found), _fixed(found)],
        warnings=[*(f"Job {j.number}: {j.partial}" for j in found if j.partial), *warnings(found)],
        answer=answer(found, sections),
        notes=list(dict.fromkeys(note for job in found for note in job.notes)),
        columns=shown(found, _two_lines),
        spans={p: (len(axes(found)), f"failed: {job.error}") for p, job in failed.items()},
        legend=LEGEND,
        repeats=[job.command for job in found if job.overrides and job.status != "done"],
        sections=sections,
        figures=figures.write(into, names, tables, drawings_of(job.run for job in found)),
        runs={run.name: os.path.relpath(run / "report.html", into.path) for run in runs},
    )
    return into.write_text("report.html", text)


def screen(found: Sequence[SweepJob], folder: Path) -> list[RenderableType]:
    """Notes, the one table, what failed with the command that repeats it, and the files."""
    parts: list[RenderableType] = ["", *(console.line(w, "yellow") for w in warnings(found))]
    sections = comparisons(found)
    opening = answer(found, sections)
    for heading, sentences in opening:
        parts += [console.line(heading, console.HEADING), console.line(sentences), ""]
    common = [console.line(note) for note in _common_notes(found)]
    parts += [] if opening else common
    title = f"Comparison of {len(found)} run{'' if len(found) == 1 else 's'}"
    parts += ["", console.line(title, console.HEADING), *_fitting(found)]
    for section in (one for one in sections if one.tables):
        title, columns = next(iter(section.tables.items()))
        kept = console.fitting(columns)
        few = [replace(one, cells=one.cells[: console.SCREEN]) for one in kept]
        parts += ["", console.line(title, console.HEADING), console.grid(few)]
        if few != list(columns):
            parts.append(console.line(f"more in {section.name}.csv and the report", "dim"))
    for error in dict.fromkeys(job.error for job in found if job.error is not None):
        failed = [job for job in found if job.error == error]
        numbers = ", ".join(str(job.number) for job in failed)
        said = f"job{'s' if len(failed) > 1 else ''} {numbers} failed: {format.text(error)}"
        parts += ["", console.line(said, "red")]
        parts += [f"  {job.command}" for job in failed if job.overrides]
    for job in (job for job in found if job.partial):
        parts += ["", console.line(f"job {job.number}: {format.text(job.partial)}", "yellow")]
        parts.append(f"  {job.command}")
    report, csv = folder / "report.html", folder / "comparison.csv"
    parts += ["", *common] if opening else []
    return [*parts, "", f"report   {report}", f"table    {csv}"]


def _counts(found: Sequence[SweepJob]) -> str:
    words = [job.status.partition(":")[0] for job in found]
    still = f"{words.count('partial')} partial, " if "partial" in words else ""
    return f"{words.count('done')} finished, {still}{words.count('failed')} failed"


def _common_notes(found: Sequence[SweepJob]) -> list[str]:
    """The notes of every finished run: said once."""
    finished = [job for job in found if job.result is not None]
    first = finished[0].notes if finished else ()
    return [format.text(note) for note in first if all(note in job.notes for job in finished)]


def _fitting(found: Sequence[SweepJob]) -> list[RenderableType]:
    """The table with as much of the intervals as the width allows."""
    for write, gap in ((format.estimate, 2), (format.stacked, 1)):
        grid = console.grid(shown(found, write), gap)
        if console.fits(grid, console.width()):
            return [grid]
    columns = [replace(c, heading=c.heading.replace(" ", "\n")) for c in shown(found, _value)]
    bare = console.grid(columns, gap=1)
    whole = bare if console.fits(bare, console.width()) else console.rendered([bare], UNBROKEN)
    return [whole, console.line("95 % intervals: in comparison.csv and the report", "dim")]


def _value(value: object, low: object, high: object) -> str:
    return format.stacked(value, None, None)


def _two_lines(value: object, low: object, high: object) -> str:
    return format.estimate(value, low, high).replace(" ", "\n", 1)


def _fixed(found: Sequence[SweepJob]) -> str:
    """What all jobs were given alike, but for what changes no number."""
    said = (
        f"{key}={value}"
        for key, value in found[0].settings.items()
        if key not in axes(found) and key.partition(".")[0] not in VOLATILE
    )
    return " ".join(said)


def _entry(job: SweepJob) -> dict[str, Any]:
    return {
        "job": job.number,
        "overrides": list(job.overrides),
        "settings": job.settings,
        "run": None if job.run is None else str(job.run),
        "error": job.error,
        "partial": job.partial,
        "estimators": list((job.result or {}).get("estimators", ())),
        "summary": dict(job.summary),
    }
