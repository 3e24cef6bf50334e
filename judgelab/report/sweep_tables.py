"""The tables of a sweep: all its runs, points to draw, metrics by attacks; and its judges'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judgelab.core.result import flat_estimate, read_estimate
from judgelab.report import format
from judgelab.report.jobs import (
    SweepJob,
    axes,
    estimators,
    marked,
    option,
    scorer,
    setting,
    variant,
)
from judgelab.report.judge_tables import d_headings, judge_tables
from judgelab.report.study_table import StudyTable
from judgelab.report.sweep_boards import board_table
from judgelab.report.sweep_fits import fit_table
from judgelab.report.sweep_qualification import confidence_table, methods_table
from judgelab.report.tables import Column, Write, column, estimates, frame

if TYPE_CHECKING:
    from pandas import DataFrame

METRICS = {
    "clean/human_within": "agreement\nwith people",
    "clean/human_within_gain": "more than\nlength",
    "clean/auc": "AUC\nclean",
    "clean/auc_gain": "AUC more\nthan length",
    "attacked/auc": "AUC\nattacked",
    "change/auc": "AUC\nchange",
    "clean/pair_auc": "pair AUC\nclean",
    "clean/effect_size": "effect size\nclean",
    "attacked/effect_size": "effect size\nattacked",
    "change/smd": "standardised\nchange",
    "clean/human_spearman": "rank corr.\nwith people",
}
"""Summary key -> heading; those of discernment are in ``judge_tables``."""

LEGEND = (
    "Intervals over items: 95 %, of leaderboards 90 %; unscored counts texts without a score, "
    "missing calls those that failed or could not be read."
)


def shown(found: Sequence[SweepJob], write: Write = format.estimate) -> list[Column]:
    """One row per job: what varies, items, the figures of its study, texts without a score."""
    made = [column(key, [setting(job, key) for job in found], key) for key in axes(found)]
    if any(differs := marked(found)):
        made.append(column("estimator", [mark or None for mark in differs]))
    if any(said := [_audited(job) for job in found]):
        made.append(column("verdict", said))
    if any("items" in job.summary for job in found):
        made.append(column("items", [job.summary.get("items") for job in found]))
    measured = [
        estimates(key, [read_estimate(job.summary, key) for job in found], heading, write)
        for key, heading in metrics(found).items()
    ]
    if measured:
        pairs = zip(found, measured[0].cells, strict=True)
        cells = tuple(
            "failed" if job.error is not None else f"{cell} (partial)" if job.partial else cell
            for job, cell in pairs
        )
        measured[0] = replace(measured[0], cells=cells)
    made += [*measured, column("unscored", [unscored(job) for job in found])]
    if any(missing := [missing_calls(job) for job in found]):
        made.append(column("missing_calls", missing, "missing\ncalls"))
    return made


def _audited(job: SweepJob) -> str | None:
    """The verdict of an audit on one judge, or how many judges have which."""
    return str(job.summary["verdict"]) if job.summary.get("study") == "audit" else None


COUNTS = ("items", "unscored_texts", "missing_calls")


def table(found: Sequence[SweepJob]) -> DataFrame:
    """The same as numbers: every part of every estimate in a column of its own."""
    import pandas as pd

    rows = []
    for job, one, differs in zip(found, estimators(found), marked(found), strict=True):
        row: dict[str, Any] = {"job": job.number}
        row |= {key: setting(job, key) for key in axes(found)}
        row["estimator_differs"] = differs or None
        row["estimator"] = None if one is None else one.line
        row["status"] = job.status
        row["items"] = job.summary.get("items")
        for key in metrics(found, every=True):
            row |= flat_estimate(key, read_estimate(job.summary, key))
        row["unscored_texts"] = unscored(job)
        row["missing_calls"] = missing_calls(job)
        row["run"] = None if job.run is None else job.run.name
        rows.append(row)
    made = pd.DataFrame(rows).dropna(axis="columns", how="all")
    counts = [name for name in made if name in COUNTS or str(name).endswith(("_n", "_unscored"))]
    return made.astype(dict.fromkeys(counts, "Int64"))  # counts stay whole where one is missing


def metrics(found: Sequence[SweepJob], *, every: bool = False) -> dict[str, str]:
    """Summary key -> heading of what the studies of this sweep have to show; nothing twice."""
    headings = METRICS | d_headings([job.summary for job in found], every=every)
    known = [key for key in headings if any(job.summary.get(key) is not None for job in found)]
    own = [str(job.result["primary"]) for job in found if job.result is not None]
    own = [
        key for key in own if not known or any(job.summary.get(key) is not None for job in found)
    ]
    return {key: headings.get(key, format.words(key)) for key in dict.fromkeys([*known, *own])}


def unscored(job: SweepJob) -> int | None:
    """Texts without a score, clean and attacked together; None where they were not counted."""
    counts = [v for k, v in job.summary.items() if k.endswith("unscored_texts") and v is not None]
    return sum(counts) if counts else None


def missing_calls(job: SweepJob) -> int | None:
    """Calls that failed or could not be read, on every panel; None where they were not counted."""
    kinds = ("/unread_calls", "/failed_calls", "/unknown_calls")
    counts = [value for key, value in job.summary.items() if key.endswith(kinds)]
    return sum(counts) if counts else None


def points(found: Sequence[SweepJob]) -> DataFrame:
    """Rows for judgelab.report.figures.sweeps: one clean point a group, one for each attack."""
    varying = axes(found)
    names = [key for key in varying if key.partition(".")[0] != "attack"]
    facet = "dataset" if "dataset" in names and len(names) > 1 else None
    named = ("facet", "group", "attack", "statistic")
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for job in (job for job in found if "clean/auc" in job.summary):
        group = " · ".join(option(job, key) for key in names if key != facet)
        place = (setting(job, facet) if facet else "", group or setting(job, "mechanism"))
        attacks = {"clean": "none", "attacked": variant(job, setting(job, "attack"), varying)}
        for panel, attack in attacks.items():
            for statistic in ("effect_size", "auc"):
                key = f"{panel}/{statistic}"
                spot = (*place, attack, statistic)
                if key in job.summary and spot not in rows:
                    keys = dict(zip(named, spot, strict=True))
                    rows[spot] = keys | read_estimate(job.summary, key)
    return frame({"rows": list(rows.values())})


def study_tables(found: Sequence[SweepJob]) -> list[StudyTable]:
    """Those that these jobs have something for."""
    tables = (fit_table(found), attack_table(found), *judge_tables(found), methods_table(found))
    return [m for m in (*tables, confidence_table(found), board_table(found)) if m is not None]


SMD = "change/smd"
ATTACKS_NOTE = (
    "Standardised mean difference d, attacked minus clean, with its 95 % interval, and whether the "
    "metric did what an honest one does under that attack. All parts: metrics_by_attacks.csv."
)


def attack_table(found: Sequence[SweepJob]) -> StudyTable | None:
    """Metrics by attacks; None where no job validated a metric under an attack."""
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
        return None
    return StudyTable(
        name="metrics_by_attacks",
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
