"""Judges by discernment: the end of a sweep, and what its figures are drawn against."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judgelab.core.lm import EvaluationLM
from judgelab.mechanism.length import Length
from judgelab.mechanism.protocol import Mechanism
from judgelab.report import console
from judgelab.report.comparison import Comparison
from judgelab.report.jobs import jobs
from judgelab.report.sweep import screen, write
from judgelab.study.discernment.compare import HEADLINES, compare
from judgelab.study.discernment.study import Discernment
from tests.drawings import draw
from tests.scripted import NOBODY, ScriptedChat
from tests.unit.report.report_results import config_of, write_job, write_run
from tests.unit.study.discernment.discernment_context import (
    RATING,
    at_random,
    counts_typos,
    lab,
    references,
)

CONFIG = config_of("discernment.Discernment")
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
    found |= {"headlines": [asdict(one) for one in HEADLINES]}
    return {**found, "notes": [], "figures": [], "tables": []}


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Three judges; the second is the best, the third is unscored."""
    folder = tmp_path / "sweeps" / "s"
    for number, (d, unseen) in enumerate(((0.7, "reordering_minor"), (2.5, ""), (None, ""))):
        run = tmp_path / "runs" / str(number)
        write_run(run, result(d, unseen), CONFIG)
        choices = {"evaluation_lm": f"judge_{number}"}
        write_job(folder, number, choices, status="done", run=str(run))
    return folder


def judges(folder: Path) -> Comparison:
    return compare(jobs(folder))[0]


def test_the_best_judge_stands_on_top_with_its_threshold(sweep: Path) -> None:
    made = judges(sweep)
    board = made.rows
    assert list(board["judge"]) == ["judge_1", "judge_0", "judge_2"]
    assert list(board["average_ew_threshold"]) == [0.81] * 3
    assert list(board["n"]) == [11] * 3 and list(board["unscored"]) == [1] * 3
    assert board["d_ew/typos_minor"].tolist()[:2] == [2.5, 0.7]
    assert math.isnan(board["average_ew"][2])
    [shown] = made.tables.values()
    by_key = {column.key: column.cells for column in shown}
    assert by_key["average_ew"] == ("2.50 [2.00, 3.00]", "0.70 [0.20, 1.20]", "–")
    assert by_key["average_ew_threshold"] == by_key["minimum_ew_threshold"] == ("0.810",) * 3
    assert by_key["not_seen"] == ("", "reordering_minor", "")
    assert "dataset" not in by_key, "there is one"
    text = console.rendered(screen(jobs(sweep), sweep), 250)
    assert "Judges by discernment" in text and "reordering_minor" in text
    said = draw("discernment_judges", {"judges": board}).caption
    assert said.endswith("n\u00a0=\u00a011 items, 1 unscored.")


def test_datasets_are_kept_apart_and_one_judge_is_no_sweep(tmp_path: Path) -> None:
    folder = tmp_path / "sweeps" / "s"
    for number, (dataset, d) in enumerate((("summeval", 1.0), ("sumpubmed", 2.0))):
        run = tmp_path / "runs" / str(number)
        write_run(run, result(d, "", dataset), CONFIG)
        write_job(folder, number, {"dataset": dataset}, status="done", run=str(run))
    made = judges(folder)
    board = made.rows
    assert [(row["judge"], row["dataset"]) for row in board.to_dict("records")] == [
        ("rating", "summeval"),
        ("rating", "sumpubmed"),
    ]
    assert [one.key for one in next(iter(made.tables.values()))][:2] == ["judge", "dataset"]
    assert len(draw("discernment_judges", {"judges": board}).figure.axes) == 2
    assert compare(jobs(folder)[:1]) == []


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three judges of one dataset as the study leaves them, with their records."""
    root = tmp_path_factory.mktemp("real")
    only = ["typos_minor", "reordering_minor"]
    study = Discernment(only=only, replicates=20, combine="printed")
    judges: list[tuple[str, Mechanism, EvaluationLM]] = [
        ("counts", RATING, ScriptedChat(counts_typos)),
        ("random", RATING, ScriptedChat(at_random)),
        ("length", Length(), NOBODY),
    ]
    for number, (name, mechanism, lm) in enumerate(judges):
        run = root / "runs" / str(number)
        panel = references().head(20)
        write_run(run, study.run(lab(run, lm, mechanism, panel=panel)).to_json(), CONFIG)
        choices = {"mechanism": name}
        write_job(root / "sweeps" / "s", number, choices, status="done", run=str(run))
    return root / "sweeps" / "s"


def test_response_styles_have_one_panel_for_each_judge(real: Path) -> None:
    page = write(real).read_text(encoding="utf-8")
    assert "Judges by discernment" in page and page.count("<svg") == 2
    assert len(pd.read_csv(real / "judges.csv")) == 3
    styles = compare(jobs(real))[1].rows
    assert len(styles) == 3 * 3 * 20 and set(styles["variant"]) >= {"original", "typos_minor"}
    figure = draw("judges_response_styles", {"response_styles": styles}).figure
    titles = [side.get_title(loc="left") or side.get_title() for side in figure.axes]
    assert [title for title in titles if title] == ["counts", "random", "length"]
    many = pd.concat([styles.assign(judge=f"judge {k}") for k in range(8)])
    assert len(draw("judges_response_styles", {"response_styles": many}).figure.axes) == 6 * 6


def test_bars_are_the_papers_four_and_say_which_weights(real: Path) -> None:
    board = judges(real).rows
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
    alike = board.assign(average=board["average_ew"], minimum=board["minimum_ew"])
    figure = draw("discernment_judges", {"judges": alike}).figure
    assert len(figure.axes[0].patches) == 2 * 3, "the same numbers are drawn once"
