"""The end of a sweep of study=qualification."""

from __future__ import annotations

from judgelab.report.jobs import SweepJob
from judgelab.study.qualification.compare import methods_table


def test_a_judge_without_accuracy_stands_last() -> None:
    parts = ("called", "value", "low", "high", "n", "unscored", "gain", "exam_cost", "p")
    rows = [
        dict.fromkeys(parts) | {"name": name, "kind": "judge", "cost": 1.0, "value": value}
        for name, value in (("unread", None), ("fair", 0.6), ("good", 0.8))
    ]
    table = {"name": "pools", "columns": list(rows[0]), "rows": rows}
    found = methods_table([SweepJob(0, (), {}, None, {"tables": [table]}, None)])
    assert found is not None
    assert list(found.rows["name"]) == ["good", "fair", "unread"]
