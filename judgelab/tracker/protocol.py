"""Interface for trackers, the guard that keeps their faults out of a run, and what all show."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from judgelab.core.result import Result, Row, Table, Value, estimate_keys, read_estimate
from judgelab.core.terminal import say

PANELS = {"clean": "", "attacked": "", "change": "change of "}
"""What is drawn beside the primary figure, and how a statistic is called there."""
SHOWN = ("study", "mechanism", "dataset", "attack", "evaluation_lm")
"""Axes by which runs are grouped and found."""


@dataclass(frozen=True)
class TrackedRun:
    """What a tracker may see of a run: what is on disk, and free of secrets."""

    folder: Path  # the run directory, by its name; when the run is published, complete but for DONE
    config: Mapping[str, Any]  # the resolved config
    sweep: str | None  # name of the multirun it belongs to, or None
    name: str  # what the run is among others; in a sweep, what differs there
    # axis -> option (``mechanism: mi``), and what else a sweep varies
    axes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TrackedSweep:
    """What a tracker may see of a finished sweep."""

    folder: Path  # of the sweep: report.html, comparison.csv, figures
    name: str  # the group of its runs
    axes: Mapping[str, Sequence[str]]  # axis -> options, of what the sweep varies
    # the comparison first; a row for each job, finished before the sweep or by it, the best first
    tables: Sequence[Table]
    summary: Mapping[str, Value]  # its answer in words where it has one, and counts of jobs


class Mirror:
    """One run as a tracker shows it, here not at all. Methods may raise: the run goes on."""

    def point(self, curve: str, row: Mapping[str, float]) -> None:
        """What is known at a ``step``, while the run goes on; ``curve`` names the table of the
        result that will hold it."""

    def publish(self, result: Result) -> str | None:
        """Mirror what the finished run found; returns where to look, or None."""
        return None

    def close(self) -> None:
        """The run ends without a result; what was mirrored stays."""


class Tracker(Protocol):
    """A mirror of runs and sweeps; what is on disk stays the truth."""

    def follow(self, run: TrackedRun) -> Mirror:
        """Begin to mirror a run; nothing is opened before there is something to show."""
        ...

    def compare(self, sweep: TrackedSweep) -> str | None:
        """Mirror a finished sweep as one thing; returns where to look, or None."""
        ...


class Careful(Mirror):
    """A tracker's mirror of one run; whatever it raises becomes a warning on stderr."""

    def __init__(self, tracker: Tracker, run: TrackedRun) -> None:
        self._mirror = tracker.follow(run)
        self._broken = False

    def point(self, curve: str, row: Mapping[str, float]) -> None:
        """After a fault, no more points are sent."""
        if not self._broken:
            send = partial(self._mirror.point, curve, row)
            self._broken = carefully(send, "curves are kept on disk") is not None

    def publish(self, result: Result) -> str | None:
        """Print where to look; "failed: ..." after a fault."""
        return carefully(lambda: self._mirror.publish(result), "the run is kept on disk")

    def close(self) -> None:
        """A fault changes nothing."""
        carefully(self._mirror.close, "what it showed stays")


def carefully(show: Callable[[], str | None], assurance: str) -> str | None:
    """Print where what is shown can be seen; a fault becomes a warning and "failed: ..."."""
    try:
        place = show()
    except Exception as cause:
        reason = " ".join(str(cause).split())
        say(f"warning: the tracker failed, {assurance}: {reason}", sys.stderr)
        return f"failed: {type(cause).__name__}"
    if place is not None:
        say(f"tracker: {place}")
    return place


def headline(result: Result) -> dict[str, Value]:
    """``primary`` and ``people``, each with ``_low``, ``_high``, ``_n``, and ``_is``: its key. The
    names are the same in runs of every study, so that one column or panel takes them all."""
    row: dict[str, Value] = {}
    for name, key in _first(result).items():
        figure = read_estimate(result.summary, key)
        row |= {name: figure["value"], f"{name}_is": key}
        row |= {f"{name}_{part}": figure[part] for part in ("low", "high", "n")}
    return row


def judge_rows(result: Result) -> list[Row]:
    """Rows about single judges, where a result opens with a table of them."""
    return [row for table in result.tables[:1] for row in table.rows if "judge" in row]


def bars(result: Result, name: str, axes: Mapping[str, str]) -> list[Row]:
    """A row for each figure that is drawn with its interval; those of a judge as ``judge: FIGURE``.
    Columns: run (the ``name``), mechanism, dataset, judge, attack (``none`` for figures of clean
    texts), statistic, value, low, high, n."""
    summary, attack = result.summary, axes.get("attack", "none")
    about: dict[str, Value] = {"run": name}
    about |= {axis: axes.get(axis, "") for axis in ("mechanism", "dataset")}
    figures: list[tuple[Row, str, str, str]] = []
    for statistic, key in _first(result).items():
        if summary.get(key) is not None:
            figures.append((summary, "", key, statistic))
    for key in estimate_keys(summary):
        panel, _, statistic = key.rpartition("/")
        if panel in PANELS:
            figures.append((summary, "", key, f"{PANELS[panel]}{statistic}"))
    for row in judge_rows(result):
        figures += [(row, str(row["judge"]), key, f"judge: {key}") for key in estimate_keys(row)]
    rows = list[Row]()
    for row, judge, key, statistic in figures:
        clean, figure_parts = key.startswith("clean/") and not judge, read_estimate(row, key)
        figure = {"judge": judge, "attack": "none" if clean else attack, "statistic": statistic}
        parts = {part: figure_parts[part] for part in ("value", "low", "high", "n")}
        rows.append(about | figure | parts)
    return rows


def in_words(answer: Sequence[tuple[str, str]], title: str = "") -> dict[str, Value]:
    """``answer``: what a page opens with, as one text; nothing where it opens with none."""
    text = " ".join([*filter(None, [title]), *(f"{heading}: {words}" for heading, words in answer)])
    return {"answer": text} if text else {}


def _first(result: Result) -> dict[str, str]:
    """The primary figure, or agreement with people where it is not known; and that agreement."""
    summary, first = result.summary, result.primary
    people = (one.key for one in result.headlines if one.people)
    agreement = next((key for key in people if summary.get(key) is not None), None)
    if agreement is None:
        return {"primary": first}
    return {"primary": agreement if summary.get(first) is None else first, "people": agreement}
