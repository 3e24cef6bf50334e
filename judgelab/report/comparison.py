"""What a study adds to the comparison of its runs, and where a run's own study is found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from judgelab.config.targets import located
from judgelab.core.errors import JudgelabError
from judgelab.report.jobs import SweepJob
from judgelab.report.tables import Column, column

if TYPE_CHECKING:
    from pandas import DataFrame

    from judgelab.report.style import Drawing


@dataclass(frozen=True)
class Comparison:
    """How several runs of one study compare, beyond the headlines of each: ``Study.compare``."""

    name: str  # of the CSV, without its ending, and of the table that figures draw
    rows: DataFrame  # all numbers
    note: str = ""  # how to read it
    # heading -> columns, for the page; the first for the console, too. Without any the numbers are
    # only drawn.
    tables: Mapping[str, Sequence[Column]] = field(default_factory=dict)
    figures: Sequence[str] = ()  # names of the study's drawings of these rows
    answer: Sequence[tuple[str, str]] = ()  # (heading, sentences) for the top of page and console


def keyed(rows: Sequence[Mapping[str, Any]], key: str, heading: str | None = None) -> Column:
    """The column that these rows have under a key."""
    return column(key, [row[key] for row in rows], heading)


def comparisons(jobs: Sequence[SweepJob]) -> list[Comparison]:
    """What the studies of these jobs, each of its own jobs, have to add."""
    by_study: dict[Any, list[SweepJob]] = {}
    for job in jobs:
        if job.run is not None and (study := study_of(job.run)) is not None:
            by_study.setdefault(study, []).append(job)
    return [one for study, own in by_study.items() for one in study.compare(own)]


def drawings_of(runs: Iterable[Path | None]) -> dict[str, Drawing]:
    """Name -> drawing, of the studies of these runs."""
    studies = dict.fromkeys(study_of(run) for run in runs if run is not None)
    return {
        name: drawing
        for study in studies
        if study is not None
        for name, drawing in study.drawings.items()
    }


def study_of(run: Path) -> Any | None:
    """The class of the study of a run, by its config; None where that is not to be had here.

    A study of the user's own is known in the process that trusts it; read again without, its runs
    have what every run has.
    """
    try:
        config = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
        return located(config["study"]["_target_"], "study")
    except (OSError, LookupError, TypeError, JudgelabError):
        return None
