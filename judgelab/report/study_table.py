"""A table of those jobs of a sweep that belong to one kind of study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgelab.report.tables import Column, column

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class StudyTable:
    """A table of those jobs of a sweep that belong to one kind of study.

    Attributes:
        name: of the CSV, without its ending, and of the figure's table.
        figure: that draws it; None where none does.
        note: how to read it.
        rows: all numbers.
        tables: heading -> columns, for the page; the first for a wide screen, too.
        narrow: the first for any terminal.
    """

    name: str
    figure: str | None
    note: str
    rows: DataFrame
    tables: Mapping[str, Sequence[Column]]
    narrow: Sequence[Column]


def keyed(rows: Sequence[Mapping[str, Any]], key: str, heading: str | None = None) -> Column:
    """The column that these rows have under a key."""
    return column(key, [row[key] for row in rows], heading)
