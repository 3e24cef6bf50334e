"""The table of a sweep of study=leaderboard: scores by each metric beside models' sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judgelab.core.result import read_estimate
from judgelab.report.jobs import SweepJob, axes, marked, scorer, setting
from judgelab.report.study_table import StudyTable, keyed
from judgelab.report.tables import estimates, frame

SIZE = "parameters"
PARTS = ("candidate", "kind", SIZE, "value", "low", "high", "n", "unscored", "rank")
NOTE = (
    "Mean score of each candidate by each metric, 90 % interval over items; parameters in "
    "billions. Metrics have units of their own: compare within one. All parts: boards.csv."
)


def board_table(found: Sequence[SweepJob]) -> StudyTable | None:
    """Every candidate by every metric (GEM paper, Figures 4 and 5); None without known sizes."""
    keys = [key for key in axes(found) if key not in ("study", "dataset", "attack")]
    if len({setting(job, "dataset") for job in found}) > 1:
        keys = list(dict.fromkeys(["mechanism", "dataset", *keys]))
    rows: list[dict[str, Any]] = [
        {"metric": scorer(job, keys, own), **{part: row.get(part) for part in PARTS}}
        for job, own in zip(found, marked(found), strict=True)
        for table in (job.result or {}).get("tables", ())
        if table["name"] == "leaderboard"
        for row in table["rows"]
    ]
    if not any(row[SIZE] is not None for row in rows):
        return None
    score = estimates("value", [read_estimate(row, "value") | row for row in rows], "score")
    named = [keyed(rows, key) for key in ("metric", "candidate")]
    rest = [keyed(rows, key) for key in ("kind", SIZE, "n", "unscored")]
    return StudyTable(
        name="boards",
        figure="boards_by_size",
        note=NOTE,
        rows=frame({"rows": rows, "columns": list(rows[0])}),
        tables={"Scores beside sizes": [*named, score, *rest]},
        narrow=[*named, score],
    )
