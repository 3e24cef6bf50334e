"""What a sweep says: a few sentences, and a table with a row for each run, the best first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import some
from judgelab.core.result import Headline, flat_estimate, read_estimate
from judgelab.report import format
from judgelab.report.comparison import Comparison
from judgelab.report.jobs import SweepJob, axes, estimators, headlines, marked, option, setting
from judgelab.report.tables import Column, column, estimates

if TYPE_CHECKING:
    from pandas import DataFrame

MOST = 4  # names in a sentence
MANY = 7  # others from which on the first may be so by chance
LEGEND = (
    "Intervals over items: 95 %, of leaderboards 90 %; unscored counts texts without a score, "
    "missing calls those that failed or could not be read."
)
PANELS = ("attacked", "change")
"""Beside a headline of clean texts: the same under an attack, and the difference."""
TEXTS = ("unscored_texts",)
CALLS = ("unscored_calls",)
"""How keys of a summary end that count texts without a score, and calls without a result."""
Said = tuple[str, str]  # heading, sentences


def best_first(jobs: Sequence[SweepJob]) -> list[SweepJob]:
    """Jobs by ``sorted_by``, failed ones last; in the order given where no figure is comparable."""
    by = sorted_by(jobs)
    if by is None:
        return list(jobs)
    sign = 1 if by.lower else -1  # stable: attacks of one stay together

    def place(job: SweepJob) -> float:
        value = read_estimate(job.summary, by.key)["value"]
        return math.inf if value is None else sign * float(value)

    return sorted(jobs, key=place)


def sorted_by(jobs: Sequence[SweepJob]) -> Headline | None:
    """The first headline that all finished jobs have."""
    done = [job for job in jobs if job.result is not None]
    for one in headlines(done):
        if all(isinstance(job.summary.get(one.key), int | float) for job in done):
            return one
    return None


def answer(jobs: Sequence[SweepJob], sections: Sequence[Comparison] = ()) -> list[Said]:
    """(heading, sentences): who is first and who is not shown to be behind; what studies add.

    Args:
        sections: what the studies of the jobs add to the comparison.
    """
    done = [job for job in best_first(jobs) if job.result is not None]
    own = [said for one in sections for said in one.answer]
    titles = [str((job.result or {}).get("title", "")) for job in done]
    if not all(titles):
        return [*_compared(done, jobs), *own]
    named = [" · ".join(option(job, key) for key in axes(jobs)) or "Run" for job in done]
    made = list(zip(named, titles, strict=True))[:MOST]
    if (more := len(titles) - MOST) > 0:
        made.append(("And more", f"{format.counted(more, 'run')} more in the table."))
    return [*made, *own]


def _compared(done: Sequence[SweepJob], jobs: Sequence[SweepJob]) -> list[Said]:
    """Within each dataset: how easy the texts are is no merit of what scores them."""
    by = sorted_by(jobs)
    if by is None:
        return []
    apart = "dataset" in axes(jobs)
    data: dict[str, dict[str, SweepJob]] = {}
    for job in done:  # each name once, by its best job
        data.setdefault(option(job, "dataset") if apart else "", {}).setdefault(
            name_of(job, jobs), job
        )
    made = [
        (f"On {one}" if apart else "Compared", " ".join(_first(named, by)))
        for one, named in data.items()
        if len(named) > 1
    ]
    if made or len(data) < 2:
        return made[:MOST]
    most, least = (
        f"{option(job, 'dataset')} with {_shown(job, by)}" for job in (done[0], done[-1])
    )
    return [("Compared", f"{by.name}: most on {most}, least on {least}. The data differ, too.")]


def _first(named: Mapping[str, SweepJob], by: Headline) -> Iterator[str]:
    """Who is first, and how sure that is.

    Args:
        named: the best first.
    """
    (first, best), *others = named.items()
    yield f"{by.name}: {first} is first with {_shown(best, by)}."
    low, high = _ends(best, by)
    if math.isnan(low):
        yield "Without an interval nobody can say how sure that is."
    else:
        ends = {name: _ends(job, by) for name, job in others}
        behind = {n for n, (a, b) in ends.items() if (a > high if by.lower else b < low)}
        close = [name for name in ends if name not in behind]
        yield (
            f"Not shown to be behind: {some(close, MOST)} (their intervals reach it)."
            if close
            else "All others are behind by more than the intervals."
        )
        if len(others) >= MANY:
            yield f"The best of {len(named)} looks better than it is: try it on other items."
    if by.chance is not None and not low > by.chance:
        yield "Even that is not shown to be better than guessing."
    gains = {name: read_estimate(job.summary, by.gain)["low"] for name, job in named.items()}
    gains = {name: least for name, least in gains.items() if least is not None}
    if more := [name for name, least in gains.items() if least > 0]:
        yield f"{some(more, MOST)} surely {'tells' if len(more) == 1 else 'tell'} more than length."
    elif gains:
        yield "None surely tells more than length."


def name_of(
    job: SweepJob, jobs: Sequence[SweepJob], without: Sequence[str] = ("attack", "dataset")
) -> str:
    """What tells it from other jobs, but for its attack and data."""
    keys = [key for key in axes(jobs) if key.partition(".")[0] not in without]
    return " · ".join(option(job, key) for key in keys) or str(job.summary.get("mechanism", ""))


def _ends(job: SweepJob, by: Headline) -> tuple[float, float]:
    """Low and high; NaN where they are not known."""
    one = read_estimate(job.summary, by.key)
    low, high = (math.nan if one[end] is None else float(one[end]) for end in ("low", "high"))
    return low, high


def _shown(job: SweepJob, by: Headline) -> str:
    one = read_estimate(job.summary, by.key)
    return format.estimate(one["value"], one["low"], one["high"])


def shown(jobs: Sequence[SweepJob]) -> list[Column]:
    """One row per job: what varies, items, the figures of its study, texts without a score."""
    made = [column(key, [setting(job, key) for job in jobs], key) for key in axes(jobs)]
    if any(differs := marked(jobs)):
        made.append(column("estimator", [mark or None for mark in differs]))
    if any("items" in job.summary for job in jobs):
        made.append(column("items", [job.summary.get("items") for job in jobs]))
    once: dict[tuple[Any, ...], Column] = {}  # no figure twice under two names
    for key in metrics(jobs):
        figure = _figure(jobs, key)
        beside = [job.summary.get(f"printed/{key}") for job in jobs]  # what the paper has
        known = any(value is not None for value in beside)  # a printed 0 is a number
        if once.setdefault(figure.cells, figure) is figure and known:
            once[("printed", key)] = column(f"printed/{key}", beside, "printed")
    measured = list(once.values())
    if measured:
        pairs = zip(jobs, measured[0].cells, strict=True)
        cells = tuple(
            "failed" if job.error is not None else f"{cell} (partial)" if job.partial else cell
            for job, cell in pairs
        )
        measured[0] = replace(measured[0], cells=cells)
    made += [*measured, column("unscored", [_counted(job, TEXTS) for job in jobs])]
    if any(missing := [_counted(job, CALLS) for job in jobs]):
        made.append(column("missing_calls", missing, "missing\ncalls"))
    return made


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
        row: dict[str, Any] = {"job": job.number}
        row |= {key: setting(job, key) for key in axes(jobs)}
        row["estimator_differs"] = differs or None
        row["estimator"] = None if one is None else one.line
        row["status"] = job.status
        row["items"] = job.summary.get("items")
        for key in metrics(jobs, every=True):
            row |= flat_estimate(key, read_estimate(job.summary, key))
            row[f"{key}_printed"] = job.summary.get(f"printed/{key}")
        row["unscored_texts"] = _counted(job, TEXTS)
        row["missing_calls"] = _counted(job, CALLS)
        row["run"] = None if job.run is None else job.run.name
        rows.append(row)
    made = pd.DataFrame(rows).dropna(axis="columns", how="all")
    whole = ("items", "unscored_texts", "missing_calls", "_n", "_unscored")
    counts = [name for name in made if str(name).endswith(whole)]
    return made.astype(dict.fromkeys(counts, "Int64"))  # counts stay whole where one is missing


def metrics(jobs: Sequence[SweepJob], *, every: bool = False) -> list[str]:
    """Summary keys of what these runs have to show: headlines, their gains, primary figures.

    Of the primary figures, or of ``every`` headline, also under the attack.
    """
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
    every_one = list(dict.fromkeys([*keys, *own]))
    known = [key for key in every_one if any(job.summary.get(key) is not None for job in jobs)]
    return known or own[:1]


def _counted(job: SweepJob, ends: tuple[str, ...]) -> int | None:
    """The sum of what the job counted under keys that end so; None where it did not count."""
    counts = [v for k, v in job.summary.items() if k.endswith(ends) and v is not None]
    return sum(counts) if counts else None
