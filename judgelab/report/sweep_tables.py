"""The table of a sweep: a row for each run, with what varies and the figures of its study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judgelab.core.result import flat_estimate, read_estimate
from judgelab.report import format
from judgelab.report.jobs import SweepJob, axes, estimators, headlines, marked, setting
from judgelab.report.tables import Column, Write, column, estimates

if TYPE_CHECKING:
    from pandas import DataFrame

LEGEND = (
    "Intervals over items: 95 %, of leaderboards 90 %; unscored counts texts without a score, "
    "missing calls those that failed or could not be read."
)
PANELS = ("attacked", "change")
"""Beside a headline of clean texts: the same under an attack, and the difference."""
COUNTS = ("items", "unscored_texts", "missing_calls")


def shown(found: Sequence[SweepJob], write: Write = format.estimate) -> list[Column]:
    """One row per job: what varies, items, the figures of its study, texts without a score."""
    made = [column(key, [setting(job, key) for job in found], key) for key in axes(found)]
    if any(differs := marked(found)):
        made.append(column("estimator", [mark or None for mark in differs]))
    if any("items" in job.summary for job in found):
        made.append(column("items", [job.summary.get("items") for job in found]))
    once: dict[tuple[Any, ...], Column] = {}  # no figure twice under two names
    for one in (_figure(found, key, write) for key in metrics(found)):
        once.setdefault(one.sort, one)
    measured = list(once.values())
    if measured:
        pairs = zip(found, measured[0].cells, strict=True)
        cells = tuple(
            "failed" if job.error is not None else f"{cell} (partial)" if job.partial else cell
            for job, cell in pairs
        )
        measured[0] = replace(measured[0], cells=cells)
    made += [*measured, column("unscored", [unscored(job) for job in found])]
    if any(missing := [missing_calls(job) for job in found]):
        made.append(column("missing_calls", missing, "missing\ncalls"))
    return made


def _figure(found: Sequence[SweepJob], key: str, write: Write) -> Column:
    """An estimate; or a word, as a verdict is."""
    values = [job.summary.get(key) for job in found]
    heading = _two_lines(format.words(key))
    if any(isinstance(value, str) for value in values):
        return column(key, values, heading)
    return estimates(key, [read_estimate(job.summary, key) for job in found], heading, write)


def _two_lines(words: str) -> str:
    """Broken at the space nearest to the middle."""
    spaces = [k for k, letter in enumerate(words) if letter == " "]
    if not spaces:
        return words
    place = min(spaces, key=lambda k: abs(k - len(words) / 2))
    return f"{words[:place]}\n{words[place + 1 :]}"


def table(found: Sequence[SweepJob]) -> DataFrame:
    """The same as numbers: every part of every estimate in a column of its own."""
    import pandas as pd

    rows = []
    for job, one, differs in zip(found, estimators(found), marked(found), strict=True):
        row: dict[str, Any] = {"job": job.number}
        row |= {key: setting(job, key) for key in axes(found)}
        row["estimator_differs"] = differs or None
        row["estimator"] = None if one is None else one.line
        row["status"] = job.status
        row["items"] = job.summary.get("items")
        for key in metrics(found, every=True):
            row |= flat_estimate(key, read_estimate(job.summary, key))
        row["unscored_texts"] = unscored(job)
        row["missing_calls"] = missing_calls(job)
        row["run"] = None if job.run is None else job.run.name
        rows.append(row)
    made = pd.DataFrame(rows).dropna(axis="columns", how="all")
    counts = [name for name in made if name in COUNTS or str(name).endswith(("_n", "_unscored"))]
    return made.astype(dict.fromkeys(counts, "Int64"))  # counts stay whole where one is missing


def metrics(found: Sequence[SweepJob], *, every: bool = False) -> list[str]:
    """Summary keys of what these runs have to show: headlines, their gains, primary figures.

    Of the primary figures, or of ``every`` headline, also under the attack.
    """
    keys: list[str] = []
    own = [str(job.result["primary"]) for job in found if job.result is not None]
    for one in headlines(found):
        keys += [one.key, *filter(None, [one.gain])]
        panel, _, statistic = one.key.partition("/")
        if panel == "clean" and (every or one.key in own):
            keys += [f"{other}/{statistic}" for other in PANELS]
    known = [key for key in keys if any(job.summary.get(key) is not None for job in found)]
    if known:
        own = [key for key in own if any(job.summary.get(key) is not None for job in found)]
    return list(dict.fromkeys([*known, *own]))


def unscored(job: SweepJob) -> int | None:
    """Texts without a score, clean and attacked together; None where they were not counted."""
    counts = [v for k, v in job.summary.items() if k.endswith("unscored_texts") and v is not None]
    return sum(counts) if counts else None


def missing_calls(job: SweepJob) -> int | None:
    """Calls that failed or could not be read, on every panel; None where they were not counted."""
    kinds = ("/unread_calls", "/failed_calls", "/unknown_calls")
    counts = [value for key, value in job.summary.items() if key.endswith(kinds)]
    return sum(counts) if counts else None
