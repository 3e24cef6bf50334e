"""Exams, judges and pools, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgelab.report import format
from judgelab.report.figures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

PASSED = style.Mark(style.HUES[0])
FAILED = style.Mark(style.HUES[0], hollow=True)
POOL = style.Mark(style.HUES[1], "D")
MEASURES = {"pools": "Accuracy", "correlations": "Spearman's rho", "bias": "Bias rate"}
"""Table -> what it measures against people."""
TITLES = {
    "consistency": "Consistency, P_c",
    "pertinence": "Pertinence, P_p",
    "self_confidence": "Confidence gap, P_s",
}


def exams(tables: dict[str, DataFrame]) -> Figure:
    """One panel per exam, one row per judge; a dashed line at the bar."""
    frame = tables["exams"]
    names = list(dict.fromkeys(frame["exam"]))
    judges = list(dict.fromkeys(frame["judge"]))
    drawn, axes = style.new_figure(1.2 + 0.3 * len(judges), columns=len(names), sharey=True)
    for column, name in enumerate(names):
        side = axes[0, column]
        rows = {row["judge"]: row for row in style.records(frame[frame["exam"] == name])}
        gap = name == "self_confidence"
        for place, judge in enumerate(judges):
            row, y = rows[judge], len(judges) - 1 - place
            shown = _gap(row) if gap else row
            if shown["value"] != shown["value"]:
                style.unscored(side, y, "not sat")
                continue
            style.interval(side, y, shown, PASSED if row["passed"] is True else FAILED)
            alone = row["p_pass"] != row["p_pass"]  # compared with nobody
            _aside(side, y, "excused" if alone else f"{row['p_pass']:.2f}")
        bar = 0.0 if gap else float(rows[judges[0]]["bar"])
        style.reference_line(side, bar)
        side.set_title(TITLES.get(name, name))
        side.grid(axis="x")
        side.set_ylim(-0.6, len(judges) - 0.4)
    labels = [format.shorten(format.text(judge), 24) for judge in judges]
    axes[0, 0].set_yticks(range(len(judges))[::-1], labels)
    style.legend(drawn, [style.key(PASSED, "passed"), style.key(FAILED, "not passed")])
    return drawn


def exams_caption(tables: dict[str, DataFrame]) -> str:
    """How to read it."""
    return (
        "95 % intervals over items; dashed: the bar. Figures at the right: in what share of "
        "resamples of the items the judge passes. Confidence gap: confidence on the easy set "
        f"minus that on the hard one. {style.counted(tables['exams'], 'answers')}."
    )


def pools(tables: dict[str, DataFrame]) -> Figure:
    """One row per judge and pool, the most accurate on top within its kind; one panel each for
    accuracy, Spearman's rho and, where a family is named, its bias rate."""
    frame = tables["pools"]
    rows = style.records(frame.sort_values(["kind", "value"], ascending=[False, False]))
    shown = [name for name in MEASURES if name in tables]
    drawn, axes = style.new_figure(1.2 + 0.3 * len(rows), columns=len(shown), sharey=True)
    for column, name in enumerate(shown):
        side = axes[0, column]
        found = {(row["kind"], row["name"]): row for row in style.records(tables[name])}
        for place, row in enumerate(rows):
            cell = found.get((row["kind"], row["name"]), {})
            style.interval(side, len(rows) - 1 - place, cell, _mark(row))
        side.set_title(MEASURES[name])
        side.grid(axis="x")
    names = [format.shorten(format.text(row["name"]), 30) for row in rows]
    axes[0, 0].set_yticks(range(len(rows))[::-1], names)
    axes[0, 0].set_ylim(-0.6, len(rows) - 0.4)
    style.legend(drawn, [style.key(POOL, "pool"), style.key(PASSED, "single judge")])
    return drawn


def pools_caption(tables: dict[str, DataFrame]) -> str:
    """How to read it."""
    units = {"pools": "pairs", "correlations": "items", "bias": "verdicts"}
    said = [
        f"{MEASURES[name]}: {style.counted(tables[name], unit)}"
        for name, unit in units.items()
        if name in tables
    ]
    return f"95 % intervals are clustered by item. {'; '.join(said)}."


def cost(tables: dict[str, DataFrame]) -> Figure:
    """Accuracy against cost of those whose price is known; the pool on a budget as a line."""
    frame = tables["pools"].dropna(subset=["cost", "value"])
    drawn, axes = style.new_figure(4.2)
    side = axes[0, 0]
    if "budgets" in tables:
        steps = tables["budgets"]
        side.plot(steps["cost"], steps["value"], "-", color=POOL.colour, lw=1.2, alpha=0.6)
        side.plot(steps["cost"], steps["value"], ".", color=POOL.colour)
    for (x, y), group in frame.groupby(["cost", "value"], sort=False):
        row = style.records(group)[0]
        mark = _mark(row)
        if row["low"] == row["low"]:
            side.plot([x, x], [row["low"], row["high"]], color=mark.colour, lw=1.2, alpha=0.5)
        side.plot([x], [y], mark.shape, color=mark.colour, ms=mark.size)
        names = ", ".join(map(format.text, group["name"]))
        side.annotate(
            format.shorten(names, 30),
            (x, y),
            xytext=(-6, 6) if mark is POOL else (6, -3),
            textcoords="offset points",
            ha="right" if mark is POOL else "left",
            fontsize=8,
            color=style.MUTED,
        )
    side.set_xscale("symlog", linthresh=1.0)
    side.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    side.set_xlim(left=-0.05)
    side.set_xlabel("Cost of all verdicts (logarithmic above 1)")
    side.set_ylabel("Accuracy")
    side.grid(axis="y")
    side.margins(x=0.12)
    style.legend(drawn, [style.key(POOL, "pool"), style.key(PASSED, "single judge")])
    return drawn


def cost_caption(tables: dict[str, DataFrame]) -> str:
    """How to read it."""
    known = int(tables["pools"]["cost"].notna().sum())
    line = " The line: the pool of all exams, its cheapest judges first." * ("budgets" in tables)
    return f"{known} judges and pools whose price is known; 95 % intervals over items.{line}"


def _gap(row: dict[str, object]) -> dict[str, object]:
    return {"value": row["gap"], "low": row["gap_low"], "high": row["gap_high"]}


def _aside(side: object, y: float, text: str) -> None:
    side.annotate(  # type: ignore[attr-defined]
        text,
        (1.0, y),
        xycoords=("axes fraction", "data"),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color=style.MUTED,
    )


def _mark(row: dict[str, object]) -> style.Mark:
    return POOL if row["kind"] == "pool" else PASSED
