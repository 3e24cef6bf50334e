"""Discernment of one judge: a radar, bars, response style."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from judgelab.report import format
from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Drawn, Mark, Tables
from judgelab.report.tables import records

if TYPE_CHECKING:
    from pandas import DataFrame

RED = style.HUES[1]
LEVELS = {"character": style.HUES[5], "word": style.HUES[2], "sentence": style.HUES[4]}
CHANCE = Mark(RED, "|", size=10)
JUDGE = Mark(style.HUES[0])
BY_CHANCE = "what chance reaches in 5 %"


def radar(tables: Tables) -> Drawn:
    """One spoke for each perturbation; a curve and thresholds for D with and without weights."""
    frame = tables["discernment"]
    rows = records(frame)
    weights = next(r["weights"] for r in records(tables["averages"]) if r["weights"] != "none")
    figure, side = style.single(6.0, subplot_kw={"projection": "polar"})
    angles = [2 * math.pi * k / len(rows) for k in range(len(rows))]
    side.set_theta_offset(math.pi / 2)
    side.set_theta_direction(-1)
    around = [k * math.pi / 90 for k in range(181)]
    side.plot(around, [1.0] * len(around), **style.DASHED | {"color": RED, "lw": 1.2}, zorder=2)
    said = "The further out, the more surely the judge rates the perturbed texts lower. The dashed "
    said += "ring is p = .05, which chance may pass; crosses are the calibrated thresholds"
    if any(abs(row["value"] - row.get("d", row["value"])) > 1e-9 for row in rows):
        keys = _curve(side, angles, rows, "value", f"D, {weights}", f", {weights}")
        keys += _curve(side, angles, rows, "d", "D without weights", ", without weights")
        said += " of the curve of their colour"
    else:
        keys = _curve(side, angles, rows, "value", f"D, {weights}")
    for angle, row in zip(angles, rows, strict=True):
        if row["seen"] == "no":
            mark = {"marker": "o", "ms": 9, "mfc": "none", "mec": RED}
            side.plot([angle], [max(row["value"], 0.0)], **mark, zorder=4)
    _spokes(side, angles, rows)
    style.legend(figure, [*keys, style.key(Mark(RED, hollow=True), "not seen")])
    return Drawn("What the judge discerns", figure, style.with_n(f"{said}.", frame))


def bars(tables: Tables) -> Drawn:
    """Average and minimum at the top, then every perturbation by level."""
    rows = records(tables["discernment"])
    over = {row["statistic"]: row for row in records(tables["averages"])}
    entries = [(label, over[name], style.HUES[0]) for name, label in _overall(over)]
    entries += [(format.words(r["perturbation"]), r, LEVELS[r["level"]]) for r in rows]
    figure, side = style.single(1.2 + 0.26 * len(entries))
    heights = style.name_rows(side, [label for label, _, _ in entries], margin=0.7)
    for y, (_, row, hue) in zip(heights, entries, strict=True):
        if row["value"] != row["value"]:
            style.unscored(side, y)
            continue
        side.barh(y, row["value"], height=0.66, color=hue, zorder=2)
        if row["low"] == row["low"] and row["high"] == row["high"]:
            side.plot([row["low"], row["high"]], [y, y], color=style.INK, lw=1, alpha=0.7, zorder=3)
        _chance(side, y, row["threshold"])
    style.reference_line(side, 1)
    side.set_xlim(left=0)
    side.set_xlabel("D (log.05 of p)")
    hues = {"all": style.HUES[0], **LEVELS}
    shown = {"all", *(row["level"] for row in rows)}
    keys = [style.key(Mark(hue, "s"), name) for name, hue in hues.items() if name in shown]
    style.legend(figure, [*keys, style.key(CHANCE, BY_CHANCE)])
    said = (
        f"Bars are D, {over['average_ew']['weights']}, where nothing else is said; lines are 95 % "
        "intervals over items, the dashed line is p = .05. A bar that ends left of its red mark is "
        "no more than chance reaches."
    )
    return Drawn("Discernment", figure, style.with_n(said, tables["discernment"]))


def _overall(over: dict[str, dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Averages and minima with their labels; without weights only where it makes a difference."""
    for name in ("average", "minimum"):
        plain, weighted = over[name], over[f"{name}_ew"]
        if abs(plain["value"] - weighted["value"]) > 1e-9:
            yield name, f"{name}, without weights"
        yield f"{name}_ew", f"{name}, {weighted['weights']}"


