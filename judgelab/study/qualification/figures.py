"""Exams, judges and pools, and what they cost; of one run, and of runs beside each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judgelab.core.result import Headline
from judgelab.report import style
from judgelab.report.format import frame, records
from judgelab.report.jobs import Comparison, SweepJob, keyed
from judgelab.report.style import Drawing, Drawn, Mark, Tables
from judgelab.study.common.sweeps import comparison, estimate_columns, table_rows
from judgelab.study.common.templates import caption

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = {
    "pool": (Mark(style.HUES[1], "D"), "pool of all candidates"),
    "method": (Mark(style.HUES[2], "s"), "method"),
    "judge": (Mark(style.HUES[0]), "single judge"),
}
EASY, HARD = Mark(style.HUES[5], "s"), Mark(style.HUES[4], "s")
ACCURACY = Mark(style.HUES[1], "^")


def cost(tables: Tables) -> Drawn:
    """Accuracy against cost, exams included: one point for each judge, named pool and method."""
    every = tables["pools"]
    contestants = every[(every["kind"] != "pool") | every["called"].notna()]
    frame = contestants.dropna(subset=["cost", "value"])
    figure, side = style.single(5.0)
    rows = records(frame)
    for row in rows:
        style.interval(side, row["cost"], row, KINDS[row["kind"]][0], upright=True)
    side.set_xscale("symlog", linthresh=1.0, linscale=0.5)
    side.xaxis.set_major_formatter("{x:g}")
    side.set_xlim(left=-0.15, right=1 + 6 * frame["cost"].max())
    unit = f", {every['currency'].iloc[0]}" if len(every) else ""
    side.set(xlabel=f"Cost of verdicts, exams and annotation{unit} (logarithmic above 1)")
    side.set(ylabel="Accuracy")
    side.grid(axis="y")
    kinds = set(frame["kind"])
    style.legend(figure, [style.key(*both) for kind, both in KINDS.items() if kind in kinds])
    words: dict[tuple[float, float], list[str]] = {}
    for row in rows:
        words.setdefault((row["cost"], row["value"]), []).append(_called(row))
    spots = [(x, y, " = ".join(names)) for (x, y), names in words.items()]
    style.label_points(figure, side, spots)
    unpriced = [_called(row) for row in records(contestants[contestants["cost"].isna()])]
    return caption(__package__, "cost", figure, frame, "pairs", unpriced=unpriced)


def confidence(tables: Tables) -> Drawn:
    """Boxes of each judge on the easy and the hard set, for each prompt of a sweep; triangles:
    accuracy, on the right axis (Auto-PRE paper, Figure 4)."""
    from matplotlib.ticker import PercentFormatter

    frame = tables["confidence"]
    keys = ["judge", *(["asked"] if "asked" in frame else [])]
    units = dict(list(frame.groupby("unit", sort=True)))
    figure, axes = style.new_figure(0.6 + 3.6 * len(units), rows=len(units))
    for side, (unit, part) in zip(axes[:, 0], units.items(), strict=True):
        groups = dict(list(part.sort_values(keys, kind="stable").groupby(keys, sort=False)))
        for place, both in enumerate(groups.values()):
            for row in records(both):
                hue, shift = (EASY, -0.2) if row["set"] == "easy" else (HARD, 0.2)
                _box(side, place + shift, row, hue.colour)
        crowded = len(groups) > 4
        names = [(", " if crowded else "\n").join(map(str, key)) for key in groups]
        side.set_xticks(range(len(groups)), names)
        side.set_xlim(-0.6, max(len(groups), 4) - 0.4)
        if unit == "level":
            side.yaxis.get_major_locator().set_params(integer=True)
        if crowded:
            for label in side.get_xticklabels():
                label.set(rotation=35, ha="right", rotation_mode="anchor", fontsize=8)
        side.set_ylabel("Uncertainty, -ln p" if unit == "-ln p" else "Level of confidence")
        side.grid(axis="y")
        right = [both["accuracy"].iloc[0] for both in groups.values()]
        if any(one == one for one in right):
            other = side.twinx()
            other.plot(range(len(groups)), right, ls="", marker="^", ms=7, color=ACCURACY.colour)
            other.set(ylim=(0.3, 1.0), ylabel="Accuracy")
            other.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    keys_shown = [(EASY, "easy pairs"), (HARD, "hard pairs"), (ACCURACY, "accuracy (right)")]
    style.legend(figure, [style.key(*one) for one in keys_shown])
    return caption(__package__, "confidence", figure, frame, "answers")


def _box(side: Axes, place: float, row: dict[str, Any], colour: str) -> None:
    """One box; nothing where the judge gave no answer."""
    if row["median"] != row["median"]:
        return
    parts = ("whisker_low", "quartile_1", "median", "quartile_3", "whisker_high", "value")
    names = ("whislo", "q1", "med", "q3", "whishi", "mean")
    line: dict[str, Any] = {"color": style.INK, "lw": 1.0}
    side.bxp(
        [{to: row[part] for to, part in zip(names, parts, strict=True)}],
        positions=[place],
        widths=0.34,
        showfliers=False,
        showmeans=True,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": colour, "alpha": 0.65, "edgecolor": style.INK, "lw": 0.8},
        medianprops={"color": style.INK, "lw": 1.8},
        meanprops={"marker": "o", "ms": 3.5, "mfc": style.PAPER, "mec": style.INK},
        whiskerprops=line,
        capprops=line,
    )


def _called(row: dict[str, Any]) -> str:
    return str(row["called"] if row["kind"] == "pool" else row["name"])


DRAWINGS: dict[str, Drawing] = {
    "qualification_cost": cost,
    "qualification_confidence": confidence,
}
HEADLINES = (Headline("pool/accuracy", "Decides as people do", 0.5, people=True),)


def compare(runs: Sequence[SweepJob]) -> list[Comparison]:
    """Runs beside each other: accuracy against cost, bias, confidence; with printed numbers."""
    comparisons = []
    rows = [
        row
        for row in _rows(runs, "pools", "value", "spearman")
        if row["kind"] != "pool"
        or row["called"] is not None
        or any(row.get(f"printed_{part}") is not None for part in ("value", "spearman"))
    ]
    if any(row["value"] is not None for row in rows):
        rows.sort(key=lambda row: math.inf if row["value"] is None else -row["value"])
        wide = [keyed(rows, key) for key in ("name", "kind", "called")]
        wide += estimate_columns(rows, "value", "accuracy")
        if any(row["spearman"] is not None for row in rows):
            wide += estimate_columns(rows, "spearman", "Spearman's rho")
        wide += [keyed(rows, key) for key in ("n", "unscored", "exam_cost", "cost")]
        wide += [*estimate_columns(rows, "gain", "gain"), keyed(rows, "p")]
        figures = ["qualification_cost"] if any(row["cost"] for row in rows) else []
        comparisons.append(comparison(__package__, "pools", rows, wide, figures))
    if rows := _rows(runs, "bias", "value", "accuracy"):
        wide = [keyed(rows, "name"), keyed(rows, "kind"), *estimate_columns(rows, "value", "rate")]
        wide += [*estimate_columns(rows, "accuracy", "accuracy"), keyed(rows, "n")]
        comparisons.append(comparison(__package__, "bias", rows, wide))
    if rows := table_rows(runs, "confidence"):
        figures = ["qualification_confidence"]
        comparisons.append(Comparison("confidence", frame({"rows": rows}), figures=figures))
    return comparisons


def _rows(jobs: Sequence[SweepJob], table: str, *parts: str) -> list[dict[str, Any]]:
    """Named by what their job was, too, where there are several."""
    rows = table_rows(jobs, table, parts=parts)
    names = [f"{row['name']} ({row['asked']})" if len(jobs) > 1 else row["name"] for row in rows]
    return [{**row, "name": name} for row, name in zip(rows, names, strict=True)]
