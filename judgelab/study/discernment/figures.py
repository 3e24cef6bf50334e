"""Discernment of one judge: averages and every perturbation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judgelab.report import format
from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Drawn, Mark, Tables
from judgelab.report.tables import records

RED = style.HUES[1]
LEVELS = {"character": style.HUES[5], "word": style.HUES[2], "sentence": style.HUES[4]}
CHANCE = Mark(RED, "|", size=10)
BY_CHANCE = "what chance reaches in 5 %"


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


def _chance(side: Any, y: float, threshold: float) -> None:
    if threshold == threshold:
        side.plot([threshold], [y], marker="|", ms=11, mew=2, color=RED, zorder=4)


DRAWINGS: dict[str, Drawing] = {
    "discernment_bars": bars,
}
