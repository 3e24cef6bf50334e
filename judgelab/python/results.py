"""What runs found, as DataFrames and drawings: read from their folders, without a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from judgelab.config import AXES
from judgelab.config.composing import literal
from judgelab.config.targets import located
from judgelab.core.errors import DataError, did_you_mean
from judgelab.core.resources import of_yaml
from judgelab.core.result import PARTS, estimate_keys, read_estimate, verdicts
from judgelab.report import format, style
from judgelab.report.console import alarms
from judgelab.report.format import column, estimates
from judgelab.report.format import frame as as_frame
from judgelab.report.jobs import (
    Comparison,
    SweepJob,
    axes,
    comparisons,
    drawings_of,
    jobs,
    warnings,
)
from judgelab.report.page import title
from judgelab.report.style import Drawn
from judgelab.report.sweep import LEGEND, job_columns, table
from judgelab.store.fingerprint import VOLATILE
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")
Folder = str | os.PathLike[str]
MOST = 12  # figures in a notebook's cell


class Named(Mapping[str, T]):
    """Things by name, each made when it is first asked for."""

    def __init__(self, names: Sequence[str], make: Callable[[str], T], what: str) -> None:
        self._names, self._make, self._what = tuple(dict.fromkeys(names)), cache(make), what

    def __getitem__(self, name: str) -> T:
        if name not in self._names:
            raise KeyError(f"no {self._what} is called {name!r}.{did_you_mean(name, self._names)}")
        return self._make(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"{self._what}s: {', '.join(self._names) or 'none'}"


@dataclass(frozen=True)
class RunResult:
    """What a run found.

    Attributes:
        path: the run's folder: report.html, records, result.json, config.yaml.
        content: result.json as it is.
    """

    path: Path
    content: Mapping[str, Any] = field(repr=False)

    @classmethod
    def read(cls, folder: Folder) -> RunResult:
        """Of a finished run, or a partial one (DataError: there is no run in the folder, or it has
        not finished)."""
        path = Path(folder).expanduser()
        if not (path / "config.yaml").is_file():
            raise DataError(
                f"{path} is no run: give a folder of outputs/runs, or of outputs/sweeps."
            )
        run = RunDir(path)
        content = run.read_json("result.json") if (path / "result.json").is_file() else {}
        if run.is_done or "partial" in content:
            return cls(path, content)
        raise DataError(f"The run {path} has not finished: the command that began it continues it.")

    @cached_property
    def verdict(self) -> str:
        """The answer in plain sentences; where the study gives none, its primary figure."""
        answer = [("", self.content.get("title")), *self.content.get("answer", [])]
        if sentences := list(filter(None, (": ".join(filter(None, pair)) for pair in answer))):
            return "\n".join(sentences)
        one = read_estimate(self.content["summary"], self.primary)
        figure = format.estimate(one["value"], one["low"], one["high"])
        return f"{format.words(self.primary)}: {figure}."

    @property
    def verdicts(self) -> dict[str, str]:
        """Of an audit: judge -> use, not known yet or do not use; of several criteria each one's,
        under ``CRITERION: JUDGE``. Of a screen: system -> its verdict."""
        return verdicts(self.content)

    def assert_usable(self) -> None:
        """Of an audit: AssertionError with its first sentence, unless every judge may be used
        (ConfigError: its study gives no such verdict)."""
        __tracebackhide__ = True  # pytest shows the test, and not these lines
        config = of_yaml(RunDir(self.path).read_text("config.yaml"))
        if located(config["study"]["_target_"], "study").gate(self.content) != 0:
            first, _, _ = self.verdict.partition("\n")
            raise AssertionError(f"{first} ({self.path / 'report.html'})")

    @property
    def primary(self) -> str:
        """The row of ``summary`` that the study is about."""
        return str(self.content["primary"])

    @cached_property
    def summary(self) -> DataFrame:
        """One row a figure: value, low, high (of its interval), p, n, unscored; NaN: not known."""
        import pandas as pd

        flat = self.content["summary"]
        parts = _parts(flat)
        rows = {
            key: read_estimate(flat, key)
            for key in flat
            if key not in parts
            and (type(flat[key]) in (int, float) or (flat[key] is None and f"{key}_n" in flat))
        }
        columns = ["value", "low", "high", "p", "n", "unscored", "threshold"]
        figures: DataFrame = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
        figures = figures.apply(pd.to_numeric).astype({"n": "Int64", "unscored": "Int64"})
        return figures if figures["threshold"].notna().any() else figures.drop(columns="threshold")

    @property
    def about(self) -> dict[str, Any]:
        """Entries of the summary that are no figures: study, mechanism, dataset, settings."""
        flat = self.content["summary"]
        return {k: v for k, v in flat.items() if k not in {*_parts(flat), *self.summary.index}}

    @cached_property
    def tables(self) -> Mapping[str, DataFrame]:
        """Name -> table of the page, with all its rows and columns."""
        rows = {one["name"]: one for one in self.content["tables"]}
        return Named(list(rows), lambda name: as_frame(rows[name]), "table")

    @cached_property
    def figures(self) -> Mapping[str, Drawn]:
        """Name -> figure of the page, as a notebook shows it; ``.figure`` is matplotlib's."""
        sections = self.content.get("sections", [])
        names = [*self.content["figures"], *(name for one in sections for name in one["figures"])]
        drawings = drawings_of([self.path])
        return Named(names, lambda name: style.draw(name, dict(self.tables), drawings), "figure")

    @cached_property
    def records(self) -> Mapping[str, DataFrame]:
        """Name -> every measurement, score or text: what all figures are computed from."""
        import pandas as pd

        files = {file.stem: file for file in sorted(self.path.glob("records/*.parquet"))}
        return Named(list(files), lambda name: pd.read_parquet(files[name]), "record")

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader must see."""
        return tuple(self.content["notes"])

    @property
    def partial(self) -> str:
        """What is open of the run, in a sentence; empty where nothing is."""
        return str(self.content.get("partial", {}).get("sentence", ""))

    def __repr__(self) -> str:
        lines = "\n".join(f"  {line}" for line in self.verdict.splitlines())
        return f"{title(self.content)}\n{lines}\n  page: {self.path / 'report.html'}"

    def _repr_html_(self) -> str:
        """The answer, the figures with their intervals, and where the page is."""
        flat = self.content["summary"]
        keys = list(dict.fromkeys([self.primary, *estimate_keys(flat)]))[:MOST]
        figures = [read_estimate(flat, key) for key in keys]
        parts = (column(part, [one[part] for one in figures]) for part in ("n", "unscored", "p"))
        names = column("figure", [format.words(key) for key in keys])
        return format.render(
            "cell.html",
            heading=title(self.content),
            answer=self.verdict.splitlines(),
            warnings=alarms(self.content),
            columns=[names, estimates("value", figures, "value [interval]"), *parts],
            notes=self.notes,
            legend="",
            page=str(self.path / "report.html"),
        )


def _parts(flat: Mapping[str, Any]) -> set[str]:
    """Keys that only say something of another one."""
    return {f"{key}_{part}" for key in flat for part in PARTS} & flat.keys()


@dataclass(frozen=True)
class RunComparison:
    """Runs side by side, in their order."""

    jobs: Sequence[SweepJob]

    @cached_property
    def summary(self) -> DataFrame:
        """One row a run: in what they differ, and every figure with its interval and n."""
        return table(self.jobs)

    @cached_property
    def _more(self) -> Sequence[Comparison]:
        return comparisons(self.jobs)

    @cached_property
    def tables(self) -> Mapping[str, DataFrame]:
        """``runs``, which is the summary, and those of studies that compare more closely."""
        frames = {"runs": self.summary} | {one.name: one.rows for one in self._more if one.tables}
        return Named(list(frames), frames.__getitem__, "table")

    @cached_property
    def figures(self) -> Mapping[str, Drawn]:
        """Name -> figure of the comparison's page; ``.figure`` is matplotlib's."""
        tables = {one.name: one.rows for one in self._more}
        names = [name for one in self._more for name in one.figures]
        drawings = drawings_of(job.run for job in self.jobs)
        return Named(names, lambda name: style.draw(name, tables, drawings), "figure")

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Sentences on what does not stand in one comparison, and on what is open."""
        return (*warnings(self.jobs), *(one.partial for one in self.jobs if one.partial))

    def __repr__(self) -> str:
        return f"{len(self.jobs)} runs\n{self.summary.to_string(index=False)}"

    def _repr_html_(self) -> str:
        heading = f"{len(self.jobs)} runs: {' × '.join(axes(self.jobs))}"
        parts: dict[str, Any] = {"answer": [], "notes": [], "legend": LEGEND, "page": ""}
        parts |= {"warnings": self.warnings, "columns": job_columns(self.jobs)}
        return format.render("cell.html", heading=heading, **parts)


