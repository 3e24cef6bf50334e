"""The jobs of a sweep by their job.json, and what their studies add to the comparison of them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.config.targets import located
from judgelab.core.errors import DataError, JudgelabError
from judgelab.core.estimator import Estimator, marks, mixtures, read_estimators
from judgelab.core.resources import PROGRAM, of_yaml
from judgelab.core.result import Headline
from judgelab.report.format import Column, column
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame

    from judgelab.report.style import Drawing

LOST = "its process ended before it left a result: repeat the sweep, finished jobs are kept."


@dataclass(frozen=True)
class SweepJob:
    """One job."""

    number: int  # its place in the sweep
    overrides: tuple[str, ...]  # the command line of the job, as Hydra took it
    choices: Mapping[str, str]  # config group -> option
    run: Path | None  # its directory; None where it failed
    result: Mapping[str, Any] | None  # what ``Result.to_json`` wrote there
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
        notes = () if self.result is None else self.result["notes"]
        return [*(note for note in notes if note != self.partial), *self.without_effect]


def jobs(folder: Path) -> list[SweepJob]:
    """The jobs of a sweep in their order (DataError: the folder holds none; JudgelabError: the
    result of a finished one cannot be read)."""
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
    listed = [one for job in jobs for one in (job.result or {}).get("headlines", ())]
    return list({one["key"]: Headline(**one) for one in reversed(listed)}.values())[::-1]


def estimators(jobs: Sequence[SweepJob]) -> list[Estimator | None]:
    """What each job's scores are estimates by; None where it failed, or has several or none."""
    by_job = (read_estimators(job.result or {}) for job in jobs)
    return [each[0] if len(each) == 1 else None for each in by_job]


def warnings(jobs: Sequence[SweepJob]) -> tuple[str, ...]:
    """Sentences on different estimators under one name."""
    return mixtures(estimators(jobs), compared_parts(jobs))


def marked(jobs: Sequence[SweepJob]) -> list[str]:
    """For each job, what its estimator has and others of its mechanism have not; mostly empty."""
    return marks(estimators(jobs), compared_parts(jobs))


def compared_parts(jobs: Sequence[SweepJob]) -> tuple[str, ...]:
    """Parts of an estimator that the columns of the comparison show as what it compares."""
    keys = {key if key == "study.definition" else key.partition(".")[0] for key in axes(jobs)}
    parts = {"evaluation_lm": "model", "study.definition": "definition"}
    return tuple(part for key, part in parts.items() if key in keys)


def setting(job: SweepJob, key: str) -> str:
    """What the job had there: from its command line, else from the options Hydra chose."""
    return str(job.settings.get(key, job.choices.get(key, "")))


def option(job: SweepJob, key: str) -> str:
    """Options speak for themselves; of a number one has to know whose it is."""
    value = setting(job, key)
    return value if key in job.choices else f"{key}={value}"


def job_name(job: SweepJob, keys: Sequence[str]) -> str:
    """What the job has there: ``mi · case_flip · seed=2``."""
    return " · ".join(option(job, key) for key in keys)


def variant(job: SweepJob, attack: str, keys: Sequence[str]) -> str:
    """``padding count=20``: the attack, and its values where they vary."""
    inner = [key for key in keys if key.startswith("attack.")]
    return " ".join([attack, *(f"{key.partition('.')[2]}={setting(job, key)}" for key in inner)])


def scorer(job: SweepJob, keys: Sequence[str], own: str) -> str:
    """What scores: its settings among ``keys``, and ``own``, in which its estimator differs."""
    name = job_name(job, keys) or str(job.summary["mechanism"])
    return f"{name} ({own})" if own else name


def command_line(overrides: Iterable[str]) -> str:
    """What a shell takes."""
    words = list(overrides)
    if any(override.startswith("sweep=") for override in words):
        words.append("hydra.mode=RUN")  # its file asks for a multirun
    return shlex.join([*PROGRAM.split(), *words])


def _job(path: Path, number: int) -> SweepJob:
    try:
        word = json.loads((path / "job.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return SweepJob(number, (), {}, None, None, LOST)
    overrides, choices = tuple(word["overrides"]), word["choices"]
    if word["status"] == "failed":
        return SweepJob(number, overrides, choices, None, None, word["error"])
    run, here = Path(word["run"]), path.parents[2] / "runs" / Path(word["run"]).name
    run = here if here.is_dir() and not run.is_dir() else run  # all results were moved together
    result, still = RunDir(run).read_json("result.json"), None
    if word["status"] == "partial" and "partial" in result:  # else it was completed meanwhile
        still = word["error"]
    without_effect = tuple(word.get("without_effect", ()))
    return SweepJob(number, overrides, choices, run, result, None, still, without_effect)


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
        by_study.setdefault(job.run and study_of(job.run), []).append(job)
    by_study.pop(None, None)
    return [one for study, own in by_study.items() for one in study.compare(own)]


def drawings_of(runs: Iterable[Path | None]) -> dict[str, Drawing]:
    """Name -> drawing, of the studies of these runs."""
    studies = filter(None, dict.fromkeys(study_of(run) for run in runs if run is not None))
    return {name: drawing for study in studies for name, drawing in study.drawings.items()}


def study_of(run: Path) -> Any | None:
    """The class of the study of a run, by its config; None where that is not to be had here: one of
    the user's own is known in the process that trusts it alone."""
    try:
        config = of_yaml(RunDir(run).read_text("config.yaml"))
        return located(config["study"]["_target_"], "study")
    except (LookupError, TypeError, JudgelabError):
        return None
