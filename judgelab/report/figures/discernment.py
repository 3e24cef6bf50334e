"""Discernment: a radar over perturbations, bars of averages, and how ratings are distributed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judgelab.report import format
from judgelab.report.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

RED = style.HUES[1]
LEVELS = {"character": style.HUES[5], "word": style.HUES[2], "sentence": style.HUES[4]}
ACROSS = 3  # histograms side by side
AXIS = "D (log.05 of p)"


@dataclass(frozen=True)
class Curve:
    """A curve of the radar: columns of its values and thresholds, and how it looks."""

    value: str
    threshold: str
    label: str
    hue: str
    bar: str
    whose: str = ""
    dashed: bool = False


UNIFORM = Curve("value", "threshold", "D", style.HUES[0], RED)
WEIGHTED = replace(UNIFORM, label="D, expert weights", whose=", expert weights")
PLAIN = Curve(
    value="d",
    threshold="d_threshold",
    label="D without weights",
    hue=style.MUTED,
    bar=style.MUTED,
    whose=", without weights",
    dashed=True,
)

BARS = {
    "average": "average",
    "average_ew": "average, expert weights",
    "minimum": "minimum",
    "minimum_ew": "minimum, expert weights",
}


def radar(tables: dict[str, DataFrame]) -> Figure:
    """One spoke for each perturbation; a curve and thresholds for D with and without weights."""
    rows = style.records(tables["discernment"])
    drawn, axes = style.new_figure(6.0, subplot_kw={"projection": "polar"})
    side = axes[0, 0]
    angles = [2 * math.pi * k / len(rows) for k in range(len(rows))]
    side.set_theta_offset(math.pi / 2)
    side.set_theta_direction(-1)
    around = [k * math.pi / 90 for k in range(181)]
    side.plot(around, [1.0] * len(around), color=RED, lw=1.2, ls=(0, (4, 3)), zorder=2)
    keys = _curve(side, angles, rows, WEIGHTED if _weighted(rows) else UNIFORM)
    if _weighted(rows):
        keys += _curve(side, angles, rows, PLAIN)
    for angle, row in zip(angles, rows, strict=True):
        if row["seen"] == "no":
            mark = {"marker": "o", "ms": 9, "mfc": "none", "mec": RED}
            side.plot([angle], [max(row["value"], 0.0)], **mark, zorder=4)
    _spokes(side, angles, rows)
    style.legend(drawn, [*keys, style.key(style.Mark(RED, hollow=True), "not seen")])
    return drawn


def radar_caption(tables: dict[str, DataFrame]) -> str:
    """How to read it."""
    frame = tables["discernment"]
    said = "The further out, the more surely the judge rates the perturbed texts lower. The dashed "
    said += "ring is p = .05, which chance may pass; "
    if _weighted(style.records(frame)):
        said += "crosses are the calibrated thresholds of the curve of their colour."
    else:
        said += "crosses are the calibrated thresholds."
    return f"{said} {style.counted(frame)}."


def bars(tables: dict[str, DataFrame]) -> Figure:
    """Average and minimum at the top, then every perturbation by level."""
    rows = style.records(tables["discernment"])
    over = {row["statistic"]: row for row in style.records(tables["averages"])}
    entries = [(label, over[name], style.HUES[0]) for name, label in BARS.items() if name in over]
    entries += [(format.words(r["perturbation"]), r, LEVELS[r["level"]]) for r in rows]
    drawn, axes = style.new_figure(1.2 + 0.26 * len(entries))
    side: Axes = axes[0, 0]
    places = list(range(len(entries)))[::-1]
    for y, (_, row, hue) in zip(places, entries, strict=True):
        if row["value"] != row["value"]:
            style.unscored(side, y)
            continue
        side.barh(y, row["value"], height=0.66, color=hue, zorder=2)
        _whisker(side, y, row)
        if row["threshold"] == row["threshold"]:
            side.plot([row["threshold"]], [y], marker="|", ms=11, mew=2, color=RED, zorder=4)
    style.reference_line(side, 1)
    side.set_yticks(places, [label for label, _, _ in entries])
    side.set_ylim(-0.7, len(entries) - 0.3)
    side.set_xlim(left=0)
    side.set_xlabel(AXIS)
    side.grid(axis="x")
    hues = {"all": style.HUES[0], **LEVELS}
    shown = {"all", *(row["level"] for row in rows)}
    keys = [style.key(style.Mark(h, "s"), name) for name, h in hues.items() if name in shown]
    keys.append(style.key(style.Mark(RED, "|", size=10), "what chance reaches in 5 %"))
    style.legend(drawn, keys)
    return drawn


def bars_caption(tables: dict[str, DataFrame]) -> str:
    """How to read it."""
    return (
        "Bars are D with expert weights where nothing else is said; lines are 95 % intervals over "
        "items, the dashed line is p = .05. A bar that ends left of its red mark is no more than "
        f"chance reaches. {style.counted(tables['discernment'])}."
    )


def styles(tables: dict[str, DataFrame]) -> Figure:
    """One histogram for each perturbation, the originals' behind it."""
    frame = tables["response_style"]
    names = list(dict.fromkeys(frame["variant"]))
    original, variants = names[0], names[1:]
    across = min(ACROSS, len(variants))
    down = -(-len(variants) // across)
    drawn, axes = style.new_figure(0.7 + 1.35 * down, across, down, sharex=True, sharey=True)
    behind = frame[frame["variant"] == original]
    for place, side in enumerate(axes.flat):
        if place >= len(variants):
            side.set_axis_off()
            continue
        part = frame[frame["variant"] == variants[place]]
        _histogram(side, behind, style.MUTED, 0.35)
        _histogram(side, part, style.HUES[0], 0.6)
        side.set_title(format.words(variants[place]), fontsize=8.5)
    for side in axes[-1]:
        side.set_xlabel("mean rating")
    keys = [
        style.key(style.Mark(style.MUTED, "s"), "original"),
        style.key(style.Mark(style.HUES[0], "s"), "perturbed"),
    ]
    style.legend(drawn, keys)
    return drawn


def styles_caption(tables: dict[str, DataFrame]) -> str:
    """How to read it."""
    return (
        "Items by their rating, averaged over metrics. Where a judge puts its ratings is its "
        "response style; only the shift between the two histograms is discernment."
    )


def _weighted(rows: list[dict[str, Any]]) -> bool:
    """Whether D without weights is another number anywhere."""
    return any(abs(row["value"] - row["d"]) > 1e-9 for row in rows)


def _curve(side: Any, angles: list[float], rows: list[dict[str, Any]], kind: Curve) -> list[Any]:
    """One D around the circle, the thresholds that it is held against, and its legend."""
    values, bars = ([row[key] for row in rows] for key in (kind.value, kind.threshold))
    closed, around = [*angles, *angles[:1]], [*values, *values[:1]]
    line = "--" if kind.dashed else "-"
    side.plot(closed, around, color=kind.hue, lw=1.6, ls=line, marker="o", ms=3.5)
    if not kind.dashed:
        side.fill(closed, around, color=kind.hue, alpha=0.12)
    known = [(angle, bar) for angle, bar in zip(angles, bars, strict=True) if bar == bar]
    for angle, bar in known:
        side.plot([angle], [bar], marker="x", ms=5, color=kind.bar, zorder=3)
    reached = style.key(style.Mark(kind.bar, "x"), f"what chance reaches in 5 %{kind.whose}")
    return [style.key(style.Mark(kind.hue), kind.label), *([reached] if known else [])]


def _spokes(side: Any, angles: list[float], rows: list[dict[str, Any]]) -> None:
    side.set_xticks(angles, [format.words(row["perturbation"]) for row in rows])
    for angle, label in zip(angles, side.get_xticklabels(), strict=True):
        across = math.sin(angle)  # labels grow away from the circle
        label.set_ha("center" if abs(across) < 0.1 else "left" if across > 0 else "right")
    side.tick_params(axis="x", labelsize=8, pad=4)
    side.tick_params(axis="y", labelsize=7.5)
    side.set_ylim(bottom=0)
    side.set_rlabel_position(180 / max(len(rows), 1))


def _whisker(side: Axes, y: float, row: dict[str, Any]) -> None:
    if row["low"] == row["low"] and row["high"] == row["high"]:
        side.plot([row["low"], row["high"]], [y, y], color=style.INK, lw=1, alpha=0.7, zorder=3)


def _histogram(side: Axes, part: DataFrame, hue: str, alpha: float) -> None:
    width = part["to"] - part["from"]
    side.bar(part["from"], part["items"], width=width, align="edge", color=hue, alpha=alpha)
