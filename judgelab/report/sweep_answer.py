"""What a sweep found, in a few sentences; and its rows, the best first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from judgelab.core.result import read_estimate
from judgelab.report import format
from judgelab.report.jobs import SweepJob, axes, option

NAMES = {
    "clean/human_within": "Agreement with people",
    "clean/auc": "AUC, good against bad responses",
    "clean/pair_auc": "AUC of pairs",
    "clean/effect_size": "Effect size",
    "pool/accuracy": "Decides as people do",
    "discernment/average_ew": "Discernment",
    "best_discernment": "Discernment of the best judge",
    "clean/human_spearman": "Rank correlation with people's scores",
    "ranking/agreement": "Orders systems as people do",
    "text/spearman": "Rank correlation of both orders of two texts",
    "after/loss": "Held-out loss",
}
"""Keys by which rows are sorted, the first that every finished job has, and what each is."""
LOWER = ("after/loss",)
GUESSED = (
    "clean/human_within",
    "clean/auc",
    "clean/pair_auc",
    "pool/accuracy",
    "ranking/agreement",
)
CHANCE = dict.fromkeys(GUESSED, 0.5) | {"clean/human_spearman": 0.0}
"""What guessing reaches."""
GAINS = {"clean/human_within": "clean/human_within_gain", "clean/auc": "clean/auc_gain"}
"""Figure -> its gain over what length alone tells."""
HONEST = ("falls", "does not rise")
"""Verdicts on a metric that does what an honest one does under an attack."""
MOST = 4  # names in a sentence
MANY = 7  # others from which on the first may be so by chance


def best_first(found: Sequence[SweepJob]) -> list[SweepJob]:
    """Jobs by ``sorted_by``, failed ones last; in the order given where no figure is comparable."""
    key = sorted_by(found)
    if key is None:
        return list(found)
    sign = 1 if key in LOWER else -1  # stable: attacks of one stay together

    def place(job: SweepJob) -> float:
        value = read_estimate(job.summary, key)["value"] if job.result is not None else None
        return math.inf if value is None else sign * float(value)

    return sorted(found, key=place)


def sorted_by(found: Sequence[SweepJob]) -> str | None:
    """The figure that all finished jobs have, agreement with people before any other."""
    done = [job for job in found if job.result is not None]
    keys = (key for key in NAMES if all(_known(job, key) for job in done))
    return next(keys, None) if done else None


def answer(found: Sequence[SweepJob]) -> list[tuple[str, str]]:
    """(heading, sentences): who is first and who is not shown to be behind, and under attack."""
    done = [job for job in best_first(found) if job.result is not None]
    judged = [*_verdicts(done), *_first_candidates(done)]
    return judged or [*_compared(done, found), *_under_attack(done, found)]


def _compared(done: Sequence[SweepJob], found: Sequence[SweepJob]) -> Iterator[tuple[str, str]]:
    """Within each dataset: how easy the texts are is no merit of what scores them."""
    key = sorted_by(found)
    if key is None:
        return
    apart = "dataset" in axes(found)
    data = list(dict.fromkeys(option(job, "dataset") if apart else "" for job in done))
    made = [
        (f"On {one}" if apart else "Compared", said)
        for one in data
        if (said := _first(done, found, key, one))
    ]
    yield from made[:MOST]
    if apart and len(data) > 1 and not made:
        best, worst = done[0], done[-1]
        yield (
            "Compared",
            f"{NAMES[key]}: most on {option(best, 'dataset')} with {_shown(best, key)}, least on "
            f"{option(worst, 'dataset')} with {_shown(worst, key)}. The data differ, too.",
        )


def _first(done: Sequence[SweepJob], found: Sequence[SweepJob], key: str, dataset: str) -> str:
    """Who is first on a dataset ("": on the only one); "" where there is nobody beside."""
    own = [job for job in done if not dataset or option(job, "dataset") == dataset]
    groups = {_name(job, found): job for job in reversed(own)}  # each once, its first job
    named = [(name, groups[name]) for name in dict.fromkeys(_name(job, found) for job in own)]
    if len(named) < 2:
        return ""
    (first, best), *others = named
    parts = [f"{NAMES[key]}: {first} is first with {_shown(best, key)}."]
    if read_estimate(best.summary, key)["low"] is None:
        parts.append("Without an interval nothing says how sure that is.")
    else:
        close = [name for name, job in others if not _behind(job, best, key)]
        parts.append(
            f"Not shown to be behind: {_some(close)} (their intervals reach it)."
            if close
            else "All others are behind by more than the intervals."
        )
        if len(others) >= MANY:
            parts.append(
                f"The best of {len(named)} looks better than it is: try it on other items."
            )
    low = read_estimate(best.summary, key)["low"]
    if key in CHANCE and not _number(low) > CHANCE[key]:
        parts.append("Not even that is shown to be better than guessing.")
    parts += _beyond_length(named, GAINS.get(key, ""))
    return " ".join(parts)


def _behind(job: SweepJob, best: SweepJob, key: str) -> bool:
    """Whether the interval lies wholly on the worse side of the best one's."""
    one, other = (read_estimate(each.summary, key) for each in (job, best))
    if key in LOWER:
        return _number(one["low"]) > _number(other["high"])
    return _number(one["high"]) < _number(other["low"])


