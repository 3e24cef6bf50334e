"""Confidence of rankings: the paper's figures 1, 3, 4, 5, 7 and 8, and a calibration plot."""

from __future__ import annotations

from collections.abc import Callable
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


def by_items(tables: Tables) -> Figure:
    """Confidence against the difference, one line for each N (figure 4)."""
    return _curves(tables["by_items"], "n", lambda value: f"N = {int(value):,}")


def by_correlation(tables: Tables) -> Figure:
    """Confidence against the difference, one line for each r (figure 7)."""
    return _curves(tables["by_correlation"], "r", lambda value: f"r = {value:.2f}")


def by_items_caption(tables: Tables) -> str:
    """How to read it."""
    return f"Algorithm 1 at r = {tables['by_items']['r'].iloc[0]:.2f}. {_simulated(tables, True)}"


def by_correlation_caption(tables: Tables) -> str:
    """How to read it."""
    n = int(tables["by_correlation"]["n"].iloc[0])
    return f"Algorithm 1 with N = {n:,} items. {_simulated(tables, False)}"


def trade_off(tables: Tables) -> Figure:
    """Items that a correlation needs, one line for each difference (figure 3)."""
    frame = tables["trade_off"]
    drawn, axes = style.new_figure(3.8)
    side = axes[0, 0]
    entries = []
    for colour, delta in zip(_hues(), frame["delta"].unique(), strict=False):
        part = frame[frame["delta"] == delta]
        side.plot(part["r"], part["items"], color=colour, lw=1.6)
        entries.append(_line(colour, "-", f"difference {delta:g}"))
        known = part.dropna(subset=["items_with_bias"])
        if (part["items_with_bias"] > part["items"]).any():
            side.plot(known["r"], known["items_with_bias"], color=colour, lw=1.2, ls="--")
    if frame["items_with_bias"].isna().any() or (frame["items_with_bias"] > frame["items"]).any():
        entries.append(_line(style.MUTED, "--", "with the judge's bias between systems"))
    side.set_yscale("log")
    side.yaxis.set_major_formatter(_whole)
    side.set_xlabel("Correlation with people, r")
    side.set_ylabel(f"Items for a confidence of {frame['confidence'].iloc[0]:g}")
    side.grid()
    style.legend(drawn, entries)
    return drawn


def trade_off_caption(tables: Tables) -> str:
    """How to read it."""
    frame = tables["trade_off"]
    reached = frame.dropna(subset=["items_with_bias"])["delta"]
    lost = [f"{d:g}" for d in frame["delta"].unique() if d not in set(reached)]
    said = "Items grow with 1/r² and 1/difference²: half the correlation needs four times as many."
    if lost:
        said += (
            f" With the judge's bias no number of items is enough for a difference of "
            f"{', '.join(lost)}."
        )
    return said


def observed(tables: Tables) -> Figure:
    """Bootstrap shares in buckets of the true difference, and what was predicted (figure 5)."""
    frame = tables["observed"]
    drawn, axes = style.new_figure(3.8)
    side, entries = axes[0, 0], []
    unpaired = frame[frame["items"] == "unpaired"]
    for model, (name, colour, dashes) in MODELS.items():
        side.plot(unpaired["delta"], unpaired[model], color=colour, ls=dashes, lw=1.5)
        entries.append(_line(colour, dashes, name))
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


def noise(tables: Tables) -> Figure:
    """The correlation that a noise level gives (figure 8)."""
    frame = tables["noise"].sort_values("noise")
    drawn, axes = style.new_figure(3.2)
    side = axes[0, 0]
    side.plot(frame["noise"], frame["r"], color=style.HUES[0], lw=1.6)
    spread = 1.96 * frame["simulated_sd"]
    side.errorbar(
        frame["noise"], frame["simulated"], yerr=spread, fmt="o", color=style.HUES[1], ms=4, lw=1.2
    )
    side.set_xlabel("sd of the noise, in the unit of the human scores")
    side.set_ylabel("Correlation, r")
    side.grid()
    entries = [_line(style.HUES[0], "-", "s / √(s² + noise²)")]
    style.legend(drawn, [*entries, style.key(style.Mark(style.HUES[1], size=4), "simulated")])
    return drawn


