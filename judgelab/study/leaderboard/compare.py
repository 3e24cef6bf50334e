"""Several leaderboards: who leads how many, and scores by each metric beside models' sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from judgelab.core.result import read_estimate
from judgelab.report.comparison import Comparison, keyed
from judgelab.report.jobs import SweepJob, axes, marked, scorer, setting
from judgelab.report.tables import estimates, frame

SIZE = "parameters"
PARTS = ("candidate", "kind", SIZE, "value", "low", "high", "n", "unscored", "rank")
NOTE = (
    "Mean score of each candidate by each metric, 90 % interval over items; parameters in "
    "billions. Metrics have units of their own: compare within one. All parts: boards.csv."
)


def compare(found: Sequence[SweepJob]) -> list[Comparison]:
    """Every candidate by every metric, drawn where sizes are known (GEM paper, Figures 4 and 5)."""
    keys = [key for key in axes(found) if key not in ("study", "dataset", "attack")]
    if len({setting(job, "dataset") for job in found}) > 1:
        keys = list(dict.fromkeys(["mechanism", "dataset", *keys]))
    rows: list[dict[str, Any]] = [
        {"metric": scorer(job, keys, own), **{part: row.get(part) for part in PARTS}}
        for job, own in zip(found, marked(found), strict=True)
        for row in _board(job)
    ]
    if not rows:
        return []
    sized = any(row[SIZE] is not None for row in rows)
    score = estimates("value", [read_estimate(row, "value") | row for row in rows], "score")
    named = [keyed(rows, key) for key in ("metric", "candidate")]
    rest = [keyed(rows, key) for key in ("kind", SIZE, "n", "unscored")]
    made = Comparison(
        name="boards",
        rows=frame({"rows": rows, "columns": list(rows[0])}),
        note=NOTE,
        tables={"Scores beside sizes": [*named, score, *rest]} if sized else {},
        figures=["boards_by_size"] if sized else [],
        answer=_leaders(found),
    )
    return [made]


def _leaders(found: Sequence[SweepJob]) -> list[tuple[str, str]]:
    """Who leads how many of them; their scores have units of their own."""
    first = [rows[0]["candidate"] for job in found if (rows := _board(job))]
    if len(first) < 2:
        return []
    said = (f"{name} leads {n} of {len(first)}" for name, n in Counter(first).most_common())
    words = f"{', '.join(said)} leaderboards. Whether a lead is sure, each says itself."
    return [("Leaders", words)]


def _board(job: SweepJob) -> Sequence[dict[str, Any]]:
    tables = (job.result or {}).get("tables", ())
    return next((one["rows"] for one in tables if one["name"] == "leaderboard"), ())
