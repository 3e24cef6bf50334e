"""Drawings by name: from the tables of a result alone, so that a page needs no model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgelab.core.errors import DataError
from judgelab.report.figures import (
    curves,
    discernment,
    discrimination,
    qualification,
    ranking,
    sweeps,
)
from judgelab.report.figures.style import Drawing, Tables, counted, look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWINGS: dict[str, Drawing] = {
    name: drawing
    for module in (discrimination, discernment, qualification, ranking, curves, sweeps)
    for name, drawing in module.DRAWINGS.items()
}


def draw(name: str, tables: Tables) -> Figure:
    """Draw a figure.

    Args:
        name: a key of DRAWINGS.
        tables: name -> rows, as judgelab.report.tables.frame makes them.

    Raises:
        DataError: there is no such drawing, or the tables lack what it shows.
    """
    drawing = _drawing(name)
    try:
        with look():
            return drawing.figure(tables)
    except KeyError as cause:
        raise DataError(
            f"The figure {name} needs {cause}, which the result lacks: run again with force=true."
        ) from cause


def caption(name: str, tables: Tables) -> str:
    """One or two sentences: what the marks mean, and n."""
    drawing = _drawing(name)
    said = drawing.caption if isinstance(drawing.caption, str) else drawing.caption(tables)
    n = counted(tables[drawing.counted], drawing.unit) if drawing.counted else ""
    return f"{said} {n}." if n else said


def title(name: str) -> str:
    """The heading of a drawing."""
    return _drawing(name).title


def _drawing(name: str) -> Drawing:
    if name not in DRAWINGS:
        raise DataError(
            f"There is no drawing called {name!r}: known are {', '.join(sorted(DRAWINGS))}."
        )
    return DRAWINGS[name]
