"""Tables of scores: how they are read, as what panel, and a user's own as a dataset."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.panel import Agent, Item, Panel
from judgelab.dataset import LimitedDataset

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
    return table.reset_index(drop=True)  # messages number the rows


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
    """A column of ids as text; no cell may be empty."""
    found: list[str] = table[column].map(str).where(table[column].notna(), "").tolist()
    for row, name in zip(table.index.tolist(), found, strict=True):
        if not name.strip():
            raise DataError(f"{path!r}, row {row + 1}: the column {column!r} is empty.")
    return found


def numbers(table: DataFrame, column: str, path: str) -> list[float]:
    """A column of finite numbers; NaN where a cell is empty or says that it is missing."""
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


def rated_rows(
    table: DataFrame,
    path: str,
    where: tuple[str, str],
    human: str | None,
    scores: Iterable[Mapping[str, float]],
) -> list[Rated]:
    """One row for each text, its text where there is a column ``summary``.

    Args:
        where: columns of item and system.
        human: column of human scores; None: all are missing.
        scores: metric -> score, row by row.
    """
    missing = [None] * len(table)
    texts = table["summary"].tolist() if "summary" in table else missing
    people = numbers(table, human, path) if human else [math.nan] * len(table)
    return [
        Rated(*place, score, given, text_or_none(text))
        for place, score, given, text in zip(
            places(table, *where, path), people, scores, texts, strict=True
        )
    ]


def text_or_none(cell: object) -> str | None:
    """A text cell; None where it is null or blank."""
    return cell if isinstance(cell, str) and cell.strip() else None


def number_or_nan(cell: object, where: str) -> float:
    """A finite number; NaN where the cell is empty or says that it is missing."""
    if cell is None or cell != cell or (isinstance(cell, str) and cell.strip().lower() in MISSING):
        return math.nan
    try:
        value = math.nan if isinstance(cell, bool) else float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{where}: {cell!r} is no number (leave missing scores empty).")
    return value


@dataclass(frozen=True, slots=True)
class Rated:
    """One text.

    Attributes:
        item, system: which one.
        human: what people gave it; NaN where it is unscored.
        scores: metric -> score; NaN where it is missing.
        text: the text itself; None where the data hold scores alone.
    """

    item: str
    system: str
    human: float = math.nan
    scores: Mapping[str, float] = field(default_factory=dict)
    text: str | None = None


@dataclass(frozen=True, slots=True)
class RatedSource:
    """What a text was written from, and a human reference; empty where unknown."""

    text: str = ""
    reference: str | None = None


def rated_panel(
    rows: Iterable[Rated],
    sources: Mapping[str, RatedSource],
    limit: int | None,
    where: str,
    **provenance: object,
) -> Panel:
    """Items and systems in the order of first appearance, the first ``limit`` items.

    Args:
        rows: one for each text.
        sources: item -> source; an item that is absent has none.
        limit: None for all items.
        where: the file or dataset, for messages.
        provenance: facts to be kept; ``content`` (a hash) and ``rows`` are added.

    Raises:
        DataError: a text is rated twice, or there is none.
    """
    table: dict[str, dict[str, Rated]] = {}
    systems: dict[str, None] = {}
    for row in rows:
        cells = table.setdefault(row.item, {})
        if row.system in cells:
            raise DataError(
                f"{where}: item {row.item!r} and system {row.system!r} occur twice: "
                "keep one row for each."
            )
        cells[row.system] = row
        systems[row.system] = None
    kept = dict(list(table.items())[:limit])
    if not kept:
        raise DataError(f"{where} holds no scored texts.")
    panel = Panel(
        items=tuple(
            _item(name, cells, sources.get(name, RatedSource())) for name, cells in kept.items()
        ),
        agents=tuple(Agent(name) for name in systems),
        texts=tuple(
            tuple(cells[name].text if name in cells else None for name in systems)
            for cells in kept.values()
        ),
        provenance=provenance,
    )
    return replace(panel, provenance={**provenance, "rows": len(kept), "content": panel.digest})


def _item(name: str, cells: Mapping[str, Rated], source: RatedSource) -> Item:
    metrics = dict.fromkeys(metric for cell in cells.values() for metric in cell.scores)
    scores = {m: _known({s: c.scores.get(m, math.nan) for s, c in cells.items()}) for m in metrics}
    human = _known({system: cell.human for system, cell in cells.items()})
    return Item(name, source.text, source.reference, human=human, scores=scores)


def _known(scores: Mapping[str, float]) -> dict[str, float]:
    return {system: score for system, score in scores.items() if not math.isnan(score)}


@dataclass(frozen=True, kw_only=True)
class ScoreTable(LimitedDataset):
    """One row per item and system, with what people and metrics gave the system's text.

    A cell may be empty: that text is unscored. ``mechanism=recorded_scores`` takes the metrics.

    Args:
        path: .csv (UTF-8, header line) or .parquet.
        item, system: columns that say which text it is.
        human: column of human scores; null: there are none.
        metrics: columns of metric scores.
        task: a word for the record.
    """

    path: str
    item: str = "item"
    system: str = "system"
    human: str | None = "human"
    metrics: Sequence[str] = ("metric",)
    task: str = "summarization"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.path:
            raise ConfigError("dataset=score_table needs dataset.path=FILE.")
        if not self.metrics:
            raise ConfigError("dataset.metrics must name at least one column of scores.")

    def _panel(self, limit: int | None) -> Panel:
        table = read_table(self.path)
        for setting, columns in (
            ("dataset.item", [self.item]),
            ("dataset.system", [self.system]),
            ("dataset.human; null where there are none", [self.human] if self.human else []),
            ("dataset.metrics", self.metrics),
        ):
            need(table, columns, self.path, setting)
        scores = by_row(table, self.metrics, self.path)
        rows = rated_rows(table, self.path, (self.item, self.system), self.human, scores)
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
