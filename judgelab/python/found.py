"""What a run found, as DataFrames and drawings: read from its folder, without a model."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from judgelab.core.errors import DataError, did_you_mean
from judgelab.core.result import PARTS
from judgelab.report import cell, figures
from judgelab.report.comparison import drawings_of
from judgelab.report.figures.style import Drawn
from judgelab.report.page import heading
from judgelab.report.tables import frame as as_frame
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")
COUNTS = ("n", "unscored")


class Named(Mapping[str, T]):
    """Things by name, each made when it is first asked for."""

    def __init__(self, names: Sequence[str], make: Callable[[str], T], what: str) -> None:
        self._names, self._make, self._what = tuple(dict.fromkeys(names)), make, what
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._names:
            raise KeyError(f"no {self._what} is called {name!r}.{did_you_mean(name, self._names)}")
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"{self._what}s: {', '.join(self._names) or 'none'}"


@dataclass(frozen=True)
class Page:
    """A run's page, which a notebook shows in a frame of its own, as it brings its style along."""

    path: Path

    def _repr_html_(self) -> str:
        text = html.escape(self.path.read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{text}" style="width:100%;height:800px;border:0"></iframe>'


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
    def read(cls, folder: str | os.PathLike[str]) -> RunResult:
        """Of a finished run, or a partial one.

        Raises:
            DataError: there is no run in the folder, or it has not finished.
        """
        path = Path(folder).expanduser()
        if not (path / "config.yaml").is_file():
            raise DataError(
                f"{path} is no run: give a folder of outputs/runs, or of outputs/sweeps."
            )
        into = RunDir(path)
        content = into.read_json("result.json") if (path / "result.json").is_file() else {}
        if not into.done and "partial" not in content:
            raise DataError(
                f"The run {path} has not finished: the command that began it continues it."
            )
        return cls(path, content)

    @cached_property
    def verdict(self) -> str:
        """The answer in plain sentences; where the study gives none, its primary figure."""
        answer = self.content.get("answer", [])
        said = [f"{head}: {line}" if head else line for head, line in answer]
        said = [title, *said] if (title := self.content.get("title")) else said
        return "\n".join(said) or cell.primary(self.content)

    @property
    def verdicts(self) -> dict[str, str]:
        """Of an audit: judge -> use, not known yet or do not use."""
        if "verdict" not in self.tables.get("judges", {}):
            return {}
        table = self.tables["judges"]
        return dict(zip(table["judge"], table["verdict"], strict=True))

    @property
    def primary(self) -> str:
        """The row of ``summary`` that the study is about."""
        return str(self.content["primary"])

    @cached_property
    def summary(self) -> DataFrame:
        """One row a figure: value, low, high (of its interval), p, n, unscored; NaN: not known."""
        return summary_frame(self.content["summary"])

    @property
    def about(self) -> dict[str, Any]:
        """Entries of the summary that are no figures: study, mechanism, dataset, settings."""
        flat = self.content["summary"]
        parts = _parts(flat)
        return {k: v for k, v in flat.items() if k not in parts and k not in self.summary.index}

    @cached_property
    def tables(self) -> Mapping[str, DataFrame]:
        """Name -> table of the page, with all its rows and columns."""
        held = {table["name"]: table for table in self.content["tables"]}
        return Named(list(held), lambda name: as_frame(held[name]), "table")

    @cached_property
    def figures(self) -> Mapping[str, Drawn]:
        """Name -> figure of the page, as a notebook shows it; ``.figure`` is matplotlib's."""
        sections = self.content.get("sections", [])
        names = [*self.content["figures"], *(name for one in sections for name in one["figures"])]
        drawings = drawings_of([self.path])
        return Named(names, lambda name: figures.draw(name, dict(self.tables), drawings), "figure")

    @cached_property
    def records(self) -> Mapping[str, DataFrame]:
        """Name -> every measurement, score or text: what all figures are computed from."""
        import pandas as pd

        folder = self.path / "records"
        names = sorted(file.stem for file in folder.glob("*.parquet"))
        return Named(names, lambda name: pd.read_parquet(folder / f"{name}.parquet"), "record")

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader must see."""
        return tuple(self.content["notes"])

    @property
    def partial(self) -> str:
        """What is open of the run, in a sentence; empty where nothing is."""
        return str(self.content.get("partial", {}).get("sentence", ""))

    @property
    def page(self) -> Page:
        """The report, to be shown in a notebook."""
        return Page(self.path / "report.html")

    def __repr__(self) -> str:
        said = "\n".join(f"  {line}" for line in self.verdict.splitlines())
        return f"{heading(self.content)}\n{said}\n  page: {self.path / 'report.html'}"

    def _repr_html_(self) -> str:
        """The answer, the figures with their intervals, and where the page is."""
        return cell.of_run(self.content, self.verdict, self.path)


def summary_frame(flat: Mapping[str, Any]) -> DataFrame:
    """The numbers of a flat summary, a row each, with what belongs to one in its columns."""
    import pandas as pd

    parts = _parts(flat)
    rows = {
        key: {"value": value} | {part: flat.get(f"{key}_{part}") for part in PARTS}
        for key, value in flat.items()
        if key not in parts and (_number(value) or (value is None and f"{key}_n" in flat))
    }
    made = pd.DataFrame.from_dict(rows, orient="index", columns=["value", *PARTS])
    for column in made:
        made[column] = pd.to_numeric(made[column])
        if column in COUNTS:
            made[column] = made[column].astype("Int64")
    order = ["value", "low", "high", "p", *COUNTS, "threshold"]
    return made[[one for one in order if one != "threshold" or made[one].notna().any()]]


def _parts(flat: Mapping[str, Any]) -> set[str]:
    """Keys that only say something of another one."""
    return {f"{key}_{part}" for key in flat for part in PARTS} & flat.keys()


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