def styles(tables: Tables) -> Drawn:
    """One histogram for each perturbation, the originals' behind it."""
    groups = tables["response_style"].groupby("variant", sort=False)
    parts = {str(variant): part for variant, part in groups}
    original, *variants = parts
    figure, axes = style.multiples(variants, 0.7, 1.35, sharex=True, sharey=True)
    for side, variant in zip(axes.flat, variants, strict=False):
        _histogram(side, parts[original], style.MUTED, 0.35)
        _histogram(side, parts[variant], style.HUES[0], 0.6)
        side.set_title(format.words(variant), fontsize=8.5)
    for side in axes[-1]:
        side.set_xlabel("mean rating")
    both = {"original": style.MUTED, "perturbed": style.HUES[0]}
    style.legend(figure, [style.key(Mark(hue, "s"), name) for name, hue in both.items()])
    said = (
        "Items by their rating, averaged over metrics. Where a judge puts its ratings is its "
        "response style; only the shift between the two histograms is discernment."
    )
    return Drawn("Response style", figure, said)


def _curve(
    side: Any,
    angles: list[float],
    rows: list[dict[str, Any]],
    column: str,
    label: str,
    whose: str = "",
) -> list[Any]:
    """One D around the circle and its thresholds; returns legend entries. Column d is grey."""
    plain = column == "d"
    hue, cross = (style.MUTED, style.MUTED) if plain else (style.HUES[0], RED)
    values = [row[column] for row in rows]
    closed, around = [*angles, *angles[:1]], [*values, *values[:1]]
    side.plot(closed, around, color=hue, lw=1.6, ls="--" if plain else "-", marker="o", ms=3.5)
    if not plain:
        side.fill(closed, around, color=hue, alpha=0.12)
    entries = [style.key(Mark(hue), label)]
    bars = [row["d_threshold" if plain else "threshold"] for row in rows]
    known = [(angle, bar) for angle, bar in zip(angles, bars, strict=True) if bar == bar]
    for angle, bar in known:
        side.plot([angle], [bar], marker="x", ms=5, color=cross, zorder=3)
    if known:
        entries.append(style.key(Mark(cross, "x"), f"{BY_CHANCE}{whose}"))
    return entries


def _spokes(side: Any, angles: list[float], rows: list[dict[str, Any]]) -> None:
    side.set_xticks(angles, [format.words(row["perturbation"]) for row in rows])
    for angle, label in zip(angles, side.get_xticklabels(), strict=True):
        across = math.sin(angle)  # labels grow away from the circle
        label.set_ha("center" if abs(across) < 0.1 else "left" if across > 0 else "right")
    side.tick_params(axis="x", labelsize=8, pad=4)
    side.tick_params(axis="y", labelsize=7.5)
    side.set_ylim(bottom=0)
    side.set_rlabel_position(180 / max(len(rows), 1))


def _chance(side: Any, y: float, threshold: float) -> None:
    if threshold == threshold:
        side.plot([threshold], [y], marker="|", ms=11, mew=2, color=RED, zorder=4)


def _histogram(side: Any, part: DataFrame, hue: str, alpha: float) -> None:
    width = part["to"] - part["from"]
    side.bar(part["from"], part["items"], width=width, align="edge", color=hue, alpha=alpha)


DRAWINGS: dict[str, Drawing] = {
    "discernment_radar": radar,
    "discernment_bars": bars,
    "response_styles": styles,
}
