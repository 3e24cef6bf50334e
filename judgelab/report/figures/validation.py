"""How far an attack moves a metric: one run, or metrics by attacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgelab.report import format
from judgelab.report.figures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ACROSS = 3  # attacks side by side
HONEST = {"falls", "does not rise"}
AXIS = "d, attacked minus clean"


def change(tables: dict[str, DataFrame]) -> Figure:
    """One point: d of the run, with its interval."""
    frame = tables["smd"]
    drawn, axes = style.new_figure(1.2)
    for row in style.records(frame):
        style.interval(axes[0, 0], 0, row, _mark(row))
    style.reference_line(axes[0, 0], 0)
    axes[0, 0].set_yticks([0], [f"{frame['mechanism'][0]}, {frame['attack'][0]}"])
    axes[0, 0].set_xlabel(AXIS)
    axes[0, 0].margins(x=0.3)
    return drawn


def change_caption(tables: dict[str, DataFrame]) -> str:
    """How to read it."""
    frame = tables["smd"]
    return (
        f"An honest metric {frame['honest_metric'][0]}; this one {frame['verdict'][0]}. "
        f"The line is a 95 % interval. {style.counted(frame, 'rows')}."
    )


def crossed(tables: dict[str, DataFrame]) -> Figure:
    """One panel for each attack, one row for each metric."""
    cells = tables["crossed"]
    attacks = list(dict.fromkeys(cells["attack"]))
    metrics = list(dict.fromkeys(cells["metric"]))[::-1]
    across = min(ACROSS, len(attacks))
    down = -(-len(attacks) // across)
    height = down * (0.9 + 0.26 * len(metrics)) + 0.3
    drawn, axes = style.new_figure(height, across, down, sharey=True)
    for place, side in enumerate(axes.flat):
        if place >= len(attacks):
            side.set_axis_off()
            continue
        part = cells[cells["attack"] == attacks[place]]
        for row in style.records(part):
            style.interval(side, metrics.index(row["metric"]), row, _mark(row))
        style.reference_line(side, 0)
        wanted = "should fall" if part["expects"].iloc[0] == "fall" else "should not rise"
        side.set_title(f"{format.words(attacks[place])}\n{wanted}", fontsize=9)
        side.set_yticks(range(len(metrics)), [format.shorten(m, 34) for m in metrics])
        side.set_ylim(-0.6, len(metrics) - 0.4)
        side.grid(axis="x")
        side.set_xlabel(AXIS)
    keys = [
        style.key(style.Mark(style.HUES[0]), "as an honest metric does"),
        style.key(style.Mark(style.HUES[1], "D", hollow=True), "not"),
    ]
    style.legend(drawn, keys)
    return drawn


def crossed_caption(tables: dict[str, DataFrame]) -> str:
    """How to read it."""
    return (
        "Filled: the metric did what an honest one does under this attack (its interval lies below "
        "0, or not wholly above it); hollow: it did not. Lines are 95 % intervals. "
        f"{style.counted(tables['crossed'], 'rows')}."
    )


def _mark(row: dict[str, object]) -> style.Mark:
    if row.get("verdict") in HONEST:
        return style.Mark(style.HUES[0])
    return style.Mark(style.HUES[1], "D", hollow=True)
