"""The jobs of a sweep by their job.json: what each was, and what came of it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.core.errors import DataError
from judgelab.core.estimator import Estimator, marks, mixed, read_estimators
from judgelab.core.resources import PROGRAM
from judgelab.core.result import Headline
from judgelab.store.run_dir import RunDir

LOST = "its process ended before it left a result: repeat the sweep, finished jobs are kept."


@dataclass(frozen=True)
class SweepJob:
    """One job."""

    number: int  # its place in the sweep
    overrides: tuple[str, ...]  # the command line of the job, as Hydra took it
    choices: Mapping[str, str]  # config group -> option
    # run, result: its directory and what Result.to_json wrote there; None where it failed
    run: Path | None
    result: Mapping[str, Any] | None
    error: str | None  # why it failed, in a sentence; None where it did not
    partial: str | None = None  # what is open of it, in a sentence; None where nothing is
    without_effect: tuple[str, ...] = ()  # a sentence for each ``KEY=VALUE?`` that nothing takes

    @property
    def status(self) -> str:
        """In words."""
        if self.error is not None:
            return f"failed: {self.error}"
        return "done" if self.partial is None else f"partial: {self.partial}"

    @property
    def settings(self) -> dict[str, str]:
        """Override key -> value; a config group's value is the option chosen."""
        pairs = (override.lstrip("+~").partition("=") for override in self.overrides)
        return {key: self.choices.get(key, value) for key, _, value in pairs}

    @property
    def command(self) -> str:
        """What repeats the job on its own."""
        return command_line(self.overrides)

    @property
    def summary(self) -> Mapping[str, Any]:
        """The flat summary of the result; empty where there is none."""
        return {} if self.result is None else self.result["summary"]

    @property
    def notes(self) -> Sequence[str]:
        """The sentences of the result that a reader must see, but for what is open."""
        found = () if self.result is None else self.result["notes"]
        return [*(note for note in found if note != self.partial), *self.without_effect]


def jobs(folder: Path) -> list[SweepJob]:
    """The jobs of a sweep in their order.

    Raises:
        DataError: the folder holds no job.
        JudgelabError: the result of a finished job cannot be read.
    """
    numbers = sorted(int(p.name) for p in folder.glob("*") if p.is_dir() and p.name.isdigit())
    if not numbers:
        raise DataError(f"{folder} holds no jobs of a sweep: give the folder of a sweep.")
    return [_job(folder / str(number), number) for number in numbers]


def axes(jobs: Sequence[SweepJob]) -> list[str]:
    """The settings in which the jobs differ; the main axes where there is just one job."""
    keys = dict.fromkeys(key for job in jobs for key in job.settings)
    varying = [key for key in keys if len({job.settings.get(key) for job in jobs}) > 1]
    return varying or ["mechanism", "dataset", "attack"]


def headlines(jobs: Sequence[SweepJob]) -> list[Headline]:
    """What the runs are compared by, the most important first; each key once."""
    said = [one for job in jobs for one in (job.result or {}).get("headlines", ())]
    return list({one["key"]: Headline(**one) for one in reversed(said)}.values())[::-1]


def estimators(jobs: Sequence[SweepJob]) -> list[Estimator | None]:
    """What each job's scores are estimates by; None where it failed, or has several or none."""
    made = [read_estimators(job.result or {}) for job in jobs]
    return [each[0] if len(each) == 1 else None for each in made]


def warnings(jobs: Sequence[SweepJob]) -> tuple[str, ...]:
    """Sentences on different estimators under one name."""
    return mixed(estimators(jobs), named(jobs))


def marked(jobs: Sequence[SweepJob]) -> list[str]:
    """For each job, what its estimator has and others of its mechanism have not; mostly empty."""
    return marks(estimators(jobs), named(jobs))


def named(jobs: Sequence[SweepJob]) -> tuple[str, ...]:
    """Parts of an estimator that the columns of the comparison show as what it compares."""
    keys = axes(jobs)
    lm = any(key.partition(".")[0] == "evaluation_lm" for key in keys)
    return (*(["model"] if lm else []), *(["definition"] if "study.definition" in keys else []))


def setting(job: SweepJob, key: str) -> str:
    """What the job had there: from its command line, else from the options Hydra chose."""
    return str(job.settings.get(key, job.choices.get(key, "")))


def option(job: SweepJob, key: str) -> str:
    """Options speak for themselves; of a number one has to know whose it is."""
    value = setting(job, key)
    return value if key in job.choices else f"{key}={value}"


def variant(job: SweepJob, attack: str, keys: Sequence[str]) -> str:
    """``padding count=20``: the attack, and its values where they vary."""
    inner = [key for key in keys if key.startswith("attack.")]
    return " ".join([attack, *(f"{key.partition('.')[2]}={setting(job, key)}" for key in inner)])


def scorer(job: SweepJob, keys: Sequence[str], own: str) -> str:
    """What scores: its settings among ``keys``, and ``own``, in which its estimator differs."""
    said = " · ".join(option(job, key) for key in keys) or str(job.summary["mechanism"])
    return f"{said} ({own})" if own else said


def command_line(overrides: Iterable[str]) -> str:
    """What a shell takes."""
    given = list(overrides)
    if any(override.startswith("sweep=") for override in given):
        given.append("hydra.mode=RUN")  # its file asks for a multirun
    return shlex.join([*PROGRAM.split(), *given])


def _job(path: Path, number: int) -> SweepJob:
    try:
        word = json.loads((path / "job.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return SweepJob(number, (), {}, None, None, LOST)
    choices = {str(key): str(value) for key, value in word["choices"].items()}
    overrides = tuple(word["overrides"])
    if word["status"] == "failed":
        return SweepJob(number, overrides, choices, None, None, word["error"])
    run = _found(Path(word["run"]), path)
    result, still = RunDir(run).read_json("result.json"), None
    if word["status"] == "partial" and "partial" in result:  # else it was completed meanwhile
        still = word["error"]
    unused = tuple(word.get("without_effect", ()))
    return SweepJob(number, overrides, choices, run, result, None, still, unused)


def _found(run: Path, job: Path) -> Path:
    """The run where it was written; or beside its sweep, if all results were moved together."""
    moved = job.parents[2] / "runs" / run.name
    return moved if moved.is_dir() and not run.is_dir() else run
