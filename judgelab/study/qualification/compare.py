"""Runs of study=qualification beside each other: accuracy against cost, and confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from judgelab.core.result import Headline, read_estimate
from judgelab.report.comparison import Comparison, keyed
from judgelab.report.jobs import SweepJob, axes, setting
from judgelab.report.tables import estimates, frame, records

HEADLINES = (Headline("pool/accuracy", "Decides as people do", 0.5, people=True),)
COST_NOTE = (
    "Accuracy on the pairs that people decided, 95 % interval over items. cost: of verdicts and "
    "of the exams that chose the judges. gain: accuracy of the run's pool of all exams "
    "minus this one's on the same pairs. All parts: pools.csv."
)


def compare(found: Sequence[SweepJob]) -> list[Comparison]:
    """What differs between the runs."""
    return [one for one in (methods_table(found), confidence_table(found)) if one is not None]


def methods_table(found: Sequence[SweepJob]) -> Comparison | None:
    """Judges, pools and methods by cost and accuracy; None where no job has a price."""
    rows = [
        row
        for row in stacked(found, "pools", "name")
        if row["kind"] != "pool" or row.get("called") is not None
    ]
    if not any(row["cost"] for row in rows):
        return None
    rows.sort(key=lambda row: math.inf if row["value"] is None else -row["value"])
    named = [keyed(rows, key) for key in ("name", "kind", "called")]
    accuracy = estimates("value", [read_estimate(row, "value") | row for row in rows], "accuracy")
    gain = estimates("gain", [read_estimate(row, "gain") for row in rows], "gain")
    costs = [keyed(rows, key) for key in ("exam_cost", "cost")]
    counts = [keyed(rows, key) for key in ("n", "unscored")]
    wide = [*named, accuracy, *counts, *costs, gain, keyed(rows, "p")]
    return Comparison(
        name="pools",
        figures=["qualification_cost"],
        note=COST_NOTE,
        rows=frame({"rows": rows, "columns": list(rows[0])}),
        tables={"Accuracy against cost": wide},
    )


CONFIDENCE_NOTE = (
    "Uncertainty, -ln p of the label that a judge emitted, or the level that it named, on easy and "
    "on hard pairs; 95 % intervals of the means over items. All parts: confidence.csv."
)


def confidence_table(found: Sequence[SweepJob]) -> Comparison | None:
    """Confidence on easy and hard pairs, for each way of asking; None where no job has any.

    A sweep over something else has the same of each judge in all jobs: it stands there once.
    """
    rows = stacked(found, "confidence")
    if not rows:
        return None
    made = frame({"rows": rows, "columns": list(rows[0])})
    made = made.drop_duplicates(["judge", "set", "value", "median"], ignore_index=True)
    rows = records(made)
    keys = ["judge", *(["asked"] if "asked" in rows[0] else []), "set", "unit"]
    named = [keyed(rows, key) for key in keys]
    mean = estimates("value", [read_estimate(row, "value") | row for row in rows], "mean")
    rest = [keyed(rows, key) for key in ("sd", "median", "n", "unscored", "accuracy")]
    return Comparison(
        name="confidence",
        figures=["qualification_confidence"],
        note=CONFIDENCE_NOTE,
        rows=made,
        tables={"Confidence on easy and on hard pairs": [*named, mean, *rest]},
    )


def stacked(found: Sequence[SweepJob], name: str, key: str | None = None) -> list[dict[str, Any]]:
    """The rows of that table of every job; of several jobs, with what each was.

    That stands in a column ``asked``, or after the value of ``key``.
    """
    rows = []
    for job in found:
        said = [setting(job, axis).strip("'\"") for axis in axes(found)]
        own = " · ".join(said) if len(found) > 1 else ""
        for table in (job.result or {}).get("tables", ()):
            for row in table["rows"] if table["name"] == name else ():
                made = {column: row.get(column) for column in table["columns"]}
                if own and key is None:
                    made["asked"] = own
                elif own:
                    made[str(key)] = f"{made[str(key)]} ({own})"
                rows.append(made)
    return rows
