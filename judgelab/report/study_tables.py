"""What the sweep of one kind of study shows beside all runs: metrics by attacks, or its judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judgelab.core.result import flat_estimate, read_estimate
from judgelab.report import format
from judgelab.report.jobs import SweepJob, axes, marked, scorer, variant
from judgelab.report.tables import Column, column, estimates, frame, records

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class StudyTable:
    """A table of some jobs of a sweep.

    Attributes:
        name: of the figure's table.
        file: of the CSV, without its ending.
        figure: that draws it.
        note: how to read it.
        rows: all numbers.
        tables: heading -> columns, for the page; the first for a wide screen, too.
        narrow: the first for any terminal.
    """

    name: str
    file: str
    figure: str
    note: str
    rows: DataFrame
    tables: Mapping[str, Sequence[Column]]
    narrow: Sequence[Column]


def study_tables(found: Sequence[SweepJob]) -> Iterator[StudyTable]:
    """Those that these jobs have something for."""
    for make in (attack_table, judge_table):
        made = make(found)
        if made is not None:
            yield made


SMD = "change/smd"
ATTACKS_NOTE = (
    "Standardised mean difference d, attacked minus clean, with its 95 % interval, and whether the "
    "metric did what an honest one does under that attack. All parts: metrics_by_attacks.csv."
)


def attack_table(found: Sequence[SweepJob]) -> StudyTable | None:
    """Metrics by attacks; None where no job validated a metric under an attack."""
    varying = axes(found)
    names = [key for key in varying if key.partition(".")[0] != "attack" and key != "study"]
    parts = ("value", "low", "high", "p", "n", "unscored")
    rows = []
    for job, own in zip(found, marked(found), strict=True):
        if SMD in job.summary:
            estimate = read_estimate(job.summary, SMD)
            rows.append(
                {
                    "metric": scorer(job, names, own),
                    "attack": variant(job, str(job.summary["attack"]), varying),
                    "expects": job.summary.get("expects"),
                    **{part: estimate[part] for part in parts},
                    "verdict": job.summary.get("verdict"),
                }
            )
    if not rows:
        return None
    return StudyTable(
        name="attack_table",
        file="metrics_by_attacks",
        figure="metrics_by_attacks",
        note=ATTACKS_NOTE,
        rows=frame({"rows": rows, "columns": list(rows[0])}),
        tables={"Metrics by attacks": _by_attacks(rows)},
        narrow=_one_line_each(rows),
    )


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


def _one_line_each(rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    honest = ["falls" if row["expects"] == "fall" else "does not rise" for row in rows]
    metric, attack, verdict = (
        column(key, [str(row[key]) for row in rows]) for key in ("metric", "attack", "verdict")
    )
    d = estimates("value", rows, "d [95 % interval]")
    return [metric, attack, d, column("honest", honest), verdict]


def _verdict(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return format.NOTHING
    missing = f", {row['unscored']} unscored" if row["unscored"] else ""
    return f"{format.estimate(row['value'], row['low'], row['high'])}\n{row['verdict']}{missing}"


AVERAGE = "discernment/average_ew"
EACH = "d_ew/"
DS = {
    "average_ew": "D EW\naverage",
    "average": "D\naverage",
    "minimum_ew": "D EW\nminimum",
    "minimum": "D\nminimum",
}
JUDGES_NOTE = (
    "D with expert weights (EW) and without, averaged over levels and at its minimum over "
    "perturbations, with 95 % intervals over items; chance: what 5 % of judges reach by "
    "chance. Compare within a dataset, on the same perturbations and as many items. With every "
    "perturbation by itself: judges.csv."
)


def judge_table(found: Sequence[SweepJob]) -> StudyTable | None:
    """Judges by discernment, the best of a dataset on top; None with fewer than two."""
    each = zip(found, marked(found), strict=True)
    made = [_judge(job, axes(found), own) for job, own in each if AVERAGE in job.summary]
    if len(made) < 2:
        return None
    board = frame({"rows": made, "columns": list(made[0])})
    by = ["dataset", "average_ew"]
    board = board.sort_values(by, ascending=[True, False], kind="stable").reset_index(drop=True)
    rows = records(board)
    keys = ["judge", "dataset"] if board["dataset"].nunique() > 1 else ["judge"]
    named = [_words(rows, key) for key in keys]
    unseen = _words(rows, "not_seen")
    wide = list(named)
    for name, heading in DS.items():
        wide.append(estimates(name, [read_estimate(row, name) for row in rows], heading))
        wide.append(_column(rows, f"{name}_threshold", "chance"))
    wide += [_column(rows, key) for key in ("n", "unscored")]
    short = {"average_ew": "D EW", "average_ew_threshold": "chance", "average": "D"}
    return StudyTable(
        name="judges",
        file="judges",
        figure="discernment_judges",
        note=JUDGES_NOTE,
        rows=board,
        tables={
            "Judges by discernment": [*wide, unseen],
            "D of each judge on each perturbation, expert weights": [*named, *_each(rows)],
        },
        narrow=[*named, *(_column(rows, *one) for one in short.items()), unseen],
    )


def _judge(job: SweepJob, varying: Sequence[str], own: str) -> dict[str, Any]:
    summary = job.summary
    names = [key for key in varying if key not in ("study", "dataset", "attack")]
    row: dict[str, Any] = {
        "judge": scorer(job, names, own),
        "dataset": str(summary.get("dataset") or ""),
    }
    for name in DS:
        found = read_estimate(summary, f"discernment/{name}")
        row |= flat_estimate(name, {p: found[p] for p in ("value", "low", "high", "threshold")})
    found = read_estimate(summary, AVERAGE)
    row |= {part: found[part] for part in ("n", "unscored")}
    row |= {key: summary.get(key) for key in ("items", "not_seen_count", "not_seen")}
    return row | {key: value for key, value in summary.items() if key.startswith(EACH)}


def _each(rows: Sequence[Mapping[str, Any]]) -> Iterator[Column]:
    """Perturbations across."""
    for key in (key for key in rows[0] if key.startswith(EACH)):
        name = key.removeprefix(EACH)
        unseen = [name in str(row["not_seen"] or "").split(", ") for row in rows]
        made = _column(rows, key, format.words(name).replace(" ", "\n"))
        cells = zip(made.cells, unseen, strict=True)
        yield replace(made, cells=tuple(f"{cell}\nnot seen" if no else cell for cell, no in cells))


def _words(rows: Sequence[Mapping[str, Any]], key: str) -> Column:
    return column(key, [row[key] or "" for row in rows])


def _column(rows: Sequence[Mapping[str, Any]], key: str, heading: str | None = None) -> Column:
    return column(key, [row[key] for row in rows], heading)
