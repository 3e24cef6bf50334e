"""Curves of Algorithm 1: the paper's figures 3, 4, 7 and 8, and the planner's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from judgelab.report.figures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

Tables = dict[str, "DataFrame"]

BIASED = "items_with_bias"  # a column that is absent where the bias is not known


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
        entries.append(style.line(colour, "-", f"difference {delta:.3g}"))
        if BIASED in part:
            reached = part.dropna(subset=[BIASED])
            side.plot(reached["r"], reached[BIASED], color=colour, lw=1.2, ls="--")
    if BIASED in frame and frame[BIASED].notna().any():
        entries.append(style.line(style.MUTED, "--", "with the judge's bias between systems"))
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
    said = "Items grow with 1/r² and 1/difference²: half the correlation needs four times as many."
    if BIASED not in frame:
        return f"{said} The judge's bias between systems is not known: these are the fewest."
    reached = frame.dropna(subset=[BIASED])["delta"]
    lost = [f"{d:.3g}" for d in frame["delta"].unique() if d not in set(reached)]
    if lost:
        said += (
            f" With the judge's bias no number of items is enough for a difference of "
            f"{', '.join(lost)}."
        )
    return said


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
    entries = [style.line(style.HUES[0], "-", "s / √(s² + noise²)")]
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
        entries.append(style.line(colour, "-", f"r = {r:.2f}{' (yours)' if chosen else ''}"))
    side.axhline(wanted["confidence"], color=style.MUTED, lw=1, ls=(0, (4, 3)))
    if wanted["ceiling"] < 1:
        side.axhline(wanted["ceiling"], color=style.INK, lw=1.2, ls=":")
        entries.append(style.line(style.INK, ":", "ceiling from the bias between systems"))
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
        entries.append(style.line(colour, "-", name(value)))
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


def _whole(value: float, place: int | None = None) -> str:
    """A tick of a logarithmic axis."""
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _hues() -> tuple[str, ...]:
    return style.HUES * 4
