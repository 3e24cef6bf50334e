"""What a sweep of discrimination runs found, in a few sentences; and its rows, the best first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from judgelab.core.result import read_estimate
from judgelab.report import format
from judgelab.report.jobs import SweepJob, axes, option

BETTER_HIGHER = ("clean/human_within", "clean/auc", "clean/pair_auc", "clean/effect_size")
"""Keys by which rows are sorted, the first that every finished job has."""
NAMES = {
    "clean/human_within": "Agreement with people",
    "clean/auc": "AUC, good against bad responses",
    "clean/pair_auc": "AUC of pairs",
    "clean/effect_size": "Effect size",
}
MOST = 4  # names in a sentence


def best_first(found: Sequence[SweepJob]) -> list[SweepJob]:
    """Jobs by ``sorted_by``, failed ones last; in the order given where no figure is comparable."""
    key = sorted_by(found)
    if key is None:
        return list(found)
    return sorted(found, key=lambda job: -_value(job, key))  # stable: attacks of one stay together


def sorted_by(found: Sequence[SweepJob]) -> str | None:
    """The figure that all finished jobs have, agreement with people before any other."""
    done = [job for job in found if job.result is not None]
    keys = (key for key in BETTER_HIGHER if all(_known(job, key) for job in done))
    return next(keys, None) if done else None


def answer(found: Sequence[SweepJob]) -> list[tuple[str, str]]:
    """(heading, sentences): who is first and who is not shown to be behind, and under attack."""
    key = sorted_by(found)
    done = [job for job in best_first(found) if job.result is not None]
    groups = {_name(job, found): job for job in reversed(done)}  # each once, its first job
    named = [(name, groups[name]) for name in dict.fromkeys(_name(job, found) for job in done)]
    if key is None or len(named) < 2:
        return []
    (first, best), *others = named
    low = read_estimate(best.summary, key)["low"]
    close = [name for name, job in others if not _high(job, key) < _number(low)]
    parts = [f"{NAMES[key]}: {first} is first with {_shown(best, key)}."]
    parts.append(
        f"Not shown to be behind: {_some(close)} (their intervals reach it)."
        if close
        else "All others are behind by more than the intervals."
    )
    parts += _beyond_length(named)
    return [("Compared", " ".join(parts)), *_under_attack(done, found)]


def _beyond_length(named: Sequence[tuple[str, SweepJob]]) -> Iterator[str]:
    gains = {name: read_estimate(job.summary, "clean/auc_gain") for name, job in named}
    gains = {name: one for name, one in gains.items() if one["low"] is not None}
    if gains:
        more = [name for name, one in gains.items() if _number(one["low"]) > 0]
        yield (
            f"{_some(more)} surely tell more than length alone."
            if more
            else ("None surely tells more than length alone.")
        )


def _under_attack(done: Sequence[SweepJob], found: Sequence[SweepJob]) -> Iterator[tuple[str, str]]:
    falls = {
        f"{_name(job, found)} under {job.summary['attack']}": one
        for job in done
        if (one := read_estimate(job.summary, "change/auc"))["high"] is not None
    }
    if not falls:
        return
    sure = {name: one for name, one in falls.items() if _number(one["high"]) < 0}
    if not sure:
        yield "Under attack", "No surely lower AUC in any run."
        return
    worst = min(sure, key=lambda name: _number(sure[name]["value"]))
    ends = format.estimate(*(sure[worst][part] for part in ("value", "low", "high")))
    counted = f"{len(sure)} of {len(falls)} runs have a surely lower AUC"
    yield "Under attack", f"{counted}; most of all {worst}, by {ends}."


def _name(job: SweepJob, found: Sequence[SweepJob]) -> str:
    """What tells it from other jobs, but for its attack."""
    keys = [key for key in axes(found) if key.partition(".")[0] != "attack"]
    return " · ".join(option(job, key) for key in keys) or str(job.summary.get("mechanism", ""))


def _known(job: SweepJob, key: str) -> bool:
    return read_estimate(job.summary, key)["value"] is not None


def _value(job: SweepJob, key: str) -> float:
    value = read_estimate(job.summary, key)["value"] if job.result is not None else None
    return -math.inf if value is None else float(value)


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _high(job: SweepJob, key: str) -> float:
    return _number(read_estimate(job.summary, key)["high"])


def _shown(job: SweepJob, key: str) -> str:
    found = read_estimate(job.summary, key)
    return format.estimate(found["value"], found["low"], found["high"])


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST
    return ", ".join(names[:MOST]) + (f" and {more} more" if more > 0 else "")
