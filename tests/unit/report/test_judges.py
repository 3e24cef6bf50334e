"""Judges by discernment: the end of a sweep, and what its figures are drawn against."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Item, Panel
from judgelab.mechanism.length import Length
from judgelab.mechanism.protocol import Mechanism
from judgelab.report import console
from judgelab.report.figures import draw
from judgelab.report.jobs import jobs
from judgelab.report.judge_tables import judge_table, judge_tables
from judgelab.report.study_table import StudyTable
from judgelab.report.sweep import screen, write
from judgelab.report.sweep_tables import table
from judgelab.study.discernment.study import Discernment
from tests.scripted import NOBODY, ScriptedChat
from tests.unit.report.report_results import write_job, write_run
from tests.unit.study.discernment.discernment_context import (
    RATING,
    at_random,
    counts_typos,
    lab,
    references,
)

PERTURBATIONS = ("typos_minor", "reordering_minor")


def result(d: float | None, not_seen: str, dataset: str = "summeval") -> dict[str, Any]:
    """What study=discernment leaves of a judge."""
    summary: dict[str, Any] = {"study": "discernment", "mechanism": "rating", "dataset": dataset}
    summary |= {"attack": "none", "items": 12, "not_seen": not_seen, "not_seen_count": 1}
    summary |= {"weights": "uniform", "weighting": "uniform weights"}
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
    assert "average" not in by_key, "with uniform weights it is the same number"
    assert by_key["average_ew_threshold"] == by_key["minimum_ew_threshold"] == ("0.810",) * 3
    assert [c.heading for c in shown if c.key == "average_ew"] == ["D average\nuniform weights"]
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
    text = ", ".join(
        ["this is the only sentence there is and it has letters enough for errors"] * 4
    )
    items = tuple(Item(f"i{k}", "source", f"{text}, number {k}.") for k in range(4))
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


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three judges of one dataset as the study leaves them, with their records."""
    root = tmp_path_factory.mktemp("real")
    only = ["typos_minor", "reordering_minor"]
    study = Discernment(only=only, replicates=20, bootstrap=10, combine="printed")
    judges: list[tuple[str, Mechanism, EvaluationLM]] = [
        ("counts", RATING, ScriptedChat(counts_typos)),
        ("random", RATING, ScriptedChat(at_random)),
        ("length", Length("words"), NOBODY),
    ]
    for number, (name, mechanism, lm) in enumerate(judges):
        run = root / "runs" / str(number)
        panel = references().head(20)
        write_run(run, study.run(lab(run, lm, mechanism, panel=panel)).to_json())
        choices = {"mechanism": name}
        write_job(root / "sweeps" / "s", number, choices, status="done", run=str(run))
    return root / "sweeps" / "s"


def test_judges_are_compared_in_pairs_on_the_same_texts(real: Path) -> None:
    board, pairs, _ = judge_tables(jobs(real))
    d = board.rows.set_index("judge")["average_ew"]
    rows = {(row["first"], row["second"]): row for row in pairs.rows.to_dict("records")}
    assert len(rows) == 3
    for (first, second), row in rows.items():
        assert row["d_first"] == pytest.approx(d[first])
        assert row["value"] == pytest.approx(d[first] - d[second])
        assert (row["n"], row["unscored"]) == (20, 0)
        assert row["p"] <= row["p_holm"] <= 1
    sharp = rows["counts", "random"]
    assert sharp["low"] > 0 and sharp["p"] < 0.05
    assert "uniform weights" in pairs.note
    texts = real.parents[1] / "runs" / "1" / "records" / "clean_texts.parquet"
    kept = texts.read_bytes()
    other = pd.read_parquet(texts)
    other.loc[other["item"] == other["item"][0], "text"] += " Otherwise."
    other.to_parquet(texts)
    again = judge_tables(jobs(real))[1].rows
    texts.write_bytes(kept)
    assert sorted(again["n"]) == [19, 19, 20], "an item with other texts is not shared"


def test_response_styles_have_one_panel_for_each_judge(real: Path) -> None:
    page = write(real).read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    styles = pd.read_csv(real / "response_styles.csv")
    assert len(styles) == 3 * 3 * 20 and set(styles["variant"]) >= {"original", "typos_minor"}
    figure = draw("judges_response_styles", {"response_styles": styles}).figure
    titles = [side.get_title(loc="left") or side.get_title() for side in figure.axes]
    assert [title for title in titles if title] == ["counts", "random", "length"]
    many = pd.concat([styles.assign(judge=f"judge {k}") for k in range(8)])
    held = draw("judges_response_styles", {"response_styles": many})
    assert len(held.figure.axes) == 9 and "diagonal" not in held.caption


def test_bars_are_the_papers_four_and_say_which_weights(real: Path) -> None:
    board = judge_tables(jobs(real))[0].rows
    figure = draw("discernment_judges", {"judges": board}).figure
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[:4] == [
        "average D, without weights",
        "average D, uniform weights",
        "minimum D, without weights",
        "minimum D, uniform weights",
    ]
    assert len(figure.axes[0].patches) == 4 * 3
    shown = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert shown == ["counts", "random", "length"], "in the order of the sweep"
    given = board.assign(weights="expert weights (survey.csv)")
    alike = given.assign(average=given["average_ew"], minimum=given["minimum_ew"])
    figure = draw("discernment_judges", {"judges": alike}).figure
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert [label for label in labels if "weights" in label] == [
        "average D, expert weights (survey.csv)",
        "minimum D, expert weights (survey.csv)",
    ]


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


AVERAGES = pd.DataFrame([{"weights": "expert weights (x.csv)"}])


def curves(value: float, d: float) -> pd.DataFrame:
    rows = [
        {"perturbation": name, "level": "word", "value": value, "low": value, "high": value}
        | {"n": 12, "unscored": 0, "d": d, "threshold": 0.8, "d_threshold": 1.3, "seen": "yes"}
        for name in ("a", "b", "c")
    ]
    return pd.DataFrame(rows)


def test_each_curve_of_the_radar_has_thresholds_of_its_own() -> None:
    drawn = draw("discernment_radar", {"discernment": curves(2.0, 3.0), "averages": AVERAGES})
    figure = drawn.figure
    crosses = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
    found = {(np.ravel(line.get_ydata()).tolist()[0], line.get_color()) for line in crosses}
    assert {bar for bar, _ in found} == {0.8, 1.3} and len(found) == 2, "in two colours"
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "what chance reaches in 5 %, expert weights (x.csv)" in labels
    assert "what chance reaches in 5 %, without weights" in labels
    assert "of the curve of their colour" in drawn.caption


def test_where_all_metrics_weigh_alike_there_is_one_curve() -> None:
    figure = draw(
        "discernment_radar", {"discernment": curves(2.0, 2.0), "averages": AVERAGES}
    ).figure
    crosses = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
    assert {np.ravel(line.get_ydata()).tolist()[0] for line in crosses} == {0.8}
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["D, expert weights (x.csv)", "what chance reaches in 5 %", "not seen"]
