"""Exams, judges and pools, and what they cost."""

from __future__ import annotations

from typing import Any

from judgelab.core.result import read_estimate
from judgelab.report import format
from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Drawn, Mark, Tables
from judgelab.report.tables import records

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


def exams(tables: Tables) -> Drawn:
    """One panel per exam, one row per judge; a dashed line at the bar."""
    frame = tables["exams"]
    judges, parts = list(dict.fromkeys(frame["judge"])), frame.groupby("exam", sort=False)
    figure, axes = style.new_figure(1.2 + 0.3 * len(judges), columns=parts.ngroups, sharey=True)
    for side, (name, part) in zip(axes[0], parts, strict=True):
        rows = {row["judge"]: row for row in records(part)}
        gap = name == "self_confidence"
        for y, judge in zip(style.name_rows(side, judges, 24), judges, strict=True):
            row = rows[judge]
            shown = read_estimate(row, "gap") if gap else row
            if style.interval(side, y, shown, PASSED if row["passed"] is True else FAILED):
                alone = row["p_pass"] != row["p_pass"]
                style.aside(side, y, "no other" if alone else f"{row['p_pass']:.2f}")
            else:
                style.unscored(side, y, "not taken")
        style.reference_line(side, 0.0 if gap else float(rows[judges[0]]["bar"]))
        side.set_title(TITLES.get(str(name), name))
    style.legend(figure, [style.key(PASSED, "passed"), style.key(FAILED, "not passed")])
    said = (
        "95 % intervals over items; dashed: the bar. Figures at the right: in what share of "
        "resamples of the items the judge passes. Confidence gap: confidence on the easy set "
        "minus that on the hard one."
    )
    return Drawn("Exams", figure, style.with_n(said, frame, "answers"))


def pools(tables: Tables) -> Drawn:
    """One row per judge and pool, the most accurate on top within its kind; one panel each for
    accuracy, Spearman's rho and, where a family is named, its bias rate."""
    rows = records(tables["pools"].sort_values(["kind", "value"], ascending=[False, False]))
    measures = {name: measure for name, measure in MEASURES.items() if name in tables}
    figure, axes = style.new_figure(1.2 + 0.3 * len(rows), columns=len(measures), sharey=True)
    counts = []
    for side, (table, (title, unit)) in zip(axes[0], measures.items(), strict=True):
        found = {(row["kind"], row["name"]): row for row in records(tables[table])}
        heights = style.name_rows(side, [row["name"] for row in rows], 30)
        for y, row in zip(heights, rows, strict=True):
            style.interval(side, y, found.get((row["kind"], row["name"]), {}), _mark(row))
        side.set_title(title)
        counts.append(f"{title}: {style.counted(tables[table], unit)}")
    style.legend(figure, [style.key(POOL, "pool"), style.key(PASSED, "single judge")])
    said = f"95 % intervals are clustered by item. {'; '.join(counts)}."
    return Drawn("Judges and pools", figure, said)


def cost(tables: Tables) -> Drawn:
    """Accuracy against cost of those whose price is known; the pool on a budget as a line."""
    frame = tables["pools"].dropna(subset=["cost", "value"])
    figure, side = style.single(4.2)
    priced = int(tables["pools"]["cost"].notna().sum())
    said = f"{priced} judges and pools whose price is known; 95 % intervals over items."
    if "budgets" in tables:
        steps = tables["budgets"]
        side.plot(steps["cost"], steps["value"], "-", color=POOL.colour, lw=1.2, alpha=0.6)
        side.plot(steps["cost"], steps["value"], ".", color=POOL.colour)
        said += " The line: the pool of all exams, its cheapest judges first."
    for _, group in frame.groupby(["cost", "value"], sort=False):
        row = records(group)[0]
        x, y = row["cost"], row["value"]
        style.interval(side, x, row, _mark(row), upright=True)
        names = ", ".join(map(format.text, group["name"]))
        style.beside(side, x, y, names, 30, left=_mark(row) is POOL)
    side.set_xscale("symlog", linthresh=1.0)
    side.xaxis.set_major_formatter("{x:g}")
    side.set_xlim(left=-0.05)
    side.set(xlabel="Cost of all verdicts (logarithmic above 1)", ylabel="Accuracy")
    side.grid(axis="y")
    side.margins(x=0.12)
    style.legend(figure, [style.key(POOL, "pool"), style.key(PASSED, "single judge")])
    return Drawn("Cost against accuracy", figure, said)


def _mark(row: dict[str, Any]) -> Mark:
    return POOL if row["kind"] == "pool" else PASSED


DRAWINGS: dict[str, Drawing] = {
    "qualification_exams": exams,
    "qualification_pools": pools,
    "qualification_cost": cost,
}
