"""Finished runs and sweeps, read from their folders, and runs side by side."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from judgelab.core.errors import DataError
from judgelab.python.found import Named, RunResult
from judgelab.report import cell, figures
from judgelab.report.comparison import Comparison, comparisons, drawings_of
from judgelab.report.figures.style import Drawn
from judgelab.report.jobs import SweepJob, jobs, warnings
from judgelab.report.side_by_side import beside
from judgelab.report.sweep_tables import table

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
    return RunComparison(beside([one.path for one in read]))


def load(path: str | os.PathLike[str]) -> RunResult | RunComparison:
    """What a finished run found, or the comparison of a sweep, by its folder.

    Raises:
        DataError: it is neither, or the run has not finished.
    """
    if not isinstance(path, str | os.PathLike):
        raise DataError(f"{type(path).__name__} is no path: give the folder of a run or a sweep.")
    folder = Path(path).expanduser()
    return RunComparison(jobs(folder)) if any(folder.glob("*/job.json")) else RunResult.read(folder)
