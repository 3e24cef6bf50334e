"""Candidates by score, and by size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judgelab.report import format
from judgelab.report.figures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

PEOPLE = style.Mark(style.HUES[1], "D")
MACHINE = style.Mark(style.HUES[0])


def board(tables: dict[str, DataFrame]) -> Figure:
    """One row per candidate, best on top; a dashed line at the human baseline."""
    frame = tables["leaderboard"]
    drawn, axes = style.new_figure(0.9 + 0.3 * len(frame))
    side = axes[0, 0]
    for place, row in enumerate(style.records(frame)):
        y = len(frame) - 1 - place
        person = row["kind"] == "human"
        style.interval(side, y, row, PEOPLE if person else MACHINE)
        if person and row["value"] == row["value"]:
            style.reference_line(side, row["value"])
        ranks = f"rank {row['rank_low']:.0f}–{row['rank_high']:.0f}"
        side.annotate(
            ranks,
            (1.0, y),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            color=style.MUTED,
        )
    names = [format.shorten(format.text(name), 40) for name in frame["candidate"]]
    side.set_yticks(range(len(frame))[::-1], names)
    side.set_ylim(-0.6, len(frame) - 0.4)
    side.set_xlabel("Mean score, 90 % interval")
    side.grid(axis="x")
    return drawn


def board_caption(tables: dict[str, DataFrame]) -> str:
    """How to read it."""
    said = "Lines and ranks are 90 % intervals over items."
    if "human" in set(tables["leaderboard"]["kind"]):
        said += " Diamonds and the dashed line are people."
    return f"{said} {style.counted(tables['leaderboard'])}."


def size(tables: dict[str, DataFrame]) -> Figure:
    """Score against the number of parameters."""
    frame = tables["leaderboard"].dropna(subset=["parameters", "value"])
    drawn, axes = style.new_figure(3.6)
    side = axes[0, 0]
    for row in style.records(frame):
        x, y = row["parameters"], row["value"]
        spread = [[y - row["low"]], [row["high"] - y]]
        if not np.isnan(spread).any():
            side.errorbar([x], [y], yerr=spread, color=MACHINE.colour, lw=1.2, alpha=0.6)
        side.plot([x], [y], "o", color=MACHINE.colour)
        side.annotate(
            format.shorten(format.text(row["candidate"]), 24),
            (x, y),
            xytext=(5, 3),
            textcoords="offset points",
            fontsize=8,
            color=style.MUTED,
        )
    side.set_xscale("log")
    side.set_xlabel("Parameters, billions")
    side.set_ylabel("Mean score")
    side.grid(axis="y")
    side.margins(x=0.15)
    return drawn


def size_caption(tables: dict[str, DataFrame]) -> str:
    """How to read it."""
    known = int(tables["leaderboard"]["parameters"].notna().sum())
    return f"Score against size for the {known} candidates whose size is known."
