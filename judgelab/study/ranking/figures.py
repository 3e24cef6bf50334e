"""Systems in their order, its test on people, and the paper's curves (figures 1 to 8)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from judgelab.report import style
from judgelab.report.format import records
from judgelab.report.jobs import Comparison, SweepJob, keyed
from judgelab.report.style import Drawing, Drawn, Mark, Tables
from judgelab.study.common.sweeps import comparison, estimate_columns, table_rows
from judgelab.study.common.templates import caption

BIASED = "items_with_bias"  # a column that is absent where the bias is not known
HUES = style.HUES * 4
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


def systems(tables: Tables) -> Drawn:
    """Mean score of each system, best on top, and how sure it is above the next (figure 1). Sure is
    said of people's order where it is known, else of the metric's own."""
    frame = tables["systems"]
    people = "above_next_people" in frame
    figure, side = style.single(0.9 + 0.3 * len(frame))
    for y, row in zip(style.name_rows(side, frame["system"]), records(frame), strict=True):
        if not style.interval(side, y, row, MACHINE):
            style.unscored(side, y)
        sure = row.get("above_next_people" if people else "above_next_same_metric", float("nan"))
        if sure == sure:
            style.aside(side, y - 0.5, f"{sure:.2f}")
    side.set_xlabel("Mean metric score; right: confidence in the order of neighbours")
    return caption(__package__, "systems", figure, frame, people=people)


def observed(tables: Tables) -> Drawn:
    """Bootstrap shares in buckets of the true difference, and what was predicted (figure 5)."""
    frame = tables["observed"]
    figure, side = style.single(3.8)
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
    side.set(xlabel="Difference of the systems' human means", ylabel="Ranked right")
    side.grid(axis="y")
    style.legend(figure, entries)
    return caption(__package__, "observed", figure, n=int(unpaired["n"].sum()))


def errors(tables: Tables) -> Drawn:
    """The sizes of the judge's errors beside those of the noise in its place (figure 2)."""
    frame = tables["errors"]
    figure, side = style.single(3.4)
    width = frame["to"].iloc[0] - frame["from"].iloc[0]
    places = frame["from"] + width / 2
    side.bar(places, frame["simulated"], width, color=style.HUES[7], alpha=0.35)
    for x, row in zip(places, records(frame), strict=True):
        style.interval(side, x, row, MACHINE, upright=True)
    last = frame["from"].iloc[-1]
    side.axvline(last, **style.DASHED)
    side.set(xlabel="Absolute error of a text, human units", ylabel="Share of the texts")
    side.grid(axis="y")
    keys = [style.line(style.HUES[7], "-", "Gaussian noise"), style.key(MACHINE, "the judge")]
    style.legend(figure, keys)
    return caption(__package__, "errors", figure, frame, last=last)


NAMES = {"items": "N = {n:,.0f}", "correlation": "r = {r:.2f}"}  # of a line: what varies


def curves(tables: Tables, by: str) -> Drawn:
    """Confidence against the difference, a line for each N (figure 4) or correlation (figure 7)."""
    frame = tables[f"by_{by}"]
    figure, side = style.single(3.8)
    entries = []
    for colour, (_, part) in zip(HUES, frame.groupby(["r", "n"], sort=False), strict=False):
        low = part["confidence"] - 1.96 * part["standard_error"]
        high = part["confidence"] + 1.96 * part["standard_error"]
        side.fill_between(part["delta"], low, high.clip(upper=1), color=colour, alpha=0.18, lw=0)
        side.plot(part["delta"], part["confidence"], color=colour, lw=1.5)
        entries.append(style.line(colour, "-", NAMES[by].format(**part.iloc[0])))
    side.axhline(0.95, **style.DASHED)
    side.set(xlabel="Difference of the systems' true means", ylabel="Confidence in the right order")
    side.grid(axis="y")
    style.legend(figure, entries)
    first, error = records(frame.iloc[:1])[0], frame["standard_error"].max()
    return caption(__package__, f"by_{by}", figure, r=first["r"], n=first["n"], error=error)


def trade_off(tables: Tables) -> Drawn:
    """Items that a correlation needs, one line for each difference (figure 3)."""
    frame = tables["trade_off"]
    figure, side = style.single(3.8)
    entries = []
    without_end = []
    for colour, (delta, part) in zip(HUES, frame.groupby("delta", sort=False), strict=False):
        side.plot(part["r"], part["items"], color=colour, lw=1.6)
        entries.append(style.line(colour, "-", f"difference {delta:.3g}"))
        if BIASED in part:
            reached = part.dropna(subset=[BIASED])
            side.plot(reached["r"], reached[BIASED], color=colour, lw=1.2, ls="--")
            without_end += [f"{delta:.3g}"] if reached.empty else []
    if BIASED in frame and frame[BIASED].notna().any():
        entries.append(style.line(style.MUTED, "--", "with the judge's bias between systems"))
    label = f"Items for a confidence of {frame['confidence'].iloc[0]:g}"
    side.set(yscale="log", xlabel="Correlation with people, r", ylabel=label)
    side.yaxis.set_major_formatter(style.TICKS)
    side.grid()
    style.legend(figure, entries)
    return caption(
        __package__, "trade_off", figure, biased=BIASED in frame, without_end=without_end
    )


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
    return caption(__package__, "noise", figure, n=int(frame["n"].iloc[0]))


DRAWINGS: dict[str, Drawing] = {
    "ranking_systems": systems,
    "ranking_observed": observed,
    "ranking_errors": errors,
    "ranking_by_items": partial(curves, by="items"),
    "ranking_by_correlation": partial(curves, by="correlation"),
    "ranking_trade_off": trade_off,
    "ranking_noise": noise,
}


def compare(runs: Sequence[SweepJob]) -> list[Comparison]:
    """Mean scores of systems by the judge and by people beside a paper's, where these are known."""
    rows = table_rows(runs, "systems", "system", ("rank", "value", "human_mean"))
    if not rows or not any(key.startswith("printed_") for key in rows[0]):
        return []
    wide = [keyed(rows, "asked", "of"), keyed(rows, "system")]
    for key, name in (("rank", "rank"), ("value", "mean score"), ("human_mean", "people's")):
        wide += estimate_columns(rows, key, name)
    return [comparison(__package__, "systems", rows, wide)]
