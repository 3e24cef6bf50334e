"""Runs and sweeps as a tracker sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.core.result import Headline, Result, Table
from judgelab.engine.execution import Invocation
from judgelab.engine.sweep import SweepName
from judgelab.report.jobs import SweepJob, axes, comparisons, job_name, jobs, setting
from judgelab.report.sweep import answer, best_first, table
from judgelab.report.tables import records
from judgelab.store.run_dir import RunDir
from judgelab.tracker.protocol import (
    Careful,
    TrackedRun,
    TrackedSweep,
    Tracker,
    bars,
    carefully,
    in_words,
)

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN = ("study", "mechanism", "dataset", "attack", "evaluation_lm")
"""Axes by which runs are grouped and found."""


def tracked(
    run_dir: RunDir, config: Mapping[str, Any], call: Invocation, named_by: Sequence[str]
) -> TrackedRun:
    """A run; a job of a multirun is called by what it alone has, and any other by its folder.

    Args:
        named_by: of its study; where the mechanism is none of them, the study chooses its judges.
    """
    axes = SHOWN if "mechanism" in named_by else ("study", *named_by)
    shown = {axis: call.option(axis, config) for axis in axes}
    if call.sweep is None:
        return TrackedRun(run_dir.path, config, None, run_dir.path.name, shown)
    sweep = SweepName.read(call.sweep)
    job = SweepJob(0, tuple(call.words or ()), call.choices, None, None, None)
    name = job_name(job, sweep.varies) or run_dir.path.name
    varied = {key: setting(job, key) for key in sweep.varies}
    return TrackedRun(run_dir.path, config, sweep.name, name, shown | varied)


def catch_up(tracker: Tracker, run: TrackedRun, run_dir: RunDir) -> None:
    """Publish a run that was finished before, where no tracker shows it yet."""
    manifest = run_dir.read_json("manifest.json")
    if str(manifest.get("tracker") or "failed").startswith("failed"):
        place = Careful(tracker, run).publish(Result.read(run_dir.path))
        if place is not None:
            run_dir.write_json("manifest.json", manifest | {"tracker": place})


def compare(tracker: Tracker, folder: Path) -> str | None:
    """Publish a finished sweep, whose page is written, as one thing; None: it shows none."""
    return carefully(
        lambda: tracker.compare(tracked_sweep(folder)), "the comparison is kept on disk"
    )


def tracked_sweep(folder: Path) -> TrackedSweep:
    """What lies in the folder of a finished sweep."""
    found, name = jobs(folder), SweepName.read(folder)
    keys = name.varies or axes(found)
    ranked = best_first(found)
    names = [job_name(job, keys) for job in ranked]
    compared = table(ranked)
    compared.insert(1, "name", names)
    manifests = [RunDir(job.run).read_json("manifest.json") if job.run else {} for job in ranked]
    compared["tracker"] = [one.get("tracker") for one in manifests]
    sections = comparisons(ranked)
    words = [job.status.partition(":")[0] for job in found]
    return TrackedSweep(
        folder=folder,
        name=name.name,
        axes={key: list(dict.fromkeys(setting(job, key) for job in found)) for key in keys},
        tables=[
            _table("comparison", compared),
            *(_table(one.name, one.rows) for one in sections if one.tables),
            Table("all_bars", "Figures with intervals", _drawn(ranked, names)),
        ],
        summary=in_words(answer(found, sections))
        | {"jobs": len(found)}
        | {word: words.count(word) for word in sorted({*words})},
    )


def _drawn(found: Sequence[SweepJob], names: Sequence[str]) -> list[Mapping[str, Any]]:
    """Rows for the charts of a sweep: those of its jobs, one after the other."""
    rows: list[Mapping[str, Any]] = []
    for job, name in zip(found, names, strict=True):
        if job.result is not None:
            own = {axis: setting(job, axis) for axis in SHOWN}
            by = [Headline(**one) for one in job.result.get("headlines", ())]
            first = [row for one in job.result["tables"][:1] for row in one["rows"]]
            judges = [row for row in first if "judge" in row]
            rows += bars(job.summary, str(job.result["primary"]), by, name, own, judges)
    return rows


def _table(name: str, data: DataFrame) -> Table:
    return Table(name, name, records(data.astype(object).where(data.notna(), None)))
