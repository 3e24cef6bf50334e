"""Figures of the leaderboard: scores with their ranks, and scores against sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgelab.report import format
from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Drawn, Mark, Tables
from judgelab.report.tables import records

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

PEOPLE = Mark(style.HUES[1], "D")
MACHINE = Mark(style.HUES[0])
BAND: dict[str, Any] = {"color": style.HUES[1], "alpha": 0.12, "lw": 0}


def leaderboard(tables: Tables) -> Drawn:
    """One row per candidate, best on top; a band and a dashed line at the human baseline."""
    frame = tables["leaderboard"]
    figure, side = style.single(0.9 + 0.3 * len(frame))
    heights = style.name_rows(side, frame["candidate"])
    for y, row in zip(heights, records(frame), strict=True):
        person = row["kind"] == "human"
        if style.interval(side, y, row, PEOPLE if person else MACHINE) and person:
            style.reference_line(side, row["value"])
            side.axvspan(row["low"], row["high"], **BAND)
        style.aside(side, y, f"rank {row['rank_low']:.0f}–{row['rank_high']:.0f}")
    side.set_xlabel("Mean score, 90 % interval")
    said = "Lines and ranks are 90 % intervals over items."
    if "human" in set(frame["kind"]):
        said += " Diamonds, the dashed line and the band are people."
    return Drawn("Leaderboard", figure, style.with_n(said, frame))


def size(tables: Tables) -> Drawn:
    """Score against the number of parameters."""
    figure, side = style.single(3.6)
    known, people = _by_size(side, tables["leaderboard"])
    side.set_ylabel("Mean score")
    said = f"Score against size for the {known} candidates whose size is known."
    return Drawn("Score against size", figure, said + (PEOPLE_SAID if people else ""))


PEOPLE_SAID = " The dashed line and the band are people, with their 90 % interval."


def boards(tables: Tables) -> Drawn:
    """One panel for each metric: score against size (GEM paper, figures 4 and 5)."""
    parts = {str(m): part for m, part in tables["boards"].groupby("metric", sort=False)}
    figure, axes = style.multiples(list(parts), 0.3, 3.0)
    known, people = 0, False
    for side, (metric, part) in zip(axes.flat, parts.items(), strict=False):
        known, people = _by_size(side, part)
        side.set_title(format.shorten(metric, 40), fontsize=9)
    axes[0, 0].set_ylabel("Mean score")
    said = f"Score against size by each metric, for the {known} candidates whose size is known."
    return Drawn("Scores against size", figure, said + (PEOPLE_SAID if people else ""))


def _by_size(side: Axes, whole: DataFrame) -> tuple[int, bool]:
    """The points of a leaderboard and the band of people; how many, and whether there is one."""
    frame = whole.dropna(subset=["parameters", "value"])
    people = whole[whole["kind"] == "human"].dropna(subset=["value"])
    for row in records(people):
        side.axhline(row["value"], **style.DASHED)
        side.axhspan(row["low"], row["high"], **BAND)
    for row in records(frame):
        x, y = row["parameters"], row["value"]
        down, up = y - row["low"], row["high"] - y
        if down == down and up == up:
            spread = [[down], [up]]
            side.errorbar([x], [y], yerr=spread, color=MACHINE.colour, lw=1.2, alpha=0.6)
        side.plot([x], [y], "o", color=MACHINE.colour)
        style.beside(side, x, y, row["candidate"], 24)
    side.set(xscale="log", xlabel="Parameters, billions")
    side.xaxis.set_major_formatter(style.TICKS)
    side.xaxis.set_minor_formatter("")
    side.grid(axis="y")
    side.margins(x=0.15)
    return len(frame), bool(len(people))


DRAWINGS: dict[str, Drawing] = {
    "leaderboard": leaderboard,
    "size": size,
    "boards_by_size": boards,
}
