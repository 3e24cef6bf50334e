"""Exams, judges and pools, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgelab.core.result import read_estimate
from judgelab.report import format
from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Mark, Tables
from judgelab.report.tables import records

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PASSED = Mark(style.HUES[0])
FAILED = Mark(style.HUES[0], hollow=True)
POOL = Mark(style.HUES[1], "D")
MEASURES = {
    "pools": ("Accuracy", "pairs"),
    "correlations": ("Spearman's rho", "items"),
    "bias": ("Bias rate", "verdicts"),
}
"""Table -> what it measures against people, and its units."""
TITLES = {
    "consistency": "Consistency, P_c",
    "pertinence": "Pertinence, P_p",
    "self_confidence": "Confidence gap, P_s",
}


def exams(tables: Tables) -> Figure:
    """One panel per exam, one row per judge; a dashed line at the bar."""
    frame = tables["exams"]
    judges, parts = list(dict.fromkeys(frame["judge"])), frame.groupby("exam", sort=False)
    drawn, axes = style.new_figure(1.2 + 0.3 * len(judges), columns=parts.ngroups, sharey=True)
    for side, (name, part) in zip(axes[0], parts, strict=True):
        rows = {row["judge"]: row for row in records(part)}
        gap = name == "self_confidence"
        for y, judge in zip(style.name_rows(side, judges, 24), judges, strict=True):
            row = rows[judge]
            shown = read_estimate(row, "gap") if gap else row
            if shown["value"] != shown["value"]:
                style.unscored(side, y, "not taken")
                continue
            style.interval(side, y, shown, PASSED if row["passed"] is True else FAILED)
            alone = row["p_pass"] != row["p_pass"]
            style.aside(side, y, "no other" if alone else f"{row['p_pass']:.2f}")
        style.reference_line(side, 0.0 if gap else float(rows[judges[0]]["bar"]))
        side.set_title(TITLES.get(str(name), name))
    style.legend(drawn, [style.key(PASSED, "passed"), style.key(FAILED, "not passed")])
    return drawn


def pools(tables: Tables) -> Figure:
    """One row per judge and pool, the most accurate on top within its kind; one panel each for
    accuracy, Spearman's rho and, where a family is named, its bias rate."""
    rows = records(tables["pools"].sort_values(["kind", "value"], ascending=[False, False]))
    shown = [name for name in MEASURES if name in tables]
    drawn, axes = style.new_figure(1.2 + 0.3 * len(rows), columns=len(shown), sharey=True)
    for side, name in zip(axes[0], shown, strict=True):
        found = {(row["kind"], row["name"]): row for row in records(tables[name])}
        heights = style.name_rows(side, [row["name"] for row in rows], 30)
        for y, row in zip(heights, rows, strict=True):
            style.interval(side, y, found.get((row["kind"], row["name"]), {}), _mark(row))
        side.set_title(MEASURES[name][0])
    style.legend(drawn, [style.key(POOL, "pool"), style.key(PASSED, "single judge")])
    return drawn


def _pools_caption(tables: Tables) -> str:
    said = [
        f"{title}: {style.counted(tables[name], unit)}"
        for name, (title, unit) in MEASURES.items()
        if name in tables
    ]
    return f"95 % intervals are clustered by item. {'; '.join(said)}."


def cost(tables: Tables) -> Figure:
    """Accuracy against cost of those whose price is known; the pool on a budget as a line."""
    frame = tables["pools"].dropna(subset=["cost", "value"])
    drawn, side = style.single(4.2)
    if "budgets" in tables:
        steps = tables["budgets"]
        side.plot(steps["cost"], steps["value"], "-", color=POOL.colour, lw=1.2, alpha=0.6)
        side.plot(steps["cost"], steps["value"], ".", color=POOL.colour)
    for _, group in frame.groupby(["cost", "value"], sort=False):
        row = records(group)[0]
        x, y, mark = row["cost"], row["value"], _mark(row)
        style.interval(side, x, row, mark, upright=True)
        names = ", ".join(map(format.text, group["name"]))
        style.beside(side, x, y, names, 30, left=mark is POOL)
    side.set_xscale("symlog", linthresh=1.0)
    side.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    side.set_xlim(left=-0.05)
    side.set_xlabel("Cost of all verdicts (logarithmic above 1)")
    side.set_ylabel("Accuracy")
    side.grid(axis="y")
    side.margins(x=0.12)
    style.legend(drawn, [style.key(POOL, "pool"), style.key(PASSED, "single judge")])
    return drawn


def _cost_caption(tables: Tables) -> str:
    known = int(tables["pools"]["cost"].notna().sum())
    line = " The line: the pool of all exams, its cheapest judges first." * ("budgets" in tables)
    return f"{known} judges and pools whose price is known; 95 % intervals over items.{line}"


def _mark(row: dict[str, Any]) -> Mark:
    return POOL if row["kind"] == "pool" else PASSED


_EXAMS = (
    "95 % intervals over items; dashed: the bar. Figures at the right: in what share of "
    "resamples of the items the judge passes. Confidence gap: confidence on the easy set "
    "minus that on the hard one."
)

DRAWINGS = {
    "qualification_exams": Drawing("Exams", exams, _EXAMS, "exams", "answers"),
    "qualification_pools": Drawing("Judges and pools", pools, _pools_caption),
    "qualification_cost": Drawing("Cost against accuracy", cost, _cost_caption),
}
