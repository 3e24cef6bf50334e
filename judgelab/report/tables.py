"""A table of a result as columns of readable cells: the console and the page print the same."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgelab.report import format

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[str, Any]

SENTENCE = 90  # characters beyond which a cell is more than a name


@dataclass(frozen=True)
class Column:
    """One column, ready to print."""

    key: str  # the name in the rows; "value" stands for value, low and high together
    heading: str  # the name for readers
    numeric: bool  # whether it is to be aligned right
    cells: tuple[str, ...]  # the texts, one per row
    sort: tuple[Any, ...]  # what the rows are to be sorted by, one per row; None goes last
    links: tuple[str, ...] = ()  # where a cell leads, one per row; "" nowhere. Empty without any.

    @property
    def prose(self) -> bool:
        """Whether it holds sentences."""
        return any(len(cell) > SENTENCE for cell in self.cells)


def columns(rows: Sequence[Row], order: Iterable[str] = (), level: float = 0.95) -> list[Column]:
    """The columns of a table without those that hold nothing, intervals merged into their values.

    Args:
        rows: plain values, None for not known.
        order: the columns in the author's order; others follow.
        level: of the intervals.
    """
    keys = [key for key in _ordered(rows, order) if any(row.get(key) is not None for row in rows)]
    ends = {key: (f"{key}_low", f"{key}_high") for key in keys} | {"value": ("low", "high")}
    ends = {key: pair for key, pair in ends.items() if {key, *pair} <= set(keys)}
    merged = {end for pair in ends.values() for end in pair}
    ordered = []
    for key in (key for key in keys if key not in merged):
        if pair := ends.get(key):
            named = tuple(zip(("value", "low", "high"), (key, *pair), strict=True))
            parts = [{part: row.get(name) for part, name in named} for row in rows]
            heading = f"{format.words(key)} [{100 * level:g} % interval]"
            ordered.append(estimates(key, parts, heading))
        else:
            ordered.append(column(key, [row.get(key) for row in rows]))
    return ordered


def column(key: str, values: Sequence[Any], heading: str | None = None) -> Column:
    """A column of numbers, of p values (key "p") or of texts; heading: the key in words.

    Numbers that are all whole are written so: ranks, counts, and what counts them as floats.
    """
    sort = tuple(None if value != value else value for value in values)  # NaN goes last, too
    numeric = all(_is_number(value) or value is None for value in values)
    whole = numeric and all(_is_whole(value) for value in values)
    cells = tuple(_cell(key, _whole(value) if whole else value, numeric) for value in values)
    return Column(key, format.words(key) if heading is None else heading, numeric, cells, sort)


def estimates(key: str, found: Iterable[Row], heading: str) -> Column:
    """A column of estimates (value, low, high), sorted by their values."""
    parts = [[row.get(part) for part in ("value", "low", "high")] for row in found]
    if all(_is_whole(part) for each in parts for part in each):
        parts = [[_whole(part) for part in each] for each in parts]  # ranks
    cells = tuple(format.estimate(*each) for each in parts)
    return Column(key, heading, True, cells, tuple(v if v == v else None for v, _, _ in parts))


def frame(table: Mapping[str, Any]) -> pd.DataFrame:
    """The table with all its columns in reading order; None is NaN in columns of numbers."""
    import pandas as pd

    rows: Sequence[Row] = table["rows"]
    keys = _ordered(rows, table.get("columns", ()))
    data = pd.DataFrame([[row.get(key) for key in keys] for row in rows], columns=keys)
    for key in keys:
        if all(_is_number(row.get(key)) or row.get(key) is None for row in rows):
            data[key] = pd.to_numeric(data[key])
    return data


def records(data: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as plain mappings."""
    return [{str(key): value for key, value in row.items()} for row in data.to_dict("records")]


def cut(rows: Sequence[Row], most: int = 20, ends: int = 5) -> tuple[list[Row], int]:
    """The rows for a screen and how many were left out: first and last of the first panel."""
    if len(rows) <= most:
        return list(rows), 0
    first = [row for row in rows if row.get("panel") == rows[0].get("panel")]
    kept = first if len(first) <= most // 2 else [*first[:ends], *first[-ends:]]
    return list(kept), len(rows) - len(kept)


def _is_whole(value: Any) -> bool:
    return value is None or not value % 1 > 0


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and math.isfinite(value) else value


def _cell(key: str, value: Any, numeric: bool) -> str:
    if key in ("p", "p_holm"):
        return format.p_value(value)
    if numeric or isinstance(value, int | float):
        return format.number(value)
    shown = format.text(value)
    return format.words(shown) if key == "statistic" else shown


def _ordered(rows: Sequence[Row], order: Iterable[str]) -> list[str]:
    """The columns that are there: those of the order, then others as they come."""
    present = dict.fromkeys(key for row in rows for key in row)
    return list(dict.fromkeys([*(key for key in order if key in present), *present]))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
