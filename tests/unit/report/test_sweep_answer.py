"""What comparisons of each kind of study open with, and which columns they have."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from judgelab.core.result import Headline
from judgelab.report.jobs import SweepJob, jobs
from judgelab.report.sweep_answer import answer, best_first, shown
from judgelab.store.run_dir import RunDir
from tests.unit.report.report_results import write_job

HEADLINES = [
    Headline("clean/human", "Agreement with people", 0.5, gain="clean/human_gain", people=True),
    Headline("clean/auc", "AUC", 0.5),
    Headline("after/loss", "Held-out loss", lower=True),
]


def finished(folder: Path, summaries: list[dict[str, Any]], **more: Any) -> list[SweepJob]:
    """Jobs of mechanisms m0, m1, ... that ended with these summaries."""
    for k, summary in enumerate(summaries):
        run = RunDir(folder / f"run{k}")
        primary = more.get("primary", next(iter(summary)))
        found = {"summary": summary, "primary": primary, "tables": []}
        found["headlines"] = [asdict(one) for one in HEADLINES]
        found |= {"title": more["titles"][k]} if "titles" in more else {}
        run.write_text("result.json", json.dumps(found))
        choices = more.get("choices", [{"mechanism": f"m{k}"}] * (k + 1))[k] | {"attack": "none"}
        write_job(folder, k, choices, status="done", run=str(run.path))
    return jobs(folder)


def flat(key: str, value: float, low: float, high: float) -> dict[str, float]:
    return {key: value, f"{key}_low": low, f"{key}_high": high}


def test_people_come_first_with_the_gain_over_length_and_no_column_is_empty(tmp_path: Path) -> None:
    summaries = [
        flat("clean/human", value, value - 0.05, value + 0.05)
        | flat("clean/human_gain", value - 0.5, value - 0.56, value - 0.44)
        | {"items": 60, "clean/auc": None}
        for value in (0.53, 0.62)
    ]
    found = best_first(finished(tmp_path, summaries, primary="clean/auc"))
    assert [one.heading for one in shown(found)] == [
        *("mechanism", "items", "clean\nhuman", "clean\nhuman gain", "unscored"),
    ]
    ((_, said),) = answer(found)
    assert said.startswith("Agreement with people: m1 is first with 0.620 [0.570, 0.670].")
    assert "Not shown to be behind: m0" in said and "m1 surely tells more than length" in said


def test_a_loss_is_the_better_the_lower(tmp_path: Path) -> None:
    losses = [flat("after/loss", value, value - 0.05, value + 0.05) for value in (3.2, 3.0, 3.04)]
    found = best_first(finished(tmp_path, losses))
    assert [job.number for job in found] == [1, 2, 0]
    ((_, said),) = answer(found)
    assert "m1 is first with 3.00" in said and "Not shown to be behind: m2 (" in said


def test_titles_of_runs_are_the_answer(tmp_path: Path) -> None:
    audits = [{"study": "audit", "verdict": word} for word in ("use", "use", "do not use")]
    titles = ["Use a.", "Use b.", "Do not use c."]
    said = answer(finished(tmp_path / "a", audits, titles=titles))
    assert said == [(f"m{k}", title) for k, title in enumerate(titles)]


def test_no_interval_and_many_runs_are_said(tmp_path: Path) -> None:
    figures = [{"clean/auc": value} for value in (0.7, 0.9)]
    ((_, said),) = answer(finished(tmp_path / "few", figures))
    assert "nothing says how sure" in said and "reach" not in said
    many = [flat("clean/auc", 0.7 + k / 100, 0.6, 0.9) for k in range(9)]
    assert (
        "The best of 9 looks better than it is" in answer(finished(tmp_path / "many", many))[0][1]
    )


def test_data_are_not_held_against_each_other(tmp_path: Path) -> None:
    """ "cnn_dailymail is first" was said of one mechanism on several data."""
    figures = [flat("clean/auc", value, value - 0.02, value + 0.02) for value in (0.6, 0.9, 0.7)]
    choices = [{"mechanism": "mi", "dataset": name} for name in "abc"]
    ((_, said),) = answer(finished(tmp_path / "one", figures, choices=choices))
    assert "most on b with 0.900" in said and "least on a" in said and "first" not in said
    choices = [{"mechanism": m, "dataset": d} for m, d in (("mi", "a"), ("mi", "b"), ("gem", "a"))]
    ((heading, said),) = answer(finished(tmp_path / "two", figures, choices=choices))
    assert heading == "On a" and "gem is first with 0.700" in said
