"""What a sweep found, in a few sentences; and its rows, the best first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgelab.core.errors import some
from judgelab.core.result import Headline, read_estimate
from judgelab.report import format
from judgelab.report.comparison import Comparison
from judgelab.report.jobs import SweepJob, axes, headlines, option

MOST = 4  # names in a sentence
MANY = 7  # others from which on the first may be so by chance
Said = tuple[str, str]  # heading, sentences


def best_first(found: Sequence[SweepJob]) -> list[SweepJob]:
    """Jobs by ``sorted_by``, failed ones last; in the order given where no figure is comparable."""
    by = sorted_by(found)
    if by is None:
        return list(found)
    sign = 1 if by.lower else -1  # stable: attacks of one stay together

    def place(job: SweepJob) -> float:
        value = _figure(job, by)["value"] if job.result is not None else None
        return math.inf if value is None else sign * float(value)

    return sorted(found, key=place)


def sorted_by(found: Sequence[SweepJob]) -> Headline | None:
    """The first headline that all finished jobs have."""
    done = [job for job in found if job.result is not None]
    for one in headlines(done):
        values = [_figure(job, one)["value"] for job in done]
        if all(isinstance(value, int | float) for value in values):
            return one
    return None


def answer(found: Sequence[SweepJob], sections: Sequence[Comparison] = ()) -> list[Said]:
    """(heading, sentences): who is first and who is not shown to be behind; what studies add.

    Args:
        found: the jobs.
        sections: what their studies add to the comparison.
    """
    done = [job for job in best_first(found) if job.result is not None]
    own = [said for one in sections for said in one.answer]
    return [*(_titles(done, found) or _compared(done, found)), *own]


def _titles(done: Sequence[SweepJob], found: Sequence[SweepJob]) -> list[Said]:
    """The answer of each run, where its study gives one in a sentence."""
    titles = [str((job.result or {}).get("title", "")) for job in done]
    if not all(titles):
        return []
    named = [" · ".join(option(job, key) for key in axes(found)) or "Run" for job in done]
    made = list(zip(named, titles, strict=True))[:MOST]
    more = len(titles) - MOST
    return [*made, ("And more", f"{counted(more)} more in the table.")] if more > 0 else made


def _compared(done: Sequence[SweepJob], found: Sequence[SweepJob]) -> list[Said]:
    """Within each dataset: how easy the texts are is no merit of what scores them."""
    by = sorted_by(found)
    if by is None:
        return []
    apart = "dataset" in axes(found)
    data = list(dict.fromkeys(option(job, "dataset") if apart else "" for job in done))
    made = [
        (f"On {one}" if apart else "Compared", said)
        for one in data
        if (said := _first(done, found, by, one))
    ]
    if made or not apart or len(data) < 2:
        return made[:MOST]
    best, worst = done[0], done[-1]
    said = (
        f"{by.name}: most on {option(best, 'dataset')} with {_shown(best, by)}, least on "
        f"{option(worst, 'dataset')} with {_shown(worst, by)}. The data differ, too."
    )
    return [("Compared", said)]


def _first(done: Sequence[SweepJob], found: Sequence[SweepJob], by: Headline, dataset: str) -> str:
    """Who is first on a dataset ("": on the only one); "" where there is nobody beside."""
    own = [job for job in done if not dataset or option(job, "dataset") == dataset]
    groups = {name_of(job, found): job for job in reversed(own)}  # each once, its first job
    named = [(name, groups[name]) for name in dict.fromkeys(name_of(job, found) for job in own)]
    if len(named) < 2:
        return ""
    (first, best), *others = named
    parts = [f"{by.name}: {first} is first with {_shown(best, by)}."]
    low = _figure(best, by)["low"]
    if low is None:
        parts.append("Without an interval nothing says how sure that is.")
    else:
        close = [name for name, job in others if not _behind(job, best, by)]
        parts.append(
            f"Not shown to be behind: {some(close, MOST)} (their intervals reach it)."
            if close
            else "All others are behind by more than the intervals."
        )
        if len(others) >= MANY:
            parts.append(
                f"The best of {len(named)} looks better than it is: try it on other items."
            )
    if by.chance is not None and not _number(low) > by.chance:
        parts.append("Not even that is shown to be better than guessing.")
    return " ".join([*parts, *_beyond_length(named, by.gain)])


def _behind(job: SweepJob, best: SweepJob, by: Headline) -> bool:
    """Whether the interval lies wholly on the worse side of the best one's."""
    one, other = _figure(job, by), _figure(best, by)
    if by.lower:
        return _number(one["low"]) > _number(other["high"])
    return _number(one["high"]) < _number(other["low"])


def _beyond_length(named: Sequence[tuple[str, SweepJob]], key: str) -> Iterator[str]:
    gains = {name: read_estimate(job.summary, key) for name, job in named}
    gains = {name: one for name, one in gains.items() if one["low"] is not None}
    more = [name for name, one in gains.items() if _number(one["low"]) > 0]
    if more:
        verb = "tells" if len(more) == 1 else "tell"
        yield f"{some(more, MOST)} surely {verb} more than length alone."
    elif gains:
        yield "None surely tells more than length alone."


def name_of(
    job: SweepJob, found: Sequence[SweepJob], without: Sequence[str] = ("attack", "dataset")
) -> str:
    """What tells it from other jobs, but for its attack and data."""
    keys = [key for key in axes(found) if key.partition(".")[0] not in without]
    return " · ".join(option(job, key) for key in keys) or str(job.summary.get("mechanism", ""))


def counted(n: int) -> str:
    """``1 run``, ``2 runs``."""
    return f"{n} run" if n == 1 else f"{n} runs"


def _figure(job: SweepJob, by: Headline) -> Mapping[str, Any]:
    return read_estimate(job.summary, by.key)


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _shown(job: SweepJob, by: Headline) -> str:
    one = _figure(job, by)
    return format.estimate(one["value"], one["low"], one["high"])
