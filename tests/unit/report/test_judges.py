"""Judges by discernment: the end of a sweep, and what its figures are drawn against."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgelab.core.panel import Item, Panel
from judgelab.report import console
from judgelab.report.figures import draw
from judgelab.report.jobs import jobs
from judgelab.report.sweep import screen, write
from judgelab.report.sweep_tables import StudyTable, judge_table, table
from judgelab.study.discernment.study import Discernment
from tests.scripted import ScriptedChat
from tests.unit.report.report_results import write_job, write_run
from tests.unit.study.discernment.discernment_context import counts_typos, lab

PERTURBATIONS = ("typos_minor", "reordering_minor")


def result(d: float | None, not_seen: str, dataset: str = "summeval") -> dict[str, Any]:
    """What study=discernment leaves of a judge."""
    summary: dict[str, Any] = {"study": "discernment", "mechanism": "rating", "dataset": dataset}
    summary |= {"attack": "none", "items": 12, "not_seen": not_seen, "not_seen_count": 1}
    for name in ("average_ew", "minimum_ew", "average", "minimum"):
        key = f"discernment/{name}"
        around = {"": 0.0, "_low": -0.5, "_high": 0.5}
        summary |= {f"{key}{p}": None if d is None else d + by for p, by in around.items()}
        summary |= {f"{key}_threshold": 0.81, f"{key}_n": 11, f"{key}_unscored": 1}
    summary |= {f"d_ew/{name}": d for name in PERTURBATIONS}
    found = {"primary": "discernment/average_ew", "summary": summary}
    return {**found, "notes": [], "figures": [], "tables": []}


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Three judges; the second is the best, the third is unscored."""
    folder = tmp_path / "sweeps" / "s"
    for number, (d, unseen) in enumerate(((0.7, "reordering_minor"), (2.5, ""), (None, ""))):
        run = tmp_path / "runs" / str(number)
        write_run(run, result(d, unseen))
        choices = {"evaluation_lm": f"judge_{number}"}
        write_job(folder, number, choices, status="done", run=str(run))
    return folder


def judges(folder: Path) -> StudyTable:
    found = judge_table(jobs(folder))
    assert found is not None
    return found


def test_the_best_judge_stands_on_top_with_its_threshold(sweep: Path) -> None:
    made = judges(sweep)
    board = made.rows
    assert list(board["judge"]) == ["judge_1", "judge_0", "judge_2"]
    assert list(board["average_ew_threshold"]) == [0.81] * 3
    assert list(board["n"]) == [11] * 3 and list(board["unscored"]) == [1] * 3
    assert board["d_ew/typos_minor"].tolist()[:2] == [2.5, 0.7]
    assert math.isnan(board["average_ew"][2])
    shown, cells = made.tables.values()
    by_key = {column.key: column.cells for column in shown}
    assert by_key["average_ew"] == ("2.50 [2.00, 3.00]", "0.70 [0.20, 1.20]", "–")
    assert by_key["average"][0] == "2.50 [2.00, 3.00]"
    assert by_key["average_threshold"] == by_key["minimum_ew_threshold"] == ("0.810",) * 3
    assert by_key["not_seen"] == ("", "reordering_minor", "")
    assert "dataset" not in by_key, "there is one"
    each = {column.key: column.cells for column in cells}
    assert each["d_ew/reordering_minor"] == ("2.50", "0.700\nnot seen", "–")
    assert len(made.narrow[0].cells) == 3


def test_datasets_are_kept_apart_and_one_judge_is_no_sweep(tmp_path: Path) -> None:
    folder = tmp_path / "sweeps" / "s"
    for number, (dataset, d) in enumerate((("summeval", 1.0), ("sumpubmed", 2.0))):
        run = tmp_path / "runs" / str(number)
        write_run(run, result(d, "", dataset))
        write_job(folder, number, {"dataset": dataset}, status="done", run=str(run))
    made = judges(folder)
    board = made.rows
    assert [(row["judge"], row["dataset"]) for row in board.to_dict("records")] == [
        ("rating", "summeval"),
        ("rating", "sumpubmed"),
    ]
    assert [column.key for column in made.narrow][:2] == ["judge", "dataset"]
    assert len(draw("discernment_judges", {"judges": board}).figure.axes) == 2
    assert judge_table(jobs(folder)[:1]) is None


