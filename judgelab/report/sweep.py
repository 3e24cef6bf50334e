"""The end of a sweep: its runs side by side on the console, as CSV, and as a page."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from judgelab.core.errors import JudgelabError, PartialRunError
from judgelab.report import console, format, style
from judgelab.report.comparison import comparisons, drawings_of
from judgelab.report.jobs import SweepJob, axes, jobs, warnings
from judgelab.report.page import render, write_csv
from judgelab.report.sweep_answer import LEGEND, answer, best_first, shown, table
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from rich.console import RenderableType


def conclude(folder: Path) -> int:
    """Print the comparison of a sweep, write it, and return the exit code of the worst job."""
    found = best_first(jobs(folder))
    write(folder)
    console.page(screen(found, folder))
    if any(job.error is not None for job in found):
        return JudgelabError.exit_code
    return PartialRunError.exit_code if any(job.partial for job in found) else 0


def write(folder: Path) -> Path:
    """Write comparison.csv, figures and report.html; returns the latter.

    Beside them the tables that studies add.

    Args:
        folder: hydra.sweep.dir; holds a folder with job.json for every job.

    Raises:
        JudgelabError: there are no jobs, or a result cannot be read.
    """
    found, into = best_first(jobs(folder)), RunDir(folder)
    sections = comparisons(found)
    write_csv(into, "comparison.csv", table(found))
    for section in (one for one in sections if one.tables):
        write_csv(into, f"{section.name}.csv", section.rows)
    tables = {section.name: section.rows for section in sections}
    names = [name for section in sections for name in section.figures]
    failed = {place: job for place, job in enumerate(found) if job.error is not None}
    runs = [job.run for job in found if job.run is not None]
    words = Counter(job.status.partition(":")[0] for job in found)
    text = render(
        "sweep.html",
        heading=f"{_rehearsal(found)}{len(found)} runs: {' × '.join(axes(found))}",
        facts=[", ".join(f"{count} {word}" for word, count in words.items())],
        warnings=[*(f"Job {j.number}: {j.partial}" for j in found if j.partial), *warnings(found)],
        answer=answer(found, sections),
        notes=list(dict.fromkeys(note for job in found for note in job.notes)),
        columns=shown(found),
        spans={p: (len(axes(found)), f"failed: {job.error}") for p, job in failed.items()},
        legend=LEGEND,
        repeats=[job.command for job in found if job.overrides and job.status != "done"],
        sections=sections,
        figures=style.write(into, names, tables, drawings_of(job.run for job in found)),
        runs={run.name: os.path.relpath(run / "report.html", into.path) for run in runs},
    )
    return into.write_text("report.html", text)


def screen(found: Sequence[SweepJob], folder: Path | None) -> list[RenderableType]:
    """The answer, the one table, what failed with the command that repeats it, notes, files."""
    parts: list[RenderableType] = ["", *(console.line(w, "yellow") for w in warnings(found))]
    sections = comparisons(found)
    for heading, sentences in answer(found, sections):
        parts += ["", console.line(heading, console.HEADING), console.line(sentences)]
    title = f"{_rehearsal(found)}Comparison of {format.counted(len(found), 'run')}"
    parts += ["", console.line(title, console.HEADING), *_fitting(found)]
    for one in (one for one in sections if one.tables):
        title, columns = next(iter(one.tables.items()))
        few = [replace(each, cells=each.cells[: console.SCREEN]) for each in columns]
        parts += console.section(
            title, few, f"{one.name}.csv", len(columns[0].cells[console.SCREEN :])
        )
    for error in dict.fromkeys(job.error for job in found if job.error is not None):
        failed = [job for job in found if job.error == error]
        numbers = ", ".join(str(job.number) for job in failed)
        said = f"job{'s' if len(failed) > 1 else ''} {numbers} failed: {format.text(error)}"
        parts += ["", console.line(said, "red")]
        parts += [f"  {job.command}" for job in failed if job.overrides]
    for job in (job for job in found if job.partial):
        parts += ["", console.line(f"job {job.number}: {format.text(job.partial)}", "yellow")]
        parts.append(f"  {job.command}")
    finished = [job for job in found if job.result is not None]
    common = finished[0].notes if finished else ()
    common = [note for note in common if all(note in job.notes for job in finished)]
    parts += ["", *(console.line(format.text(note)) for note in common)]
    if folder is not None:  # runs that no sweep made have no page of their own
        files = {"report": "report.html", "table": "comparison.csv"}
        parts += ["", *(f"{what:<9}{folder / name}" for what, name in files.items())]
    return parts


def _rehearsal(found: Sequence[SweepJob]) -> str:
    return "Rehearsal: " if any(job.summary.get("rehearsal") for job in found) else ""


def _fitting(found: Sequence[SweepJob]) -> list[RenderableType]:
    """The table, without the intervals where the width has no room for them."""
    columns = shown(found)
    if len(console.fitting(columns)) == len(columns):
        return [console.grid(columns)]
    bare = [
        replace(
            one,
            heading=one.heading.replace(" ", "\n"),
            cells=tuple(cell.partition(" [")[0] for cell in one.cells)
            if one.numeric
            else one.cells,
        )
        for one in columns
    ]
    said = "95 % intervals: in comparison.csv and the report"
    return [console.grid(bare), console.line(said, "dim")]