def compare(runs: Sequence[RunResult | Folder]) -> RunComparison:
    """Finished runs side by side: what ``judgelab.run`` returned, or folders of runs, and all jobs
    of sweeps, failed ones last (DataError: there is none, or one has not finished)."""
    if isinstance(runs, str | os.PathLike) or not runs:
        raise DataError("Give runs in a list; judgelab.load(path) reads one, or a sweep.")
    results, failed = list[RunResult](), list[SweepJob]()
    for one in runs:
        one_run = one if isinstance(one, RunResult) else load(one)
        for job in one_run.jobs if isinstance(one_run, RunComparison) else ():
            if job.run is None:
                failed.append(job)
            else:
                results.append(RunResult.read(job.run))
        if isinstance(one_run, RunResult):
            results.append(one_run)
    beside = list(_beside(results))
    return RunComparison(
        [*beside, *(replace(x, number=k) for k, x in enumerate(failed, len(results)))]
    )


def load(path: Folder) -> RunResult | RunComparison:
    """What a finished run found, or the comparison of a sweep, by its folder (DataError: it is
    neither, or the run has not finished)."""
    folder = Path(path).expanduser()
    return RunComparison(jobs(folder)) if any(folder.glob("*/job.json")) else RunResult.read(folder)


def _beside(runs: Sequence[RunResult]) -> Iterator[SweepJob]:
    """The jobs, whose overrides are the settings in which the runs differ.

    Settings of different options (the mechanism's of two mechanisms) do not count: options say it.
    """
    settings, choices = list[dict[str, Any]](), list[dict[str, str]]()
    for run in runs:
        config = of_yaml(RunDir(run.path).read_text("config.yaml"))
        settings.append(dict(_flat("", {k: v for k, v in config.items() if k not in VOLATILE})))
        options = RunDir(run.path).read_json("manifest.json")["choices"]
        choices.append({axis: str(options[axis]) for axis in AXES if axis not in VOLATILE})
    for number, (run, options, own) in enumerate(zip(runs, choices, settings, strict=True)):
        differ = [axis for axis in options if any(one[axis] != options[axis] for one in choices)]
        words = [f"{axis}={options[axis]}" for axis in differ]
        for key, value in own.items():
            axis, others = key.partition(".")[0], zip(settings, choices, strict=True)
            alike = (other for other, one in others if one.get(axis) == options.get(axis))
            if any(other.get(key, value) != value for other in alike):
                words.append(f"{key}={literal(value)}")
        still = run.partial or None
        yield SweepJob(number, tuple(words), options, run.path, run.content, None, still)


def _flat(path: str, node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{path}{key}.", value)
        elif key != "_target_":
            yield f"{path}{key}", value
