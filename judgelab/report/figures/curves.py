"""Curves: Algorithm 1 (the paper's figures 3, 4, 7 and 8), the planner's, losses of a training."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Mark, Tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BIASED = "items_with_bias"  # a column that is absent where the bias is not known
LOSSES = (
    ("training_loss", "training", style.HUES[5], ""),
    ("held_out_loss", "held-out papers", style.INK, "o"),
)
HUES = style.HUES * 4


def confidence(tables: Tables, table: str, by: str, name: str) -> Figure:
    """Confidence against the difference, one line for each value of ``by`` (figures 4 and 7).

    Args:
        tables: ``table`` with by, delta, confidence, standard_error.
        table: its name.
        by: the column that tells the lines apart.
        name: of a line, with its value in braces.
    """
    drawn, side = style.single(3.8)
    entries = []
    for colour, (value, part) in zip(HUES, tables[table].groupby(by, sort=False), strict=False):
        low = part["confidence"] - 1.96 * part["standard_error"]
        high = part["confidence"] + 1.96 * part["standard_error"]
        side.fill_between(part["delta"], low, high.clip(upper=1), color=colour, alpha=0.18, lw=0)
        side.plot(part["delta"], part["confidence"], color=colour, lw=1.5)
        entries.append(style.line(colour, "-", name.format(value)))
    side.axhline(0.95, **style.DASHED)
    side.set_xlabel("Difference of the systems' true means")
    side.set_ylabel("Confidence in the right order")
    side.grid(axis="y")
    style.legend(drawn, entries)
    return drawn


def _by_items_caption(tables: Tables) -> str:
    return f"Algorithm 1 at r = {tables['by_items']['r'].iloc[0]:.2f}. {_bands(tables, 'by_items')}"


def _by_correlation_caption(tables: Tables) -> str:
    n = int(tables["by_correlation"]["n"].iloc[0])
    return f"Algorithm 1 with N = {n:,} items. {_bands(tables, 'by_correlation')}"


def _bands(tables: Tables, table: str) -> str:
    error = tables[table]["standard_error"].max()
    return f"Bands: 1.96 standard errors of the simulation (at most {error:.3f}); dashed: .95."


def trade_off(tables: Tables) -> Figure:
    """Items that a correlation needs, one line for each difference (figure 3)."""
    frame = tables["trade_off"]
    drawn, side = style.single(3.8)
    entries = []
    for colour, (delta, part) in zip(HUES, frame.groupby("delta", sort=False), strict=False):
        side.plot(part["r"], part["items"], color=colour, lw=1.6)
        entries.append(style.line(colour, "-", f"difference {delta:.3g}"))
        if BIASED in part:
            reached = part.dropna(subset=[BIASED])
            side.plot(reached["r"], reached[BIASED], color=colour, lw=1.2, ls="--")
    if BIASED in frame and frame[BIASED].notna().any():
        entries.append(style.line(style.MUTED, "--", "with the judge's bias between systems"))
    side.set_yscale("log")
    side.yaxis.set_major_formatter(style.whole)
    side.set_xlabel("Correlation with people, r")
    side.set_ylabel(f"Items for a confidence of {frame['confidence'].iloc[0]:g}")
    side.grid()
    style.legend(drawn, entries)
    return drawn


def _trade_off_caption(tables: Tables) -> str:
    frame = tables["trade_off"]
    said = "Items grow with 1/r² and 1/difference²: half the correlation needs four times as many."
    if BIASED not in frame:
        return f"{said} The judge's bias between systems is not known: these are the fewest."
    reached = frame.dropna(subset=[BIASED])["delta"]
    lost = [f"{d:.3g}" for d in frame["delta"].unique() if d not in set(reached)]
    if not lost:
        return said
    return (
        f"{said} With the judge's bias no number of items is enough for a difference of "
        f"{', '.join(lost)}."
    )


def noise(tables: Tables) -> Figure:
    """The correlation that a noise level gives (figure 8)."""
    frame = tables["noise"].sort_values("noise")
    drawn, side = style.single(3.2)
    side.plot(frame["noise"], frame["r"], color=style.HUES[0], lw=1.6)
    bars = {"yerr": 1.96 * frame["simulated_sd"], "fmt": "o", "ms": 4, "lw": 1.2}
    side.errorbar(frame["noise"], frame["simulated"], **bars, color=style.HUES[1])
    side.set_xlabel("sd of the noise, in the unit of the human scores")
    side.set_ylabel("Correlation, r")
    side.grid()
    entries = [style.line(style.HUES[0], "-", "s / √(s² + noise²)")]
    style.legend(drawn, [*entries, style.key(Mark(style.HUES[1], size=4), "simulated")])
    return drawn


def _noise_caption(tables: Tables) -> str:
    n = int(tables["noise"]["n"].iloc[0])
    return f"Noise added to {n:,} human scores; bars are 1.96 sd over 20 drawings of the noise."


def plan(tables: Tables) -> Figure:
    """Confidence against N for the planned judge and better ones, the target and the ceiling."""
    wanted = tables["plan"].iloc[0]
    drawn, side = style.single(3.8)
    entries = []
    for colour, (r, part) in zip(HUES, tables["plan_curve"].groupby("r", sort=False), strict=False):
        chosen = abs(r - wanted["r"]) < 1e-9
        side.plot(part["n"], part["confidence"], color=colour, lw=2.2 if chosen else 1.2)
        entries.append(style.line(colour, "-", f"r = {r:.2f}{' (yours)' if chosen else ''}"))
    side.axhline(wanted["confidence"], **style.DASHED)
    if wanted["ceiling"] < 1:
        side.axhline(wanted["ceiling"], color=style.INK, lw=1.2, ls=":")
        entries.append(style.line(style.INK, ":", "ceiling from the bias between systems"))
    if wanted["items"] == wanted["items"]:
        side.plot([wanted["items"]], [wanted["confidence"]], "o", color=style.INK, zorder=4)
    side.set_xscale("log")
    side.xaxis.set_major_formatter(style.whole)
    side.set_xlabel("Items, N")
    side.set_ylabel("Confidence in the right order")
    side.set_ylim(0.5, 1.005)
    side.grid()
    style.legend(drawn, entries)
    return drawn


def _plan_caption(tables: Tables) -> str:
    row = tables["plan"].iloc[0]
    said = (
        f"Two systems that differ by {row['delta']:g}, human scores of sd {row['sd']:g}; dashed: "
        f"the confidence asked for."
    )
    if row["items"] != row["items"]:
        return f"{said} The ceiling is below it: no number of items is enough."
    return f"{said} The point: {int(row['items']):,} items at r = {row['r']:g}."


def losses(tables: Tables) -> Figure:
    """Training and held-out loss against the step."""
    frame = tables["loss_curve"]
    drawn, side = style.single(3.2)
    for column, label, colour, shape in LOSSES:
        if column not in frame or not frame[column].notna().any():
            continue
        known = frame[frame[column].notna()]
        shown = {"color": colour, "marker": shape, "label": label}
        side.plot(known["step"], known[column], ms=4, lw=1.4, **shown)
    side.set_xlabel("Optimizer step")
    side.set_ylabel("Nats per token")
    side.grid(axis="y")
    side.legend(loc="upper right")
    return drawn


def _losses_caption(tables: Tables) -> str:
    frame = tables["loss_curve"]
    held = "over all prompts of held-out papers" if "held_out_loss" in frame else "not measured"
    return (
        "The training loss is a mean over the steps since the point before; the held-out loss is "
        f"{held}. {int(frame['step'].max())} steps."
    )


by_items = partial(confidence, table="by_items", by="n", name="N = {:,.0f}")
by_correlation = partial(confidence, table="by_correlation", by="r", name="r = {:.2f}")

DRAWINGS = {
    "loss_curve": Drawing("Loss during training", losses, _losses_caption),
    "ranking_by_items": Drawing("Confidence by number of items", by_items, _by_items_caption),
    "ranking_by_correlation": Drawing(
        "Confidence by correlation", by_correlation, _by_correlation_caption
    ),
    "ranking_trade_off": Drawing("Items against correlation", trade_off, _trade_off_caption),
    "ranking_noise": Drawing("Noise and correlation", noise, _noise_caption),
    "ranking_plan": Drawing("Confidence by number of items", plan, _plan_caption),
}
