"""Metrics by attacks: several runs of study=validation (GEM paper, Tables 2-4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgelab.core.result import Headline, read_estimate
from judgelab.report import format
from judgelab.report.comparison import Comparison
from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Drawn, Mark, Tables
from judgelab.report.jobs import SweepJob, axes, marked, scorer, variant
from judgelab.report.sweep_answer import counted
from judgelab.report.tables import Column, column, frame, records

HEADLINES = (
    Headline(
        "clean/human_spearman",
        "Rank correlation with people's scores",
        0.0,
        people=True,
        unit="texts",
    ),
    Headline("clean/human_pearson", "Correlation with people's scores", 0.0, unit="texts"),
)
HONEST = ("falls", "does not rise")
"""Verdicts on a metric that does what an honest one does under an attack."""
SMD = "change/smd"
ATTACKS_NOTE = (
    "Standardised mean difference d, attacked minus clean, with its 95 % interval, and whether the "
    "metric did what an honest one does under that attack. All parts: metrics_by_attacks.csv."
)


def compare(found: Sequence[SweepJob]) -> list[Comparison]:
    """Metrics by attacks; nothing where no job validated a metric under an attack."""
    varying = axes(found)
    names = [key for key in varying if key.partition(".")[0] != "attack" and key != "study"]
    rows = []
    for job, own in zip(found, marked(found), strict=True):
        if SMD in job.summary:
            row = {
                "metric": scorer(job, names, own),
                "attack": variant(job, str(job.summary["attack"]), varying),
                "expects": job.summary.get("expects"),
            }
            estimate = read_estimate(job.summary, SMD)
            row |= {p: estimate[p] for p in ("value", "low", "high", "p", "n", "unscored")}
            rows.append(row | {"verdict": job.summary.get("verdict")})
    if not rows:
        return []
    made = Comparison(
        name="metrics_by_attacks",
        rows=frame({"rows": rows, "columns": list(rows[0])}),
        note=ATTACKS_NOTE,
        tables={"Metrics by attacks": _by_attacks(rows)},
        figures=["metrics_by_attacks"],
        answer=[("Under attack", _in_words([str(row["verdict"]) for row in rows]))],
    )
    return [made]


def _in_words(verdicts: Sequence[str]) -> str:
    """How many metrics do what an honest one does."""
    undecided = verdicts.count("undecided")
    said = (
        f"In {sum(word in HONEST for word in verdicts)} of {counted(len(verdicts))} the metric "
        "does what an honest one does: it punishes what is worse and does not rise with what is "
        "not better."
    )
    if undecided:
        said += f" {counted(undecided).capitalize()} undecided: more items decide."
    return said


def _by_attacks(rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Metrics down, attacks across."""
    metrics, attacks = (
        list(dict.fromkeys(row[key] for row in rows)) for key in ("metric", "attack")
    )
    places = {(row["metric"], row["attack"]): row for row in rows}
    made = [column("metric", metrics)]
    for attack in attacks:
        cells = [places.get((metric, attack)) for metric in metrics]
        expects = next(row["expects"] for row in cells if row is not None)
        heading = f"{attack}\n({'should fall' if expects == 'fall' else 'should not rise'})"
        values = [row["value"] if row else None for row in cells]
        made.append(Column(attack, heading, True, tuple(map(_verdict, cells)), tuple(values)))
    return made


def _verdict(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return format.NOTHING
    missing = f", {row['unscored']} unscored" if row["unscored"] else ""
    return f"{format.estimate(row['value'], row['low'], row['high'])}\n{row['verdict']}{missing}"


AXIS = "d, attacked minus clean"
AS_HONEST, OTHERWISE = Mark(style.HUES[0]), Mark(style.HUES[1], "D", hollow=True)
UNDECIDED = Mark(style.MUTED, "s", hollow=True)


def attacks(tables: Tables) -> Drawn:
    """One panel for each attack, one row for each metric."""
    cells = tables["metrics_by_attacks"]
    names, metrics = (list(dict.fromkeys(cells[key])) for key in ("attack", "metric"))
    figure, axes = style.multiples(names, 0.3, 0.9 + 0.26 * len(metrics), sharey=True)
    for side, (attack, part) in zip(axes.flat, cells.groupby("attack", sort=False), strict=False):
        heights = dict(zip(metrics, style.name_rows(side, metrics, 34), strict=True))
        for row in records(part):
            style.interval(side, heights[row["metric"]], row, _honest(row))
        style.reference_line(side, 0)
        wanted = "should fall" if part["expects"].iloc[0] == "fall" else "should not rise"
        side.set_title(f"{format.words(str(attack))}\n{wanted}", fontsize=9)
        side.set_xlabel(AXIS)
    marks = {"as an honest metric does": AS_HONEST, "not": OTHERWISE, "undecided": UNDECIDED}
    style.legend(figure, [style.key(mark, name) for name, mark in marks.items()])
    said = (
        "Filled: the metric did what an honest one does under this attack (its interval lies below "
        "0, or below what counts as no rise); hollow: it did not. Lines are 95 % intervals."
    )
    return Drawn("Metrics by attacks", figure, style.with_n(said, cells, "rows"))


def _honest(row: dict[str, Any]) -> Mark:
    if row.get("verdict") == "undecided":
        return UNDECIDED
    return AS_HONEST if row.get("verdict") in HONEST else OTHERWISE


DRAWINGS: dict[str, Drawing] = {"metrics_by_attacks": attacks}