def noise_caption(tables: Tables) -> str:
    """How to read it."""
    n = int(tables["noise"]["n"].iloc[0])
    return f"Noise added to {n:,} human scores; bars are 1.96 sd over 20 drawings of the noise."


def plan(tables: Tables) -> Figure:
    """Confidence against N for the planned judge and better ones, the target and the ceiling."""
    frame, wanted = tables["plan_curve"], tables["plan"].iloc[0]
    drawn, axes = style.new_figure(3.8)
    side, entries = axes[0, 0], []
    for colour, r in zip(_hues(), frame["r"].unique(), strict=False):
        part = frame[frame["r"] == r]
        chosen = abs(r - wanted["r"]) < 1e-9
        side.plot(part["n"], part["confidence"], color=colour, lw=2.2 if chosen else 1.2)
        entries.append(_line(colour, "-", f"r = {r:.2f}{' (yours)' if chosen else ''}"))
    side.axhline(wanted["confidence"], color=style.MUTED, lw=1, ls=(0, (4, 3)))
    if wanted["ceiling"] < 1:
        side.axhline(wanted["ceiling"], color=style.HUES[1], lw=1, ls=":")
        entries.append(_line(style.HUES[1], ":", "ceiling from the bias between systems"))
    if wanted["items"] == wanted["items"]:
        side.plot([wanted["items"]], [wanted["confidence"]], "o", color=style.INK, zorder=4)
    side.set_xscale("log")
    side.xaxis.set_major_formatter(_whole)
    side.set_xlabel("Items, N")
    side.set_ylabel("Confidence in the right order")
    side.set_ylim(0.5, 1.005)
    side.grid()
    style.legend(drawn, entries)
    return drawn


def plan_caption(tables: Tables) -> str:
    """How to read it."""
    row = tables["plan"].iloc[0]
    said = (
        f"Two systems that differ by {row['delta']:g}, human scores of sd {row['sd']:g}; dashed: "
        f"the confidence asked for."
    )
    if row["items"] != row["items"]:
        return f"{said} The ceiling is below it: no number of items is enough."
    return f"{said} The point: {int(row['items']):,} items at r = {row['r']:g}."


def _curves(frame: DataFrame, by: str, name: Callable[[float], str]) -> Figure:
    drawn, axes = style.new_figure(3.8)
    side, entries = axes[0, 0], []
    for colour, value in zip(_hues(), frame[by].unique(), strict=False):
        part = frame[frame[by] == value]
        low = part["confidence"] - 1.96 * part["standard_error"]
        high = part["confidence"] + 1.96 * part["standard_error"]
        side.fill_between(part["delta"], low, high.clip(upper=1), color=colour, alpha=0.18, lw=0)
        side.plot(part["delta"], part["confidence"], color=colour, lw=1.5)
        entries.append(_line(colour, "-", name(value)))
    side.axhline(0.95, color=style.MUTED, lw=1, ls=(0, (4, 3)))
    side.set_xlabel("Difference of the systems' true means")
    side.set_ylabel("Confidence in the right order")
    side.grid(axis="y")
    style.legend(drawn, entries)
    return drawn


def _simulated(tables: Tables, items: bool) -> str:
    frame = tables["by_items" if items else "by_correlation"]
    error = frame["standard_error"].max()
    return f"Bands: 1.96 standard errors of the simulation (at most {error:.3f}); dashed: .95."


def _upright(axes: Axes, x: float, row: dict[str, float], mark: style.Mark) -> None:
    low, high = row["low"], row["high"]
    if low == low and high == high:
        axes.plot([x, x], [low, high], color=mark.colour, lw=1.3, alpha=0.7, zorder=2)
    face = style.PAPER if mark.hollow else mark.colour
    axes.plot([x], [row["value"]], mark.shape, ms=mark.size, mfc=face, mec=mark.colour, zorder=3)


def _line(colour: str, dashes: str, label: str) -> object:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, ls=dashes, lw=1.6, label=label)


def _whole(value: float, place: int | None = None) -> str:
    """A tick of a logarithmic axis."""
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _hues() -> tuple[str, ...]:
    return style.HUES * 4
