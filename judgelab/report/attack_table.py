"""Metrics by attacks: the validation jobs of a sweep as one table and the points of one figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judgelab.report import format
from judgelab.report.jobs import SweepJob, axes, marked, setting
from judgelab.report.tables import Column

if TYPE_CHECKING:
    from pandas import DataFrame

KEY = "change/smd"
TITLE = "Metrics by attacks"
NOTE = (
    "Standardised mean difference d, attacked minus clean, with its 95 % interval, and whether the "
    "metric did what an honest one does under that attack. All parts: metrics_by_attacks.csv."
)


def crossed(found: Sequence[SweepJob]) -> DataFrame:
    """One row per metric and attack; empty where no job validated a metric under an attack."""
    import pandas as pd

    each = zip(found, marked(found), strict=True)
    return pd.DataFrame([_row(job, axes(found), own) for job, own in each if KEY in job.summary])


def shown(cells: DataFrame) -> list[Column]:
    """Metrics down, attacks across."""
    metrics = list(dict.fromkeys(cells["metric"]))
    attacks = list(dict.fromkeys(cells["attack"]))
    places = {(row["metric"], row["attack"]): row for row in cells.to_dict("records")}
    made = [Column("metric", "metric", False, tuple(metrics), tuple(metrics))]
    for attack in attacks:
        rows = [places.get((metric, attack)) for metric in metrics]
        expects = next(row["expects"] for row in rows if row is not None)
        heading = f"{attack}\n({'should fall' if expects == 'fall' else 'should not rise'})"
        texts = tuple(_cell(row) for row in rows)
        values = tuple(None if row is None else row["value"] for row in rows)
        made.append(Column(attack, heading, True, texts, values))
    return made


def listed(cells: DataFrame) -> list[Column]:
    """The same, one line each: what fits any terminal."""
    rows = cells.to_dict("records")
    words = [
        ("metric", [row["metric"] for row in rows]),
        ("attack", [row["attack"] for row in rows]),
        ("honest", ["falls" if row["expects"] == "fall" else "does not rise" for row in rows]),
        ("verdict", [str(row["verdict"]) for row in rows]),
    ]
    made = [Column(key, key, False, tuple(texts), tuple(texts)) for key, texts in words]
    numbers = tuple(format.estimate(row["value"], row["low"], row["high"]) for row in rows)
    d = Column("value", "d [95 % interval]", True, numbers, tuple(row["value"] for row in rows))
    return [*made[:2], d, *made[2:]]


def _row(job: SweepJob, varying: Sequence[str], own: str) -> dict[str, Any]:
    """``own``: what its estimator has and others of its name have not."""
    names = [key for key in varying if key.partition(".")[0] != "attack" and key != "study"]
    inner = [key for key in varying if key.startswith("attack.")]
    words = [f"{key.partition('.')[2]}={setting(job, key)}" for key in inner]
    summary = job.summary
    parts = {p: summary.get(f"{KEY}_{p}") for p in ("low", "high", "p", "n", "unscored")}
    said = [
        str(summary["mechanism"]) if key == "mechanism" else _setting(job, key) for key in names
    ]
    return {
        "metric": (" · ".join(said) or str(summary["mechanism"])) + (f" ({own})" if own else ""),
        "attack": " ".join([str(summary["attack"]), *words]),
        "expects": summary.get("expects"),
        "value": summary[KEY],
        **parts,
        "verdict": summary.get("verdict"),
    }


def _setting(job: SweepJob, key: str) -> str:
    value = setting(job, key)
    return value if key in job.choices else f"{key}={value}"


def _cell(row: dict[Any, Any] | None) -> str:
    if row is None:
        return format.NOTHING
    missing = f", {row['unscored']} unscored" if row["unscored"] else ""
    return f"{format.estimate(row['value'], row['low'], row['high'])}\n{row['verdict']}{missing}"
