"""The change that attacks make to a score, and whether an honest metric does that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgelab.report import format
from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Drawn, Mark, Tables
from judgelab.report.tables import records
from judgelab.study.validation.compare import HONEST

if TYPE_CHECKING:
    pass

AXIS = "d, attacked minus clean"
AS_HONEST, OTHERWISE = Mark(style.HUES[0]), Mark(style.HUES[1], "D", hollow=True)
UNDECIDED = Mark(style.MUTED, "s", hollow=True)


def attacks(tables: Tables) -> Drawn:
    """One panel for each attack, one row for each metric."""
    cells = tables["metrics_by_attacks"]
    names, metrics = (list(dict.fromkeys(cells[key])) for key in ("attack", "metric"))
    figure, axes = style.multiples(names, 0.3, 0.9 + 0.26 * len(metrics), sharey=True)
    for side, (attack, part) in zip(axes.flat, cells.groupby("attack", sort=False), strict=False):
        heights = dict(zip(metrics, style.name_rows(side, metrics, 34), strict=True))
        for row in records(part):
            style.interval(side, heights[row["metric"]], row, _honest(row))
        style.reference_line(side, 0)
        wanted = "should fall" if part["expects"].iloc[0] == "fall" else "should not rise"
        side.set_title(f"{format.words(str(attack))}\n{wanted}", fontsize=9)
        side.set_xlabel(AXIS)
    marks = {"as an honest metric does": AS_HONEST, "not": OTHERWISE, "undecided": UNDECIDED}
    style.legend(figure, [style.key(mark, name) for name, mark in marks.items()])
    said = (
        "Filled: the metric did what an honest one does under this attack (its interval lies below "
        "0, or below what counts as no rise); hollow: it did not. Lines are 95 % intervals."
    )
    return Drawn("Metrics by attacks", figure, style.with_n(said, cells, "rows"))


def _honest(row: dict[str, Any]) -> Mark:
    if row.get("verdict") == "undecided":
        return UNDECIDED
    return AS_HONEST if row.get("verdict") in HONEST else OTHERWISE


DRAWINGS: dict[str, Drawing] = {"metrics_by_attacks": attacks}