def _verdicts(done: Sequence[SweepJob]) -> Iterator[tuple[str, str]]:
    """Audits: which verdicts; metrics under attacks: how many do what an honest one does."""
    audits = [job for job in done if job.summary.get("study") == "audit"]
    if audits and len(audits) == len(done):
        said = Counter(str(job.summary["verdict"]) for job in audits)
        yield "Verdicts", "; ".join(f"{one}: {_runs(n)}" for one, n in said.most_common()) + "."
    tried = [job for job in done if job.summary.get("expects")]
    if tried:
        honest = [job for job in tried if job.summary["verdict"] in HONEST]
        undecided = sum(job.summary["verdict"] == "undecided" for job in tried)
        open_ = (
            f" {_runs(undecided).capitalize()} undecided: more items decide." if undecided else ""
        )
        yield (
            "Under attack",
            f"In {len(honest)} of {_runs(len(tried))} the metric does what an honest one does: it "
            f"punishes what is worse and does not rise with what is not better.{open_}",
        )


def _first_candidates(done: Sequence[SweepJob]) -> Iterator[tuple[str, str]]:
    """Leaderboards: who leads how many of them; their scores have units of their own."""
    boards = [
        table["rows"][0]["candidate"]
        for job in done
        for table in (job.result or {}).get("tables", ())
        if table["name"] == "leaderboard" and table["rows"]
    ]
    if len(boards) > 1:
        said = (f"{name} leads {n} of {len(boards)}" for name, n in Counter(boards).most_common())
        yield (
            "Leaders",
            f"{', '.join(said)} leaderboards. Whether a lead is sure, each says itself.",
        )


def _runs(n: int) -> str:
    return f"{n} run" if n == 1 else f"{n} runs"


def _beyond_length(named: Sequence[tuple[str, SweepJob]], key: str) -> Iterator[str]:
    gains = {name: read_estimate(job.summary, key) for name, job in named}
    gains = {name: one for name, one in gains.items() if one["low"] is not None}
    if gains:
        more = [name for name, one in gains.items() if _number(one["low"]) > 0]
        yield (
            f"{_some(more)} surely {'tells' if len(more) == 1 else 'tell'} more than length alone."
            if more
            else ("None surely tells more than length alone.")
        )


def _under_attack(done: Sequence[SweepJob], found: Sequence[SweepJob]) -> Iterator[tuple[str, str]]:
    falls = {
        f"{_name(job, found, ('attack',))} under {job.summary['attack']}": one
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


def _name(
    job: SweepJob, found: Sequence[SweepJob], without: Sequence[str] = ("attack", "dataset")
) -> str:
    """What tells it from other jobs, but for its attack and data."""
    keys = [key for key in axes(found) if key.partition(".")[0] not in without]
    return " · ".join(option(job, key) for key in keys) or str(job.summary.get("mechanism", ""))


def _known(job: SweepJob, key: str) -> bool:
    return read_estimate(job.summary, key)["value"] is not None


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _shown(job: SweepJob, key: str) -> str:
    found = read_estimate(job.summary, key)
    return format.estimate(found["value"], found["low"], found["high"])


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST
    return ", ".join(names[:MOST]) + (f" and {more} more" if more > 0 else "")
