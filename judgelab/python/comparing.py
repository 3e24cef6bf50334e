"""Finished runs and sweeps, read from their folders, and runs side by side."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from judgelab.config import AXES
from judgelab.config.overrides import written
from judgelab.core.errors import DataError
from judgelab.python.found import Named, RunResult
from judgelab.report import cell, figures
from judgelab.report.comparison import Comparison, comparisons, drawings_of
from judgelab.report.figures.style import Drawn
from judgelab.report.jobs import SweepJob, jobs, warnings
from judgelab.report.sweep_tables import table
from judgelab.store.fingerprint import VOLATILE
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class RunComparison:
    """Runs side by side.

    Attributes:
        jobs: the runs, in their order.
    """

    jobs: Sequence[SweepJob]

    @cached_property
    def summary(self) -> DataFrame:
        """One row a run: in what they differ, and every figure with its interval and n."""
        return table(self.jobs)

    @cached_property
    def tables(self) -> Mapping[str, DataFrame]:
        """``runs``, which is the summary, and those of studies that compare more closely."""
        more = {one.name: one.rows for one in self._more if one.tables}
        held = {"runs": self.summary} | more
        return Named(list(held), held.__getitem__, "table")

    @cached_property
    def figures(self) -> Mapping[str, Drawn]:
        """Name -> figure of the comparison's page; ``.figure`` is matplotlib's."""
        tables = {one.name: one.rows for one in self._more}
        names = [name for one in self._more for name in one.figures]
        drawings = drawings_of(job.run for job in self.jobs)
        return Named(names, lambda name: figures.draw(name, tables, drawings), "figure")

    @cached_property
    def _more(self) -> Sequence[Comparison]:
        return comparisons(self.jobs)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Sentences on what does not stand in one comparison, and on what is open."""
        return (*warnings(self.jobs), *(one.partial for one in self.jobs if one.partial))

    def __repr__(self) -> str:
        return f"{len(self.jobs)} runs\n{self.summary.to_string(index=False)}"

    def _repr_html_(self) -> str:
        return cell.of_runs(self.jobs, self.warnings)


def compare(runs: Sequence[RunResult | str | os.PathLike[str]]) -> RunComparison:
    """Finished runs side by side, however they were started.

    Args:
        runs: what ``judgelab.run`` returned, or folders of runs.

    Raises:
        DataError: there is no run, or a folder holds none that has finished.
    """
    if isinstance(runs, str | os.PathLike):
        raise DataError("Give several runs, in a list; judgelab.load(path) reads one, or a sweep.")
    read = [RunResult.read(one) if isinstance(one, str | os.PathLike) else one for one in runs]
    if not read:
        raise DataError("There is no run to compare: give results of judgelab.run, or folders.")
    odd = [one for one in read if not isinstance(one, RunResult)]
    if odd:
        raise DataError(
            f"{type(odd[0]).__name__} is no run: give results of judgelab.run, or folders of runs."
        )
    return RunComparison(_beside([one.path for one in read]))


def load(path: str | os.PathLike[str]) -> RunResult | RunComparison:
    """What a finished run found, or the comparison of a sweep, by its folder.

    Raises:
        DataError: it is neither, or the run has not finished.
    """
    if not isinstance(path, str | os.PathLike):
        raise DataError(f"{type(path).__name__} is no path: give the folder of a run or a sweep.")
    folder = Path(path).expanduser()
    return RunComparison(jobs(folder)) if any(folder.glob("*/job.json")) else RunResult.read(folder)


def _beside(runs: Sequence[Path]) -> list[SweepJob]:
    """The jobs, whose overrides are the settings in which the runs differ.

    Settings of different options (the mechanism's of two mechanisms) do not count: options say it.

    Raises:
        JudgelabError: a result cannot be read.
    """
    configs = [_config(run) for run in runs]
    chosen = [_options(run, config) for run, config in zip(runs, configs, strict=True)]
    flat = [dict(_flat("", config)) for config in configs]
    made = []
    for number, (run, options, own) in enumerate(zip(runs, chosen, flat, strict=True)):
        said = [axis for axis in options if any(other[axis] != options[axis] for other in chosen)]
        alike = [
            {key: value for key, value in other.items() if _comparable(key, options, others)}
            for other, others in zip(flat, chosen, strict=True)
        ]
        keys = [key for key in own if any(key in o and o[key] != own[key] for o in alike)]
        words = [f"{axis}={options[axis]}" for axis in said]
        words += [f"{key}={written(own[key])}" for key in keys]
        result = RunDir(run).read_json("result.json")
        still = result.get("partial", {}).get("sentence")
        made.append(SweepJob(number, tuple(words), options, run, result, None, still))
    return made


def _comparable(key: str, options: Mapping[str, str], others: Mapping[str, str]) -> bool:
    axis = key.partition(".")[0]
    return options.get(axis) == others.get(axis)


def _config(run: Path) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    return {key: value for key, value in config.items() if key not in VOLATILE}


def _options(run: Path, config: Mapping[str, Any]) -> dict[str, str]:
    """Axis -> option."""
    chosen = RunDir(run).read_json("manifest.json")["choices"]
    return {axis: str(chosen[axis]) for axis in AXES if axis in config}


def _flat(path: str, node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in node.items():
        name = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping):
            yield from _flat(name, value)
        elif key != "_target_":
            yield name, value
