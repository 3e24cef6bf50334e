"""Confidence of rankings: the paper's figures 1 and 5, and a calibration plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgelab.report import format
from judgelab.report.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

Tables = dict[str, "DataFrame"]

OBSERVED = {
    "unpaired": (style.Mark(style.HUES[0]), "observed, each system on its own items"),
    "paired": (style.Mark(style.HUES[1], "D", hollow=True), "observed, both on the same items"),
}
MODELS = {
    "algorithm_1": ("Algorithm 1", style.HUES[7], "-"),
    "bias": ("with the bias between systems", style.HUES[3], "--"),
    "line": ("with bias and slope of the means", style.HUES[2], ":"),
}


def systems(tables: Tables) -> Figure:
    """Mean score of each system, best on top, and how sure it is above the next (figure 1)."""
    frame = tables["systems"]
    drawn, axes = style.new_figure(0.9 + 0.3 * len(frame))
    side = axes[0, 0]
    heights = range(len(frame))[::-1]
    for y, row in zip(heights, style.records(frame), strict=True):
        style.interval(side, y, row, style.Mark(style.HUES[0]))
        if row["value"] != row["value"]:
            style.unscored(side, y)
        sure = row.get(_sure(frame), float("nan"))
        if sure == sure:
            side.annotate(
                f"{sure:.2f}",
                (1.0, y - 0.5),
                xycoords=("axes fraction", "data"),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize=8.5,
                color=style.MUTED,
            )
    names = [format.shorten(format.text(name), 40) for name in frame["system"]]
    side.set_yticks(list(heights), names)
    side.set_ylim(-0.6, len(frame) - 0.4)
    side.set_xlabel("Mean metric score; right: confidence in the order of neighbours")
    side.grid(axis="x")
    return drawn


def systems_caption(tables: Tables) -> str:
    """How to read it."""
    frame = tables["systems"]
    whose = "people have" if _sure(frame) == "above_next_people" else "the metric keeps"
    return (
        f"Lines are 95 % intervals over items. Between two neighbours: the confidence that {whose} "
        f"them in this order. {style.counted(frame)}."
    )


def _sure(frame: DataFrame) -> str:
    """People's order where it can be said, else the metric's own."""
    known = "above_next_people" in frame
    return "above_next_people" if known else "above_next_same_metric"


def observed(tables: Tables) -> Figure:
    """Bootstrap shares in buckets of the true difference, and what was predicted (figure 5)."""
    frame = tables["observed"]
    drawn, axes = style.new_figure(3.8)
    side, entries = axes[0, 0], []
    unpaired = frame[frame["items"] == "unpaired"]
    for model, (name, colour, dashes) in MODELS.items():
        side.plot(unpaired["delta"], unpaired[model], color=colour, ls=dashes, lw=1.5)
        entries.append(style.line(colour, dashes, name))
    for items, (mark, name) in OBSERVED.items():
        for row in style.records(frame[frame["items"] == items]):
            _upright(side, row["delta"], row, mark)
        entries.append(style.key(mark, name))
    side.axhline(0.5, color=style.MUTED, lw=1, ls=(0, (4, 3)))
    side.set_xlabel("Difference of the systems' human means")
    side.set_ylabel("Ranked right")
    side.grid(axis="y")
    style.legend(drawn, entries)
    return drawn


def observed_caption(tables: Tables) -> str:
    """How to read it."""
    pairs = int(tables["observed"].query("items == 'unpaired'")["n"].sum())
    return (
        "Points: share of resamples in which the metric ranks a pair as people do, averaged over "
        "pairs of similar difference, with 95 % intervals over systems. Lines: predicted for the "
        f"same pairs from the other systems. {pairs} pairs."
    )


def calibration(tables: Tables) -> Figure:
    """Observed against predicted confidence, one panel for each model."""
    frame = tables["calibration"]
    models = list(dict.fromkeys(frame["model"]))
    drawn, axes = style.new_figure(3.2, columns=len(models), sharey=True)
    for side, model in zip(axes[0], models, strict=True):
        side.plot([0.5, 1], [0.5, 1], color=style.MUTED, lw=1, ls=(0, (4, 3)))
        for row in style.records(frame[frame["model"] == model]):
            _upright(side, row["predicted"], row, style.Mark(style.HUES[0]))
        side.set_title(model, fontsize=9)
        side.set_xlabel("Predicted")
        side.grid()
    axes[0, 0].set_ylabel("Observed")
    return drawn


def calibration_caption(tables: Tables) -> str:
    """How to read it."""
    frame = tables["calibration"]
    pairs = int(frame[frame["model"] == frame["model"].iloc[0]]["n"].sum())
    return (
        "On the dashed line pairs are ranked right as often as predicted; above it the prediction "
        f"was too careful. Intervals are over systems. {pairs} pairs, predicted from the others."
    )


def _upright(axes: Axes, x: float, row: dict[str, float], mark: style.Mark) -> None:
    low, high = row["low"], row["high"]
    if low == low and high == high:
        axes.plot([x, x], [low, high], color=mark.colour, lw=1.3, alpha=0.7, zorder=2)
    face = style.PAPER if mark.hollow else mark.colour
    axes.plot([x], [row["value"]], mark.shape, ms=mark.size, mfc=face, mec=mark.colour, zorder=3)
