"""The end of a sweep: its runs side by side, best first, on the console, as CSV and as a page."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import JudgelabError, PartialRunError
from judgelab.core.result import Headline, flat_estimate, read_estimate
from judgelab.report import console, format, style
from judgelab.report.format import Column, column, estimates
from judgelab.report.jobs import (
    Comparison,
    SweepJob,
    axes,
    comparisons,
    drawings_of,
    estimators,
    headlines,
    job_name,
    jobs,
    marked,
    option,
    setting,
    warnings,
)
from judgelab.report.page import write_csv
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import RenderableType

MOST = 4  # names in a sentence
MANY = 7  # others from which on the first may be so by chance
LEGEND = (
    "Intervals over items: 95 %, of leaderboards 90 %; unscored counts texts without a score, "
    "missing calls those that failed or could not be read."
)
PANELS = ("attacked", "change")
"""Beside a headline of clean texts: the same under an attack, and the difference."""
TEXTS, CALLS = "unscored_texts", "unscored_calls"
"""How keys of a summary end that count texts without a score, and calls without a result."""
Said = tuple[str, str]  # heading, sentences


def conclude(folder: Path) -> int:
    """Print the comparison of a sweep, write it, and return the exit code of the worst job."""
    in_rank = best_first(jobs(folder))
    write(folder)
    console.page(screen(in_rank, folder))
    if any(job.error is not None for job in in_rank):
        return JudgelabError.exit_code
    return PartialRunError.exit_code if any(job.partial for job in in_rank) else 0


def write(folder: Path) -> Path:
    """Write comparison.csv, the tables that studies add, figures and report.html, which is
    returned (JudgelabError: there are no jobs, or a result cannot be read)."""
    in_rank, into = best_first(jobs(folder)), RunDir(folder)
    sections = comparisons(in_rank)
    write_csv(into, "comparison.csv", table(in_rank))
    for section in (one for one in sections if one.tables):
        write_csv(into, f"{section.name}.csv", section.rows)
    tables = {section.name: section.rows for section in sections}
    names = [name for section in sections for name in section.figures]
    varied, runs = axes(in_rank), [job.run for job in in_rank if job.run is not None]
    words = Counter(job.status.partition(":")[0] for job in in_rank)
    partial = [f"Job {job.number}: {job.partial}" for job in in_rank if job.partial]
    text = format.render(
        "sweep.html",
        heading=f"{_rehearsal(in_rank)}{len(in_rank)} runs: {' × '.join(varied)}",
        facts=[", ".join(f"{count} {word}" for word, count in words.items())],
        warnings=[*partial, *warnings(in_rank)],
        answer=answer(in_rank, sections),
        notes=list(dict.fromkeys(note for job in in_rank for note in job.notes)),
        columns=job_columns(in_rank),
        spans={k: (len(varied), job.status) for k, job in enumerate(in_rank) if job.error},
        legend=LEGEND,
        repeats=[job.command for job in in_rank if job.overrides and job.status != "done"],
        sections=sections,
        figures=style.write(into, names, tables, drawings_of(job.run for job in in_rank)),
        runs={run.name: os.path.relpath(run / "report.html", into.path) for run in runs},
    )
    return into.write_text("report.html", text)


def screen(in_rank: Sequence[SweepJob], folder: Path | None) -> list[RenderableType]:
    """The answer, the one table, what failed with the command that repeats it, notes, files."""
    parts: list[RenderableType] = ["", *(console.line(w, "yellow") for w in warnings(in_rank))]
    sections = comparisons(in_rank)
    for heading, sentences in answer(in_rank, sections):
        parts += ["", console.line(heading, console.HEADING), console.line(sentences)]
    title = f"{_rehearsal(in_rank)}Comparison of {format.counted(len(in_rank), 'run')}"
    parts += ["", console.line(title, console.HEADING), *_fitting(in_rank)]
    for one in (one for one in sections if one.tables):
        title, columns = next(iter(one.tables.items()))
        few = [replace(each, cells=each.cells[: console.SCREEN]) for each in columns]
        more = len(columns[0].cells[console.SCREEN :])
        parts += console.section(title, few, f"{one.name}.csv", more)
    for why in filter(None, dict.fromkeys(job.error or job.partial for job in in_rank)):
        own = [job for job in in_rank if why in (job.error, job.partial)]
        word, colour = ("failed, ", "red") if own[0].error else ("", "yellow")
        numbers = ", ".join(str(job.number) for job in own)
        parts += ["", console.line(f"{word}job {numbers}: {format.text(why)}", colour)]
        parts += [f"  {job.command}" for job in own if job.overrides]
    notes = [job.notes for job in in_rank if job.result is not None]
    common = [note for note in (notes or [[]])[0] if all(note in own for own in notes)]
    parts += ["", *(console.line(format.text(note)) for note in common)]
    if folder is not None:  # runs that no sweep made have no page of their own
        parts += ["", f"report   {folder / 'report.html'}", f"table    {folder / 'comparison.csv'}"]
    return parts


def _rehearsal(in_rank: Sequence[SweepJob]) -> str:
    return "Rehearsal: " if any(job.summary.get("rehearsal") for job in in_rank) else ""


def _fitting(in_rank: Sequence[SweepJob]) -> list[RenderableType]:
    """The table, without the intervals where the width has no room for them."""
    columns, bare = job_columns(in_rank), list[Column]()
    if len(console.fitting(columns)) == len(columns):
        return [console.grid(columns)]
    for one in columns:
        cells = tuple(cell.partition(" [")[0] if one.numeric else cell for cell in one.cells)
        bare.append(replace(one, heading=one.heading.replace(" ", "\n"), cells=cells))
    note = "95 % intervals: in comparison.csv and the report"
    return [console.grid(bare), console.line(note, "dim")]


def best_first(jobs: Sequence[SweepJob]) -> list[SweepJob]:
    """Jobs by ``sorted_by``, failed ones last; in the order given where no figure is comparable."""
    by = sorted_by(jobs)
    if by is None:
        return list(jobs)
    sign, key = 1 if by.lower else -1, by.key  # stable: attacks of one stay together
    return sorted(jobs, key=lambda job: sign * job.summary.get(key, sign * math.inf))


def sorted_by(jobs: Sequence[SweepJob]) -> Headline | None:
    """The first headline that all finished jobs have."""
    complete = [job for job in jobs if job.result is not None]
    for one in headlines(complete):
        if all(isinstance(job.summary.get(one.key), int | float) for job in complete):
            return one
    return None


def answer(jobs: Sequence[SweepJob], sections: Sequence[Comparison] = ()) -> list[Said]:
    """(heading, sentences): who is first and who is not shown to be behind; what studies add."""
    with_result = [job for job in best_first(jobs) if job.result is not None]
    own = [sentences for one in sections for sentences in one.answer]
    titles = [str((job.result or {}).get("title", "")) for job in with_result]
    if not all(titles):
        return [*_first_by_dataset(with_result, jobs), *own]
    parts = [
        (job_name(job, axes(jobs)) or "Run", t) for job, t in zip(with_result, titles, strict=True)
    ]
    if (more := len(titles) - MOST) > 0:
        parts[MOST:] = [("And more", f"{format.counted(more, 'run')} more in the table.")]
    return [*parts, *own]


def _first_by_dataset(with_result: Sequence[SweepJob], jobs: Sequence[SweepJob]) -> list[Said]:
    """Within each dataset: how easy the texts are is no merit of what scores them."""
    by = sorted_by(jobs)
    if by is None:
        return []
    apart = "dataset" in axes(jobs)
    data: dict[str, dict[str, SweepJob]] = {}
    for job in with_result:  # each name once, by its best job
        by_name = data.setdefault(option(job, "dataset") if apart else "", {})
        by_name.setdefault(name_of(job, jobs), job)
    parts = [
        (f"On {one}" if apart else "Compared", _first(by_name, by))
        for one, by_name in data.items()
        if len(by_name) > 1
    ]
    if parts or len(data) < 2:
        return parts[:MOST]
    most, *_, least = (f"{option(job, 'dataset')} with {_cell(job, by)}" for job in with_result)
    return [("Compared", f"{by.name}: most on {most}, least on {least}. The data differ, too.")]


def _first(by_name: Mapping[str, SweepJob], by: Headline) -> str:
    """Who is first, and how sure that is; ``by_name`` has the best first."""
    (first, best), *others = by_name.items()
    _, low, high = _estimate(best, by)
    ends = {name: _estimate(job, by)[1:] for name, job in others}
    close = [n for n, (a, b) in ends.items() if not (a > high if by.lower else b < low)]
    gains = {name: read_estimate(job.summary, by.gain)["low"] for name, job in by_name.items()}
    least_gains = {name: least for name, least in gains.items() if least is not None}
    more = [name for name, least in least_gains.items() if least > 0]
    about = {"by": by, "first": first, "figure": _cell(best, by), "n": len(by_name), "most": MOST}
    about |= {"close": None if math.isnan(low) else close, "more": more if least_gains else None}
    about["guess"] = by.chance is not None and not low > by.chance
    return " ".join(format.sentences("first.md.j2", many=MANY, **about))


def name_of(
    job: SweepJob, jobs: Sequence[SweepJob], without: Sequence[str] = ("attack", "dataset")
) -> str:
    """What tells it from other jobs, but for its attack and data."""
    keys = [key for key in axes(jobs) if key.partition(".")[0] not in without]
    return job_name(job, keys) or str(job.summary.get("mechanism", ""))


def _estimate(job: SweepJob, by: Headline) -> list[float]:
    """Value and ends of its interval; NaN where they are not known."""
    one = read_estimate(job.summary, by.key)
    return [math.nan if one[part] is None else one[part] for part in ("value", "low", "high")]


def _cell(job: SweepJob, by: Headline) -> str:
    return format.estimate(*_estimate(job, by))


def job_columns(jobs: Sequence[SweepJob]) -> list[Column]:
    """One row per job: what varies, items, the figures of its study, texts without a score."""
    columns = [column(key, [setting(job, key) for job in jobs], key) for key in axes(jobs)]
    items = [job.summary.get("items") for job in jobs]
    beside = {"estimator": [mark or None for mark in marked(jobs)], "items": items}
    columns += [column(key, cells) for key, cells in beside.items() if any(cells)]
    once: dict[tuple[Any, ...], Column] = {}  # no figure twice under two names
    for key in metrics(jobs):
        figure = _figure(jobs, key)
        paper = [job.summary.get(f"printed/{key}") for job in jobs]
        is_printed = any(value is not None for value in paper)  # a printed 0 is a number
        if once.setdefault(figure.cells, figure) is figure and is_printed:
            once[("printed", key)] = column(f"printed/{key}", paper, "printed")
    figures = list(once.values())
    if figures:
        cells = tuple(
            "failed" if job.error else f"{cell} (partial)" if job.partial else cell
            for job, cell in zip(jobs, figures[0].cells, strict=True)
        )
        figures[0] = replace(figures[0], cells=cells)
    columns += [*figures, column("unscored", [_sum_of(job, TEXTS) for job in jobs])]
    if any(unanswered := [_sum_of(job, CALLS) for job in jobs]):
        columns.append(column("missing_calls", unanswered, "missing\ncalls"))
    return columns


def _figure(jobs: Sequence[SweepJob], key: str) -> Column:
    """An estimate; or a word, as a verdict is."""
    values = [job.summary.get(key) for job in jobs]
    heading = format.words(key)
    spaces = [k for k, letter in enumerate(heading) if letter == " "]
    if spaces:  # in two lines
        middle = min(spaces, key=lambda k: abs(k - len(heading) / 2))
        heading = f"{heading[:middle]}\n{heading[middle + 1 :]}"
    if any(isinstance(value, str) for value in values):
        return column(key, values, heading)
    return estimates(key, [read_estimate(job.summary, key) for job in jobs], heading)


def table(jobs: Sequence[SweepJob]) -> DataFrame:
    """The same as numbers: every part of every estimate in a column of its own."""
    import pandas as pd

    rows = []
    for job, one, differs in zip(jobs, estimators(jobs), marked(jobs), strict=True):
        row: dict[str, Any] = {"job": job.number, **{key: setting(job, key) for key in axes(jobs)}}
        row |= {"estimator_differs": differs or None, "estimator": one and one.line}
        row |= {"status": job.status, "items": job.summary.get("items")}
        for key in metrics(jobs, every=True):
            row |= flat_estimate(key, read_estimate(job.summary, key))
            row[f"{key}_printed"] = job.summary.get(f"printed/{key}")
        row |= {"unscored_texts": _sum_of(job, TEXTS), "missing_calls": _sum_of(job, CALLS)}
        rows.append(row | {"run": job.run and job.run.name})
    data = pd.DataFrame(rows).dropna(axis="columns", how="all")
    whole = ("items", "unscored_texts", "missing_calls", "_n", "_unscored")
    counts = [name for name in data if str(name).endswith(whole)]
    return data.astype(dict.fromkeys(counts, "Int64"))  # counts stay whole where one is missing


def metrics(jobs: Sequence[SweepJob], *, every: bool = False) -> list[str]:
    """Summary keys of what these runs have to show: headlines, their gains, primary figures; of the
    primary figures, or of ``every`` headline, also under the attack."""
    keys: list[str] = []
    own = [str(job.result["primary"]) for job in jobs if job.result is not None]
    for one in headlines(jobs):
        keys += [one.key, *filter(None, [one.gain])]
        panel, _, statistic = one.key.partition("/")
        if panel == "clean" and (every or one.key in own):
            keys += [f"{other}/{statistic}" for other in PANELS]
    for job in jobs:  # what the paper prints; scores of single agents are their study's to show
        beside = [key.removeprefix("printed/") for key in job.summary if key.startswith("printed/")]
        keys += [key for key in beside if key.startswith(PANELS)]
    keys = list(dict.fromkeys([*keys, *own]))
    present = [key for key in keys if any(job.summary.get(key) is not None for job in jobs)]
    return present or own[:1]


def _sum_of(job: SweepJob, end: str) -> int | None:
    """The sum of what the job counted under keys that end so; None where it did not count."""
    counts = [v for k, v in job.summary.items() if k.endswith(end) and v is not None]
    return sum(counts) if counts else None
