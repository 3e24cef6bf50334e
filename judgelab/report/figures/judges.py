"""Judges by their average discernment, each beside what chance reaches on its ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgelab.report import format
from judgelab.report.figures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

CHANCE = style.Mark(style.HUES[1], "|", size=10)


def board(tables: dict[str, DataFrame]) -> Figure:
    """One panel for each dataset, one row per judge, the best on top."""
    frame = tables["judges"]
    parts = [part for _, part in frame.groupby("dataset", sort=False)]
    heights = [len(part) for part in parts]
    height = 0.9 + 0.5 * len(parts) + 0.32 * sum(heights)
    drawn, axes = style.new_figure(height, 1, len(parts), sharex=True, height_ratios=heights)
    for side, part in zip(axes[:, 0], parts, strict=True):
        for place, row in enumerate(style.records(part)):
            y = len(part) - 1 - place
            drawable = {k: row[f"average_ew{p}"] for k, p in PARTS.items()}
            if drawable["value"] != drawable["value"]:
                style.unscored(side, y)
                continue
            style.interval(side, y, drawable, style.Mark(style.HUES[0]))
            bar = row["average_ew_threshold"]
            side.plot([bar], [y], marker="|", ms=11, mew=2, color=CHANCE.colour, zorder=4)
        style.reference_line(side, 1)
        names = [format.shorten(format.text(name), 40) for name in part["judge"]]
        side.set_yticks(range(len(part))[::-1], names)
        side.set_ylim(-0.6, len(part) - 0.4)
        side.grid(axis="x")
        if len(parts) > 1:
            side.set_title(format.text(part["dataset"].iloc[0]))
    axes[-1, 0].set_xlabel("Average D, expert weights")
    keys = [style.key(style.Mark(style.HUES[0]), "judge")]
    style.legend(drawn, [*keys, style.key(CHANCE, "what chance reaches in 5 %")])
    return drawn


PARTS = {"value": "", "low": "_low", "high": "_high"}


def board_caption(tables: dict[str, DataFrame]) -> str:
    """How to read it."""
    return (
        "Lines are 95 % intervals over items, the dashed line is p = .05; a judge whose point is "
        "not right of its red mark sees no more than chance does. "
        f"{style.counted(tables['judges'])}."
    )
