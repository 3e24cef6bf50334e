"""What a notebook shows of a run, or of several: the answer and its figures, without a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judgelab.core.result import read_estimate
from judgelab.report import format
from judgelab.report.jobs import SweepJob, axes
from judgelab.report.page import heading, headline, render
from judgelab.report.sweep_tables import LEGEND, shown
from judgelab.report.tables import Column, column, estimates


def primary(result: Mapping[str, Any]) -> str:
    """The figure that the study is about, in words."""
    key = result["primary"]
    found = read_estimate(result["summary"], key)
    said = format.estimate(found["value"], found["low"], found["high"])
    n = "" if found["n"] is None else f", n = {format.number(found['n'])}"
    return f"{format.words(key)}: {said}{n}."


def of_run(result: Mapping[str, Any], answer: str, folder: Path) -> str:
    """The answer, the figures with their intervals, what is not scored, and where the page is."""
    summary = result["summary"]
    keys = [key for keys in headline(result).values() for key in keys]
    found = [read_estimate(summary, key) for key in keys]
    parts: list[Column] = [
        column("figure", [format.words(key) for key in keys]),
        estimates("value", found, "value [interval]"),
        *(column(part, [one[part] for one in found]) for part in ("n", "unscored", "p")),
    ]
    alarms = [result.get("partial", {}).get("sentence")]
    alarms += [summary.get(key) for key in ("model_warning", "unscored_warning")]
    return render(
        "cell.html",
        heading=heading(result),
        answer=answer.splitlines(),
        warnings=[said for said in alarms if said],
        columns=parts,
        notes=result["notes"],
        legend="",
        page=str(folder / "report.html"),
    )


def of_runs(jobs: Sequence[SweepJob], warnings: Sequence[str]) -> str:
    """The comparison of a sweep, on one page width."""
    return render(
        "cell.html",
        heading=f"{len(jobs)} runs: {' × '.join(axes(jobs))}",
        answer=[],
        warnings=warnings,
        columns=shown(jobs),
        notes=[],
        legend=LEGEND,
        page="",
    )
