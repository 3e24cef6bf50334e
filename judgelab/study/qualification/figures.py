"""Exams, judges and pools, and what they cost; of one run, and of runs beside each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judgelab.core.result import Headline, read_estimate
from judgelab.report import style
from judgelab.report.jobs import Comparison, SweepJob, axes, keyed, setting
from judgelab.report.style import Drawing, Drawn, Mark, Tables
from judgelab.report.tables import Column, estimates, frame, records

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = {
    "pool": Mark(style.HUES[1], "D"),
    "method": Mark(style.HUES[2], "s"),
    "judge": Mark(style.HUES[0]),
}
NAMES = {"pool": "pool of all candidates", "method": "method", "judge": "single judge"}
EASY, HARD = Mark(style.HUES[5], "s"), Mark(style.HUES[4], "s")
ACCURACY = Mark(style.HUES[1], "^")


def cost(tables: Tables) -> Drawn:
    """Accuracy against cost, exams included: one point for each judge, named pool and method."""
    every = tables["pools"]
    named = every[(every["kind"] != "pool") | every["called"].notna()]
    frame = named.dropna(subset=["cost", "value"])
    figure, side = style.single(5.0)
    said = "95 % intervals over items; pools of some exams alone stand in the table."
    rows = records(frame)
    for row in rows:
        style.interval(side, row["cost"], row, MARKS[row["kind"]], upright=True)
    side.set_xscale("symlog", linthresh=1.0, linscale=0.5)
    side.xaxis.set_major_formatter("{x:g}")
    side.set_xlim(left=-0.15, right=1 + 6 * frame["cost"].max())
    unit = f", {every['currency'].iloc[0]}" if len(every) else ""
    side.set(xlabel=f"Cost of verdicts, exams and annotation{unit} (logarithmic above 1)")
    side.set(ylabel="Accuracy")
    side.grid(axis="y")
    kinds = [kind for kind in MARKS if (frame["kind"] == kind).any()]
    style.legend(figure, [style.key(MARKS[kind], NAMES[kind]) for kind in kinds])
    words: dict[tuple[float, float], list[str]] = {}
    for row in rows:
        words.setdefault((row["cost"], row["value"]), []).append(_called(row))
    spots = [(x, y, " = ".join(names)) for (x, y), names in words.items()]
    style.label_points(figure, side, spots)
    lost = [_called(row) for row in records(named[named["cost"].isna()])]
    if lost:
        said += f" Not drawn, as their cost is unknown: {', '.join(lost)}."
    return Drawn("Cost against accuracy", figure, style.with_n(said, frame, "pairs"))


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
    said = (
        "Boxes: quartiles and median; whiskers to the last value within 1.5 times the quartiles' "
        "gap; white points: means. A judge that is more uncertain on its easy pairs (left box "
        "higher than right; of levels: lower) is unreasonably confident. Triangles: the judge's "
        "accuracy on the pairs that people decided."
    )
    return Drawn("Confidence on easy and hard pairs", figure, style.with_n(said, frame, "answers"))


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
PRINTED = {"pools": ("value", "spearman"), "bias": ("value", "accuracy")}
"""Columns of a run's tables that a paper prints: printed/TABLE/NAME/COLUMN in its summary."""


def compare(jobs: Sequence[SweepJob]) -> list[Comparison]:
    """Runs beside each other: accuracy against cost, bias, confidence; with printed numbers."""
    made = []
    every = _rows(jobs, "pools", "name")
    beside = _printed(every, "pools")
    rows = [
        row
        for row in every
        if row["kind"] != "pool"
        or row.get("called") is not None
        or any(row[key] is not None for key in beside)
    ]
    if any(row["value"] is not None for row in rows):
        rows.sort(key=lambda row: math.inf if row["value"] is None else -row["value"])
        named, counts = ("name", "kind", "called"), ("n", "unscored", "exam_cost", "cost")
        wide = [*(keyed(rows, key) for key in named), *_estimated(rows, "value", "accuracy")]
        if any(row.get("spearman") is not None for row in rows):
            wide += _estimated(rows, "spearman", "Spearman's rho")
        wide += [*(keyed(rows, key) for key in counts), *_estimated(rows, "gain", "gain")]
        wide.append(keyed(rows, "p"))
        note = (
            "Accuracy on the pairs that people decided, 95 % interval over items. cost: of "
            "verdicts and of the exams that chose the judges. gain: accuracy of the run's pool of "
            "all exams minus this one's on the same pairs. All parts: pools.csv."
        )
        table = frame({"rows": rows, "columns": list(rows[0])})
        page = {"Accuracy against cost": wide}
        drawn = ["qualification_cost"] if any(row["cost"] for row in rows) else []
        made.append(Comparison("pools", table, note, page, drawn))
    if rows := _rows(jobs, "bias", "name"):
        _printed(rows, "bias")
        wide = [keyed(rows, "name"), keyed(rows, "kind"), *_estimated(rows, "value", "rate")]
        wide += [*_estimated(rows, "accuracy", "accuracy"), keyed(rows, "n")]
        note = "rate: how often a method favours the family where people do not."
        table = frame({"rows": rows, "columns": list(rows[0])})
        made.append(Comparison("bias", table, note, {"Bias towards a family": wide}))
    if rows := _rows(jobs, "confidence"):
        table = frame({"rows": rows, "columns": list(rows[0])})
        made.append(Comparison("confidence", table, figures=["qualification_confidence"]))
    return made


def _printed(rows: Sequence[dict[str, Any]], table: str) -> list[str]:
    """The columns of printed numbers, of those that there are; the others go."""
    keys = [f"printed_{part}" for part in PRINTED[table]]
    known = [key for key in keys if any(row[key] is not None for row in rows)]
    for row in rows:
        for key in {*keys} - {*known}:
            del row[key]
    return known


def _estimated(rows: Sequence[dict[str, Any]], key: str, name: str) -> list[Column]:
    beside = f"printed_{key}"
    cells = [read_estimate(row, key) | (row if key == "value" else {}) for row in rows]
    printed = [keyed(rows, beside, "printed")] if rows and beside in rows[0] else []
    return [estimates(key, cells, name), *printed]


def _rows(jobs: Sequence[SweepJob], name: str, key: str | None = None) -> list[dict[str, Any]]:
    """The rows of that table of every job; of several jobs, with what each was.

    That stands in a column ``asked``, or after the value of ``key``.
    """
    rows = []
    for job in jobs:
        chosen = [setting(job, axis).strip("'\"") for axis in axes(jobs)]
        own = " · ".join(chosen) if len(jobs) > 1 else ""
        for table in (job.result or {}).get("tables", ()):
            for row in table["rows"] if table["name"] == name else ():
                cells = {column: row.get(column) for column in table["columns"]}
                for part in PRINTED.get(name, ()):
                    printed = f"printed/{name}/{row['name']}/{part}"
                    cells[f"printed_{part}"] = job.summary.get(printed)
                if own and key is None:
                    cells["asked"] = own
                elif own:
                    cells[str(key)] = f"{cells[str(key)]} ({own})"
                rows.append(cells)
    return rows
