"""Mechanisms side by side: clean and attacked figures, and d against compression."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from judgelab.report import format
from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Drawn, Mark, Tables
from judgelab.report.tables import records

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

CLEAN = "none"
SHAPES = ("s", "^", "D", "v", "P", "X", "<", ">")
STEP = 0.17  # inches between two points of one mechanism
FEWEST = 4  # data sets behind a parabola
COMPRESSION = {
    "compression_reference": "Compression (source / human reference)",
    "compression_response": "Compression (source / response)",
    "effective_rank": "Effective rank",
}


def points(tables: Tables, title: str, statistic: str, label: str, null: float) -> Drawn:
    """A row of points for each mechanism, one for each attack, by one statistic.

    ``label`` is of the x axis, ``null`` the value of an uninformative score.
    """
    frame = tables["points"]
    rows = frame[frame["statistic"] == statistic]
    parts = dict(list(rows.groupby("facet", sort=False)))
    marks = _marks(list(dict.fromkeys(frame["attack"])))
    slots = [len(part) + part["group"].nunique() for part in parts.values()]  # and one after each
    height = 1.0 + sum(0.55 + STEP * each for each in slots)
    figure, axes = style.new_figure(height, rows=len(parts), sharex=True, height_ratios=slots)
    for side, (facet, part) in zip(axes[:, 0], parts.items(), strict=True):
        _groups(side, part, marks)
        style.reference_line(side, null)
        side.grid(axis="x")
        side.set_title(format.shorten(format.text(facet), 60) if facet else "")
    axes[-1, 0].set_xlabel(f"{label}, 95 % interval  ({null:g} = uninformative)")
    entries = [style.key(m, "clean" if name == CLEAN else name) for name, m in marks.items()]
    style.legend(figure, entries)
    said = (
        "Filled: clean texts; hollow: the same texts under an attack. Lines are 95 % intervals "
        "over items, the dotted line continues a clean value, the dashed one is what an "
        "uninformative score gives."
    )
    return Drawn(title, figure, style.with_n(said, frame))


def by_compression(tables: Tables) -> Drawn:
    """d against the compression and against the effective rank, a line for each group's parabola.

    The compression is by human references where every data set has them, else by responses.
    """
    import numpy as np

    frame = tables["compression"]
    ratio = "compression_reference"
    ratio = ratio if frame[ratio].notna().all() else "compression_response"
    shown = [by for by in (ratio, "effective_rank") if frame[by].notna().any()]
    figure, axes = style.new_figure(3.6, columns=len(shown), sharey=True)
    groups = list(frame.groupby("group", sort=False))
    hues = style.HUES * (1 + len(groups) // len(style.HUES))
    for side, by in zip(axes[0], shown, strict=True):
        for hue, (_, part) in zip(hues, groups, strict=False):
            known = part.dropna(subset=[by, "value"])
            for row in records(known):
                style.interval(side, row[by], row, Mark(hue, size=4.5), upright=True)
            if known[by].nunique() >= FEWEST:
                across = np.linspace(known[by].min(), known[by].max(), 60)
                parabola = np.polynomial.Polynomial.fit(known[by], known["value"], 2)
                side.plot(across, parabola(across), color=hue, lw=1.4)
        side.axhline(0, **style.DASHED, zorder=1)
        side.set_xlabel(COMPRESSION[by])
        side.grid(axis="y")
    axes[0, 0].set_ylabel("Effect size d")
    entries = [
        style.key(Mark(hue), format.shorten(format.text(name), 40))
        for hue, (name, _) in zip(hues, groups, strict=False)
    ]
    style.legend(figure, entries)
    said = (
        "One point for each data set, with its 95 % interval over items; lines are least-squares "
        "parabolas, whose test against a line is in the table."
    )
    return Drawn("Effect size by compression and effective rank", figure, style.with_n(said, frame))


def _marks(attacks: list[str]) -> dict[str, Mark]:
    """Clean is filled ink; each attack has a colour and a shape of its own."""
    marks = {CLEAN: Mark(style.INK)} if CLEAN in attacks else {}
    for place, name in enumerate(name for name in attacks if name != CLEAN):
        shape, hue = SHAPES[place % len(SHAPES)], style.HUES[place % len(style.HUES)]
        marks[name] = Mark(hue, shape, hollow=True, size=5.5)
    return marks


def _groups(axes: Axes, frame: DataFrame, marks: dict[str, Mark]) -> None:
    """The points of every mechanism below each other, a rule between mechanisms."""
    ticks: dict[str, float] = {}
    y = 0.0
    for group, part in frame.groupby("group", sort=False):
        if ticks:
            axes.axhline(y + 1, color=style.RULE, lw=0.6, zorder=0)
        rows = sorted(records(part), key=lambda row: list(marks).index(row["attack"]))
        for place, row in enumerate(rows):
            if not style.interval(axes, y - place, row, marks[row["attack"]]):
                style.unscored(axes, y - place, f"{row['attack']}: unscored")
        _baseline(axes, y, rows)
        ticks[format.shorten(format.text(group), 40)] = y - (len(rows) - 1) / 2
        y -= len(rows) + 1
    axes.set_yticks(list(ticks.values()), list(ticks))
    axes.set_ylim(y + 1, 1)


def _baseline(axes: Axes, top: float, rows: list[dict[str, Any]]) -> None:
    """From the clean value down past the attacked ones."""
    value = rows[0]["value"]
    if len(rows) > 1 and rows[0]["attack"] == CLEAN and value == value:
        ends = [top, top - len(rows) + 0.6]
        axes.plot([value, value], ends, color=style.INK, lw=0.9, ls=":", zorder=1)


DRAWINGS: dict[str, Drawing] = {
    "effect_sizes_by_mechanism": partial(
        points,
        title="Effect sizes, clean and attacked",
        statistic="effect_size",
        label="Effect size d",
        null=0.0,
    ),
    "auc_under_attack": partial(
        points, title="AUC, clean and attacked", statistic="auc", label="AUC", null=0.5
    ),
    "effect_sizes_by_compression": by_compression,
}
