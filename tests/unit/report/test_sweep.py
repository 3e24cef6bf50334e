"""The comparison at the end of a sweep."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from judgelab.core.result import Headline
from judgelab.report import console
from judgelab.report.jobs import SweepJob, jobs
from judgelab.report.sweep import answer, best_first, conclude, job_columns, screen, table
from judgelab.store.run_dir import RunDir
from tests.unit.report.report_results import HOSTILE, result, write_job, write_run

CLEAN = ("clean",)
BOTH = ("clean", "attacked")


def done(root: Path, number: int, choices: dict[str, str], found: dict[str, Any]) -> None:
    run = root / "runs" / "-".join([*choices.values(), str(number)])
    write_run(run, found)
    write_job(root / "sweeps" / "s", number, choices, status="done", run=str(run))


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Two mechanisms by two attacks; the last job failed."""
    folder = tmp_path / "sweeps" / "s"
    done(tmp_path, 0, {"mechanism": "mi", "attack": "none"}, result(3, CLEAN, auc=0.6))
    done(tmp_path, 1, {"mechanism": "mi", "attack": "padding"}, result(3, BOTH, auc=0.6))
    done(tmp_path, 2, {"mechanism": "rouge", "attack": "none"}, result(3, CLEAN, auc=0.7))
    word = {"status": "failed", "error": f"It broke: {HOSTILE}."}
    write_job(folder, 10, {"mechanism": "rouge", "attack": "padding"}, **word)
    return folder


def test_the_table_has_one_row_a_job_and_every_part_of_every_number(sweep: Path) -> None:
    rows = table(jobs(sweep)).to_dict("records")
    assert [row["status"] for row in rows][:3] == ["done"] * 3
    assert rows[3]["status"].startswith("failed: It broke")
    assert rows[1]["attacked/auc"] == 0.6
    assert math.isnan(rows[0]["attacked/auc"])
    assert math.isnan(rows[3]["clean/auc"])
    assert rows[2]["clean/auc_low"] == pytest.approx(0.65)
    assert [row["unscored_texts"] for row in rows][:3] == [7, 14, 7]


def test_the_best_is_first_and_no_louder_than_its_interval(sweep: Path, tmp_path: Path) -> None:
    found = best_first(jobs(sweep))
    assert [job.number for job in found] == [2, 0, 1, 10]
    ((heading, said),) = answer(found)[:1]
    assert heading == "Compared"
    assert "rouge is first with 0.700 [0.650, 0.750]." in said
    assert "Not shown to be behind: mi" in said  # .55 to .65 reaches .65
    done(tmp_path, 3, {"mechanism": "gppm", "attack": "none"}, result(3, CLEAN, auc=0.9))
    assert "All others are behind" in answer(jobs(sweep))[0][1]
    text = console.rendered(screen(best_first(jobs(sweep)), sweep), 100)
    assert text.index("Compared") < text.index("Comparison of") < text.index("Data: a sample")
    assert answer(jobs(sweep)[:1]) == []


def test_a_job_that_left_no_word_has_failed(sweep: Path) -> None:
    (sweep / "3").mkdir()
    found = {job.number: job for job in jobs(sweep)}
    assert "ended before" in str(found[3].error)
    assert conclude(sweep) == 1


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
    assert [one.heading for one in job_columns(found)] == [
        *("mechanism", "items", "clean\nhuman", "clean\nhuman gain", "unscored")
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


def test_no_interval_and_many_runs_are_said(tmp_path: Path) -> None:
    figures = [{"clean/auc": value} for value in (0.7, 0.9)]
    ((_, said),) = answer(finished(tmp_path / "few", figures))
    assert "nobody can say how sure" in said and "reach" not in said
    many = [flat("clean/auc", 0.7 + k / 100, 0.6, 0.9) for k in range(9)]
    assert "The best of 9 looks better than it is" in answer(finished(tmp_path / "9", many))[0][1]


def test_data_are_not_held_against_each_other(tmp_path: Path) -> None:
    """ "cnn_dailymail is first" was said of one mechanism on several data."""
    figures = [flat("clean/auc", value, value - 0.02, value + 0.02) for value in (0.6, 0.9, 0.7)]
    choices = [{"mechanism": "mi", "dataset": name} for name in "abc"]
    ((_, said),) = answer(finished(tmp_path / "one", figures, choices=choices))
    assert "most on b with 0.900" in said and "least on a" in said and "first" not in said
    choices = [{"mechanism": m, "dataset": d} for m, d in (("mi", "a"), ("mi", "b"), ("gem", "a"))]
    ((heading, said),) = answer(finished(tmp_path / "two", figures, choices=choices))
    assert heading == "On a" and "gem is first with 0.700" in said
