"""How well a mechanism tells good faith from problematic: effect size and AUC with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgelab.report import format
from judgelab.report.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

SIDES = (
    ("Effect size d", ("effect_size",), 0.0),
    ("AUC", ("auc", "pair_auc"), 0.5),
)
UNITS = {"auc": "agents", "pair_auc": "pairs"}


def figure(tables: dict[str, DataFrame]) -> Figure:
    """Two panels: d against 0, AUC against .5; clean filled, attacked hollow."""
    frame = tables["discrimination"]
    panels = list(dict.fromkeys(frame["panel"]))
    drawn, axes = style.new_figure(
        1.3 + 0.55 * len(panels), columns=2, gridspec_kw={"width_ratios": [1, 1.5]}
    )
    for side, (title, statistics, null) in zip(axes[0], SIDES, strict=True):
        part = frame[frame["statistic"].isin(statistics)]
        rows = [
            row for name in statistics for row in style.records(part[part["statistic"] == name])
        ]
        _side(side, rows, null)
        side.set_title(title)
        side.set_xlabel(f"{title}  ({null:g} = tells nothing)")
    return drawn


def caption(tables: dict[str, DataFrame]) -> str:
    """What the marks mean, and how many items there were."""
    frame = tables["discrimination"]
    attacked = (
        " Filled: clean texts; hollow: attacked." if "attacked" in set(frame["panel"]) else ""
    )
    return (
        "Good faith against problematic agents; lines are 95 % intervals over items."
        f"{attacked} The dashed line is what an uninformative score gives. "
        f"{style.counted(frame)}."
    )


def _side(axes: Axes, rows: list[dict[str, Any]], null: float) -> None:
    heights = range(len(rows))[::-1]
    for y, row in zip(heights, rows, strict=True):
        mark = style.Mark(style.INK, hollow=row["panel"] == "attacked", size=7)
        style.interval(axes, y, row, mark)
        shown = format.estimate(row["value"], row.get("low"), row.get("high"))
        axes.annotate(
            shown if shown != format.NOTHING else "unscored",
            (1.0, y),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            color=style.MUTED,
        )
    style.reference_line(axes, null)
    axes.set_yticks(list(heights), [_label(row, rows) for row in rows])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.margins(x=0.12)
    axes.grid(axis="x")


def _label(row: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """What sets the row apart: agents or pairs, clean or attacked."""
    unit = [UNITS[row["statistic"]]] if row["statistic"] in UNITS else []
    several = len({other["panel"] for other in rows}) > 1 or not unit
    return ", ".join([*unit, row["panel"]] if several else unit)
