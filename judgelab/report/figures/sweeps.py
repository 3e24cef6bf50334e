"""Mechanisms side by side, clean and under every attack of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgelab.report import format
from judgelab.report.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

CLEAN = "none"
SHAPES = ("s", "^", "D", "v", "P", "X", "<", ">")
STEP = 0.17  # inches between two points of one mechanism


def effect_sizes(tables: dict[str, DataFrame]) -> Figure:
    """Effect size of every mechanism, one point for each attack."""
    return _figure(tables, "effect_size", "Effect size d", null=0.0)


def auc(tables: dict[str, DataFrame]) -> Figure:
    """AUC of every mechanism, one point for each attack."""
    return _figure(tables, "auc", "AUC", null=0.5)


def caption(tables: dict[str, DataFrame]) -> str:
    """What the marks and lines mean, and how many items there were."""
    return (
        "Filled: clean texts; hollow: the same texts under an attack. Lines are 95 % intervals "
        "over items, the dotted line continues a clean value, the dashed one is what an "
        f"uninformative score gives. {style.counted(tables['points'])}."
    )


def _figure(tables: dict[str, DataFrame], statistic: str, label: str, null: float) -> Figure:
    """Rows of points.

    Args:
        tables: "points" with facet, group, attack ("none" is clean), statistic, value, low, high.
        statistic: which rows to draw.
        label: of the x axis.
        null: value of an uninformative score.
    """
    points = tables["points"]
    points = points[points["statistic"] == statistic]
    facets = list(dict.fromkeys(points["facet"]))
    marks = _marks(list(dict.fromkeys(tables["points"]["attack"])))
    heights = [_slots(points[points["facet"] == facet]) for facet in facets]
    drawn, axes = style.new_figure(
        1.0 + sum(0.55 + STEP * slots for slots in heights),
        rows=len(facets),
        sharex=True,
        gridspec_kw={"height_ratios": heights},
    )
    for side, facet in zip(axes[:, 0], facets, strict=True):
        _side(side, points[points["facet"] == facet], marks, null)
        side.set_title(format.shorten(format.text(facet), 60) if facet else "")
    axes[-1, 0].set_xlabel(f"{label}, 95 % interval  ({null:g} = tells nothing)")
    entries = [style.key(m, "clean" if name == CLEAN else name) for name, m in marks.items()]
    style.legend(drawn, entries)
    return drawn


def _marks(attacks: list[str]) -> dict[str, style.Mark]:
    """Clean is filled ink; each attack has a colour and a shape of its own."""
    marks = {CLEAN: style.Mark(style.INK)} if CLEAN in attacks else {}
    for place, name in enumerate(name for name in attacks if name != CLEAN):
        shape, hue = SHAPES[place % len(SHAPES)], style.HUES[place % len(style.HUES)]
        marks[name] = style.Mark(hue, shape, hollow=True, size=5.5)
    return marks


def _slots(points: DataFrame) -> int:
    """Points on top of each other, and an empty one after every group."""
    return len(points) + points["group"].nunique()


def _side(axes: Axes, points: DataFrame, marks: dict[str, style.Mark], null: float) -> None:
    ticks: list[float] = []
    y = 0.0
    groups = list(dict.fromkeys(points["group"]))
    for group in groups:
        rows = style.records(points[points["group"] == group])
        rows.sort(key=lambda row: list(marks).index(row["attack"]))
        for place, row in enumerate(rows):
            _point(axes, y - place, row, marks[row["attack"]])
        _baseline(axes, y, rows)
        ticks.append(y - (len(rows) - 1) / 2)
        y -= len(rows) + 1
        if group != groups[-1]:
            axes.axhline(y + 1, color=style.RULE, lw=0.6, zorder=0)
    style.reference_line(axes, null)
    axes.set_yticks(ticks, [format.shorten(format.text(group), 40) for group in groups])
    axes.set_ylim(y + 1, 1)
    axes.grid(axis="x")


def _point(axes: Axes, y: float, row: dict[str, Any], mark: style.Mark) -> None:
    style.interval(axes, y, row, mark)
    if row["value"] != row["value"]:
        style.unscored(axes, y, f"{row['attack']}: unscored")


def _baseline(axes: Axes, top: float, rows: list[dict[str, Any]]) -> None:
    """From the clean value down past the attacked ones."""
    if len(rows) > 1 and rows[0]["attack"] == CLEAN and rows[0]["value"] == rows[0]["value"]:
        value = rows[0]["value"]
        ends = [top, top - len(rows) + 0.6]
        axes.plot([value, value], ends, color=style.INK, lw=0.9, ls=":", zorder=1)
