"""Tables of scores: CSV or parquet, one row per item and system."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from pandas import DataFrame

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none"})
"""What a cell of a CSV may hold where a score is missing, in any case."""


def read_table(path: str, setting: str = "dataset.path") -> DataFrame:
    """The rows of a .csv (cells stay text) or .parquet file.

    Args:
        path: the file.
        setting: the config key it came from, for messages.

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
        _number(cell, f"{path!r}, row {row + 1}, column {column!r}")
        for row, cell in zip(table.index.tolist(), table[column].tolist(), strict=True)
    ]


def numeric_columns(table: DataFrame, but: Sequence[str]) -> list[str]:
    """The columns that hold numbers, in order, without those named."""
    import pandas as pd

    return [
        str(column)
        for column in table.columns
        if column not in but and pd.api.types.is_numeric_dtype(table[column])
    ]


def text_or_none(cell: object) -> str | None:
    """A text cell; None where it is null or blank."""
    return cell if isinstance(cell, str) and cell.strip() else None


def number_or_nan(values: Mapping[str, Any], key: str, where: str) -> float:
    """A number at a key of a mapping; NaN where it is absent or null.

    Raises:
        DataError: it is no finite number.
    """
    return _number(values.get(key), f"{where}, {key!r}")


def _number(cell: object, where: str) -> float:
    if cell is None or cell != cell or (isinstance(cell, str) and cell.strip().lower() in MISSING):
        return math.nan
    try:
        value = math.nan if isinstance(cell, bool) else float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{where}: {cell!r} is no number (leave missing scores empty).")
    return value
