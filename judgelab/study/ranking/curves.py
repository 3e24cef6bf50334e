"""Curves of Algorithm 1 (the paper's figures 3, 4, 7 and 8) and of the planner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Drawn, Mark, Tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

BIASED = "items_with_bias"  # a column that is absent where the bias is not known
HUES = style.HUES * 4


def by_items(tables: Tables) -> Drawn:
    """Confidence against the difference, one line for each N (figure 4)."""
    frame = tables["by_items"]
    said = f"Algorithm 1 at r = {frame['r'].iloc[0]:.2f}. {_bands(frame)}"
    return Drawn("Confidence by number of items", _confidence(frame, "n", "N = {:,.0f}"), said)


def by_correlation(tables: Tables) -> Drawn:
    """Confidence against the difference, one line for each correlation (figure 7)."""
    frame = tables["by_correlation"]
    said = f"Algorithm 1 with N = {int(frame['n'].iloc[0]):,} items. {_bands(frame)}"
    return Drawn("Confidence by correlation", _confidence(frame, "r", "r = {:.2f}"), said)


def _confidence(frame: DataFrame, by: str, name: str) -> Figure:
    """One line for each value of ``by``, which ``name`` holds in braces."""
    figure, side = style.single(3.8)
    entries = []
    for colour, (value, part) in zip(HUES, frame.groupby(by, sort=False), strict=False):
        low = part["confidence"] - 1.96 * part["standard_error"]
        high = part["confidence"] + 1.96 * part["standard_error"]
        side.fill_between(part["delta"], low, high.clip(upper=1), color=colour, alpha=0.18, lw=0)
        side.plot(part["delta"], part["confidence"], color=colour, lw=1.5)
        entries.append(style.line(colour, "-", name.format(value)))
    side.axhline(0.95, **style.DASHED)
    side.set(xlabel="Difference of the systems' true means", ylabel="Confidence in the right order")
    side.grid(axis="y")
    style.legend(figure, entries)
    return figure


def _bands(frame: DataFrame) -> str:
    error = frame["standard_error"].max()
    return f"Bands: 1.96 standard errors of the simulation (at most {error:.3f}); dashed: .95."


def trade_off(tables: Tables) -> Drawn:
    """Items that a correlation needs, one line for each difference (figure 3)."""
    frame = tables["trade_off"]
    figure, side = style.single(3.8)
    entries = []
    lost = []
    for colour, (delta, part) in zip(HUES, frame.groupby("delta", sort=False), strict=False):
        side.plot(part["r"], part["items"], color=colour, lw=1.6)
        entries.append(style.line(colour, "-", f"difference {delta:.3g}"))
        if BIASED in part:
            reached = part.dropna(subset=[BIASED])
            side.plot(reached["r"], reached[BIASED], color=colour, lw=1.2, ls="--")
            lost += [f"{delta:.3g}"] if reached.empty else []
    if BIASED in frame and frame[BIASED].notna().any():
        entries.append(style.line(style.MUTED, "--", "with the judge's bias between systems"))
    wanted = f"Items for a confidence of {frame['confidence'].iloc[0]:g}"
    side.set(yscale="log", xlabel="Correlation with people, r", ylabel=wanted)
    side.yaxis.set_major_formatter(style.TICKS)
    side.grid()
    style.legend(figure, entries)
    said = "Items grow with 1/r² and 1/difference²: half the correlation needs four times as many."
    if BIASED not in frame:
        said += " The judge's bias between systems is not known: these are the fewest."
    elif lost:
        said += " With the judge's bias no number of items is enough for a difference of "
        said += f"{', '.join(lost)}."
    return Drawn("Items against correlation", figure, said)


def noise(tables: Tables) -> Drawn:
    """The correlation that a noise level gives (figure 8)."""
    frame = tables["noise"].sort_values("noise")
    figure, side = style.single(3.2)
    side.plot(frame["noise"], frame["r"], color=style.HUES[0], lw=1.6)
    bars = {"yerr": 1.96 * frame["simulated_sd"], "fmt": "o", "ms": 4, "lw": 1.2}
    side.errorbar(frame["noise"], frame["simulated"], **bars, color=style.HUES[1])
    side.set(xlabel="sd of the noise, in the unit of the human scores", ylabel="Correlation, r")
    side.grid()
    entries = [style.line(style.HUES[0], "-", "s / √(s² + noise²)")]
    style.legend(figure, [*entries, style.key(Mark(style.HUES[1], size=4), "simulated")])
    n = int(frame["n"].iloc[0])
    said = f"Noise added to {n:,} human scores; bars are 1.96 sd over 20 drawings of the noise."
    return Drawn("Noise and correlation", figure, said)


def plan(tables: Tables) -> Drawn:
    """Confidence against N for the planned judge and better ones, the target and the ceiling."""
    wanted = tables["plan"].iloc[0]
    figure, side = style.single(3.8)
    entries = []
    for colour, (r, part) in zip(HUES, tables["plan_curve"].groupby("r", sort=False), strict=False):
        chosen = abs(r - wanted["r"]) < 1e-9
        side.plot(part["n"], part["confidence"], color=colour, lw=2.2 if chosen else 1.2)
        entries.append(style.line(colour, "-", f"r = {r:.2f}{' (yours)' if chosen else ''}"))
    side.axhline(wanted["confidence"], **style.DASHED)
    if wanted["ceiling"] < 1:
        side.axhline(wanted["ceiling"], color=style.INK, lw=1.2, ls=":")
        entries.append(style.line(style.INK, ":", "ceiling from the bias between systems"))
    said = (
        f"Two systems that differ by {wanted['delta']:g}, human scores of sd {wanted['sd']:g}; "
        "dashed: the confidence asked for."
    )
    if wanted["items"] == wanted["items"]:
        side.plot([wanted["items"]], [wanted["confidence"]], "o", color=style.INK, zorder=4)
        said += f" The point: {int(wanted['items']):,} items at r = {wanted['r']:g}."
    else:
        said += " The ceiling is below it: no number of items is enough."
    side.set(xscale="log", xlabel="Items, N", ylabel="Confidence in the right order")
    side.xaxis.set_major_formatter(style.TICKS)
    side.set_ylim(0.5, 1.005)
    side.grid()
    style.legend(figure, entries)
    return Drawn("Confidence by number of items", figure, said)


DRAWINGS: dict[str, Drawing] = {
    "ranking_by_items": by_items,
    "ranking_by_correlation": by_correlation,
    "ranking_trade_off": trade_off,
    "ranking_noise": noise,
    "ranking_plan": plan,
}
