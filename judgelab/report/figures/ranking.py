"""Candidates in their order: a leaderboard, the confidence of a ranking, its calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Mark, Tables
from judgelab.report.tables import records

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

PEOPLE = Mark(style.HUES[1], "D")
MACHINE = Mark(style.HUES[0])
OBSERVED = {
    "unpaired": (MACHINE, "observed, each system on its own items"),
    "paired": (Mark(style.HUES[1], "D", hollow=True), "observed, both on the same items"),
}
MODELS = {
    "algorithm_1": ("Algorithm 1", style.HUES[7], "-"),
    "bias": ("with the bias between systems", style.HUES[3], "--"),
    "line": ("with bias and slope of the means", style.HUES[2], ":"),
}


def leaderboard(tables: Tables) -> Figure:
    """One row per candidate, best on top; a dashed line at the human baseline."""
    frame = tables["leaderboard"]
    drawn, side = style.single(0.9 + 0.3 * len(frame))
    heights = style.name_rows(side, frame["candidate"])
    for y, row in zip(heights, records(frame), strict=True):
        person = row["kind"] == "human"
        style.interval(side, y, row, PEOPLE if person else MACHINE)
        if person and row["value"] == row["value"]:
            style.reference_line(side, row["value"])
        style.aside(side, y, f"rank {row['rank_low']:.0f}–{row['rank_high']:.0f}")
    side.set_xlabel("Mean score, 90 % interval")
    return drawn


def _leaderboard_caption(tables: Tables) -> str:
    people = " Diamonds and the dashed line are people."
    said = "Lines and ranks are 90 % intervals over items."
    return said + people * ("human" in set(tables["leaderboard"]["kind"]))


def size(tables: Tables) -> Figure:
    """Score against the number of parameters."""
    frame = tables["leaderboard"].dropna(subset=["parameters", "value"])
    drawn, side = style.single(3.6)
    for row in records(frame):
        x, y = row["parameters"], row["value"]
        spread = [[y - row["low"]], [row["high"] - y]]
        if not np.isnan(spread).any():
            side.errorbar([x], [y], yerr=spread, color=MACHINE.colour, lw=1.2, alpha=0.6)
        side.plot([x], [y], "o", color=MACHINE.colour)
        style.beside(side, x, y, row["candidate"], 24)
    side.set_xscale("log")
    side.xaxis.set_major_formatter(style.whole)
    side.set_xlabel("Parameters, billions")
    side.set_ylabel("Mean score")
    side.grid(axis="y")
    side.margins(x=0.15)
    return drawn


def _size_caption(tables: Tables) -> str:
    known = int(tables["leaderboard"]["parameters"].notna().sum())
    return f"Score against size for the {known} candidates whose size is known."


def systems(tables: Tables) -> Figure:
    """Mean score of each system, best on top, and how sure it is above the next (figure 1)."""
    frame = tables["systems"]
    drawn, side = style.single(0.9 + 0.3 * len(frame))
    for y, row in zip(style.name_rows(side, frame["system"]), records(frame), strict=True):
        style.interval(side, y, row, MACHINE)
        if row["value"] != row["value"]:
            style.unscored(side, y)
        sure = row.get(_sure(frame), float("nan"))
        if sure == sure:
            style.aside(side, y - 0.5, f"{sure:.2f}")
    side.set_xlabel("Mean metric score; right: confidence in the order of neighbours")
    return drawn


def _systems_caption(tables: Tables) -> str:
    whose = "people have" if _sure(tables["systems"]) == "above_next_people" else "the metric keeps"
    return (
        f"Lines are 95 % intervals over items. Between two neighbours: the confidence that {whose} "
        "them in this order."
    )


def _sure(frame: DataFrame) -> str:
    """People's order where it can be said, else the metric's own."""
    known = "above_next_people" in frame
    return "above_next_people" if known else "above_next_same_metric"


def observed(tables: Tables) -> Figure:
    """Bootstrap shares in buckets of the true difference, and what was predicted (figure 5)."""
    frame = tables["observed"]
    drawn, side = style.single(3.8)
    entries = []
    unpaired = frame[frame["items"] == "unpaired"]
    for model, (name, colour, dashes) in MODELS.items():
        side.plot(unpaired["delta"], unpaired[model], color=colour, ls=dashes, lw=1.5)
        entries.append(style.line(colour, dashes, name))
    for items, (mark, name) in OBSERVED.items():
        for row in records(frame[frame["items"] == items]):
            style.interval(side, row["delta"], row, mark, upright=True)
        entries.append(style.key(mark, name))
    side.axhline(0.5, **style.DASHED)
    side.set_xlabel("Difference of the systems' human means")
    side.set_ylabel("Ranked right")
    side.grid(axis="y")
    style.legend(drawn, entries)
    return drawn


def _observed_caption(tables: Tables) -> str:
    pairs = int(tables["observed"].query("items == 'unpaired'")["n"].sum())
    return (
        "Points: share of resamples in which the metric ranks a pair as people do, averaged over "
        "pairs of similar difference, with 95 % intervals over systems. Lines: predicted for the "
        f"same pairs from the other systems. {pairs} pairs."
    )


def calibration(tables: Tables) -> Figure:
    """Observed against predicted confidence, one panel for each model."""
    models = tables["calibration"].groupby("model", sort=False)
    drawn, axes = style.new_figure(3.2, columns=models.ngroups, sharey=True)
    for side, (model, part) in zip(axes[0], models, strict=True):
        side.plot([0.5, 1], [0.5, 1], **style.DASHED)
        for row in records(part):
            style.interval(side, row["predicted"], row, MACHINE, upright=True)
        side.set_title(model, fontsize=9)
        side.set_xlabel("Predicted")
        side.grid()
    axes[0, 0].set_ylabel("Observed")
    return drawn


def _calibration_caption(tables: Tables) -> str:
    frame = tables["calibration"]
    pairs = int(frame[frame["model"] == frame["model"].iloc[0]]["n"].sum())
    return (
        "On the dashed line pairs are ranked right as often as predicted; above it the prediction "
        f"was too careful. Intervals are over systems. {pairs} pairs, predicted from the others."
    )


DRAWINGS = {
    "leaderboard": Drawing("Leaderboard", leaderboard, _leaderboard_caption, "leaderboard"),
    "size": Drawing("Score against size", size, _size_caption),
    "ranking_systems": Drawing("Ranking and its confidence", systems, _systems_caption, "systems"),
    "ranking_observed": Drawing("Simulated and observed", observed, _observed_caption),
    "ranking_calibration": Drawing(
        "Calibration on held-out pairs", calibration, _calibration_caption
    ),
}
