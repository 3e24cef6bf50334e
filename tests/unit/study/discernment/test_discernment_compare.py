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
from judgelab.report.jobs import jobs
from judgelab.report.sweep import write
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


def written(root: Path, key: str, given: dict[str, dict[str, Any]]) -> Path:
    """A sweep over the values of a key, with the result of each."""
    folder = root / "sweeps" / "s"
    for number, (value, content) in enumerate(given.items()):
        run = root / "runs" / str(number)
        write_run(run, content, CONFIG)
        write_job(folder, number, {key: value}, status="done", run=str(run))
    return folder


def test_the_best_judge_stands_on_top_with_its_threshold(tmp_path: Path) -> None:
    """The second is the best, the third is unscored."""
    ds = ((0.7, "reordering_minor"), (2.5, ""), (None, ""))
    sweep = written(
        tmp_path, "evaluation_lm", {f"judge_{k}": result(*each) for k, each in enumerate(ds)}
    )
    made = compare(jobs(sweep))[0]
    board = made.rows
    assert list(board["judge"]) == ["judge_1", "judge_0", "judge_2"]
    assert list(board["average_ew_threshold"]) == [0.81] * 3
    assert list(board["n"]) == [11] * 3 and list(board["unscored"]) == [1] * 3
    assert board["d_ew/typos_minor"].tolist()[:2] == [2.5, 0.7]
    assert math.isnan(board["average_ew"][2])
    [shown] = made.tables.values()
    by_key = {column.key: column.cells for column in shown}
    assert by_key["average_ew"] == ("2.50 [2.00, 3.00]", "0.70 [0.20, 1.20]", "–")
    assert by_key["not_seen"] == ("", "reordering_minor", "")
    assert "dataset" not in by_key, "there is one"
    said = draw("discernment_judges", {"judges": board}).caption
    assert said.endswith("n\u00a0=\u00a011 items, 1 unscored.")


def test_datasets_are_kept_apart_and_one_judge_is_no_sweep(tmp_path: Path) -> None:
    sets = {"summeval": 1.0, "sumpubmed": 2.0}
    folder = written(tmp_path, "dataset", {name: result(d, "", name) for name, d in sets.items()})
    made = compare(jobs(folder))[0]
    board = made.rows
    assert set(board["judge"]) == {"rating"} and list(board["dataset"]) == ["summeval", "sumpubmed"]
    assert [one.key for one in next(iter(made.tables.values()))][:2] == ["judge", "dataset"]
    assert len(draw("discernment_judges", {"judges": board}).figure.axes) == 2
    assert compare(jobs(folder)[:1]) == []


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three judges of one dataset as the study leaves them, with their records."""
    root = tmp_path_factory.mktemp("real")
    only = ["typos_minor", "reordering_minor"]
    study = Discernment(only=only, replicates=20, combine="printed")
    judges: dict[str, tuple[EvaluationLM, Mechanism]] = {
        "counts": (ScriptedChat(counts_typos), RATING),
        "random": (ScriptedChat(at_random), RATING),
        "length": (NOBODY, Length()),
    }
    panel = references().head(20)
    results = {
        name: study.run(lab(root / "runs" / str(k), *judge, panel=panel)).to_json()
        for k, (name, judge) in enumerate(judges.items())
    }
    return written(root, "mechanism", results)


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
    board = compare(jobs(real))[0].rows
    figure = draw("discernment_judges", {"judges": board}).figure
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    ends = ("without weights", "uniform weights")
    assert labels[:4] == [f"{kind} D, {end}" for kind in ("average", "minimum") for end in ends]
    assert len(figure.axes[0].patches) == 4 * 3
    shown = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert shown == ["counts", "random", "length"], "in the order of the sweep"
    alike = board.assign(average=board["average_ew"], minimum=board["minimum_ew"])
    figure = draw("discernment_judges", {"judges": alike}).figure
    assert len(figure.axes[0].patches) == 2 * 3, "the same numbers are drawn once"