def test_a_judge_of_whom_nothing_is_known_stands_last(tmp_path: Path) -> None:
    """No text was changed for it: what the study leaves of it is unscored, and named."""
    folder = tmp_path / "sweeps" / "s"
    items = tuple(Item(f"i{k}", "source", f"Only sentence {k}.") for k in range(4))
    panel = Panel(items, provenance={"dataset": "summeval"})
    for number, only in enumerate((["reordering_major"], ["typos_major"])):
        study = Discernment(only=only, replicates=20, bootstrap=10)
        found = study.run(lab(tmp_path / "lab", ScriptedChat(counts_typos), panel=panel))
        run = tmp_path / "runs" / str(number)
        write_run(run, found.to_json())
        write_job(folder, number, {"seed": str(number)}, status="done", run=str(run))
    board = judges(folder).rows
    assert list(board["judge"]) == ["1", "0"]
    assert math.isnan(board["average_ew"][1])
    assert len(draw("discernment_judges", {"judges": board}).figure.axes) == 1


def test_the_sweep_ends_in_it_on_every_surface(sweep: Path) -> None:
    text = console.rendered(screen(jobs(sweep), sweep), 250)
    assert "Judges by discernment" in text and "reordering_minor" in text
    narrow = console.rendered(screen(jobs(sweep), sweep), 80)
    assert "Judges by discernment" in narrow
    page = write(sweep).read_text(encoding="utf-8")
    assert "Judges by discernment" in page and page.count("<svg") == 1
    assert pd.read_csv(sweep / "judges.csv")["judge"].tolist()[0] == "judge_1"
    assert (sweep / "figures" / "discernment_judges.png").is_file()
    said = draw("discernment_judges", {"judges": judges(sweep).rows}).caption
    assert said.endswith("n\u00a0=\u00a011 items, 1 unscored.")


def test_thresholds_are_in_the_table_of_the_sweep(sweep: Path) -> None:
    made = table(jobs(sweep))
    assert made["discernment/average_ew_threshold"].tolist() == [0.81] * 3
    assert made["discernment/minimum_threshold"].tolist() == [0.81] * 3


def curves(value: float, d: float) -> pd.DataFrame:
    rows = [
        {"perturbation": name, "level": "word", "value": value, "low": value, "high": value}
        | {"n": 12, "unscored": 0, "d": d, "threshold": 0.8, "d_threshold": 1.3, "seen": "yes"}
        for name in ("a", "b", "c")
    ]
    return pd.DataFrame(rows)


def test_each_curve_of_the_radar_has_thresholds_of_its_own() -> None:
    drawn = draw("discernment_radar", {"discernment": curves(2.0, 3.0)})
    figure = drawn.figure
    crosses = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
    found = {(np.ravel(line.get_ydata()).tolist()[0], line.get_color()) for line in crosses}
    assert {bar for bar, _ in found} == {0.8, 1.3} and len(found) == 2, "in two colours"
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "what chance reaches in 5 %, expert weights" in labels
    assert "what chance reaches in 5 %, without weights" in labels
    assert "of the curve of their colour" in drawn.caption


def test_where_all_metrics_weigh_alike_there_is_one_curve() -> None:
    figure = draw("discernment_radar", {"discernment": curves(2.0, 2.0)}).figure
    crosses = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
    assert {np.ravel(line.get_ydata()).tolist()[0] for line in crosses} == {0.8}
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["D", "what chance reaches in 5 %", "not seen"]
