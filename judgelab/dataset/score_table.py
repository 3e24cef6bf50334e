"""Tables of scores, CSV or parquet: how they are read, and a user's own as a dataset."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.panel import Panel
from judgelab.dataset.rated import Rated, rated_panel
from judgelab.dataset.rows import at_least_one

if TYPE_CHECKING:
    from pandas import DataFrame

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none"})
"""What a cell of a CSV may hold where a score is missing, in any case."""


def read_table(path: str, setting: str = "dataset.path") -> DataFrame:
    """The rows of a .csv (cells stay text) or .parquet file that the key ``setting`` names.

    Raises:
        DataError: there is no such file, it has another ending, cannot be read, or has no rows.
    """
    import pandas as pd

    file = Path(path).expanduser()
    if file.suffix.lower() not in (".csv", ".parquet"):
        raise DataError(f"{setting}={path!r} must name a .csv or .parquet file.")
    if not file.is_file():
        raise DataError(f"There is no file {path!r}: check {setting}.")
    try:
        if file.suffix.lower() == ".parquet":
            table = pd.read_parquet(file)
        else:
            table = pd.read_csv(file, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, ValueError) as cause:  # pandas' and pyarrow's errors are ValueErrors
        said = " ".join(str(cause).split())[:200]
        raise DataError(f"{setting}={path!r} cannot be read: {said}.") from cause
    if not len(table):
        raise DataError(f"{setting}={path!r} has no rows.")
    return table.reset_index(drop=True)  # rows are told by their number


def need(table: DataFrame, columns: Iterable[str], path: str, setting: str) -> None:
    """Refuse a table that lacks a column.

    Raises:
        DataError: names the column, where it was asked for, and the nearest one.
    """
    present = [str(column) for column in table.columns]
    for column in columns:
        if column not in present:
            hint = did_you_mean(column, present)
            raise DataError(f"{path!r} has no column {column!r} ({setting}).{hint}")


def names(table: DataFrame, column: str, path: str) -> list[str]:
    """A column of ids as text.

    Raises:
        DataError: a cell is empty.
    """
    found = []
    for row, cell in zip(table.index.tolist(), table[column].tolist(), strict=True):
        name = "" if cell is None or cell != cell else str(cell)
        if not name.strip():
            raise DataError(f"{path!r}, row {row + 1}: the column {column!r} is empty.")
        found.append(name)
    return found


def numbers(table: DataFrame, column: str, path: str) -> list[float]:
    """A column of scores; NaN where a cell is empty or says that it is missing.

    Raises:
        DataError: a cell holds something else than a finite number.
    """
    return [
        number_or_nan(cell, f"{path!r}, row {row + 1}, column {column!r}")
        for row, cell in zip(table.index.tolist(), table[column].tolist(), strict=True)
    ]


def places(table: DataFrame, item: str, system: str, path: str) -> list[tuple[str, str]]:
    """(item, system) of every row."""
    return list(zip(names(table, item, path), names(table, system, path), strict=True))


def by_row(table: DataFrame, columns: Iterable[str], path: str) -> Iterator[dict[str, float]]:
    """Column -> score, row by row."""
    found = {column: numbers(table, column, path) for column in columns}
    return ({name: scores[row] for name, scores in found.items()} for row in range(len(table)))


def text_or_none(cell: object) -> str | None:
    """A text cell; None where it is null or blank."""
    return cell if isinstance(cell, str) and cell.strip() else None


def number_or_nan(cell: object, where: str) -> float:
    """A number; NaN where the cell is empty or says that it is missing.

    Raises:
        DataError: it is no finite number.
    """
    if cell is None or cell != cell or (isinstance(cell, str) and cell.strip().lower() in MISSING):
        return math.nan
    try:
        value = math.nan if isinstance(cell, bool) else float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{where}: {cell!r} is no number (leave missing scores empty).")
    return value


@dataclass(frozen=True, kw_only=True)
class ScoreTable:
    """One row per item and system, with what people and metrics gave the system's text.

    A cell may be empty: that text is unscored. ``mechanism=recorded_scores`` takes the metrics.

    Args:
        path: .csv (UTF-8, header line) or .parquet.
        item, system: columns that say which text it is.
        human: column of human scores; null: there are none.
        metrics: columns of metric scores.
        task: a word for the record.
        limit: the first so many items; ``load`` may override it.

    Raises:
        ConfigError: no path, no metric, or a limit below 1.
    """

    path: str
    item: str = "item"
    system: str = "system"
    human: str | None = "human"
    metrics: Sequence[str] = ("metric",)
    task: str = "summarization"
    limit: int | None = None

    def __post_init__(self) -> None:
        if not self.path:
            raise ConfigError("dataset=score_table needs dataset.path=FILE.")
        if not self.metrics:
            raise ConfigError("dataset.metrics must name at least one column of scores.")
        at_least_one(self.limit)

    def load(self, limit: int | None = None) -> Panel:
        """Items and systems without texts, with human scores and metrics.

        Raises:
            ConfigError: the limit is below 1.
            DataError: the file, a column or a cell is not as described, or a text is rated twice.
        """
        limit = self.limit if limit is None else at_least_one(limit)
        table = read_table(self.path)
        for setting, columns in (
            ("dataset.item", [self.item]),
            ("dataset.system", [self.system]),
            ("dataset.human; null where there are none", [self.human] if self.human else []),
            ("dataset.metrics", self.metrics),
        ):
            need(table, columns, self.path, setting)
        human = numbers(table, self.human, self.path) if self.human else [math.nan] * len(table)
        where = places(table, self.item, self.system, self.path)
        scores = by_row(table, self.metrics, self.path)
        rows = (
            Rated(*place, people, given)
            for place, people, given in zip(where, human, scores, strict=True)
        )
        file = Path(self.path).expanduser()
        panel = rated_panel(
            rows,
            {},
            limit,
            repr(self.path),
            dataset=file.stem,
            source="path",
            file=self.path,
            sha256=hashlib.sha256(file.read_bytes()).hexdigest(),
            human=self.human,
        )
        return replace(panel, task=self.task)
