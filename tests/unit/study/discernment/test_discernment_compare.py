"""Judges by discernment: the end of a sweep, and what its figures are drawn against."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judgelab.core.lm import EvaluationLM
from judgelab.mechanism.length import Length
from judgelab.mechanism.protocol import Mechanism
from judgelab.report.jobs import jobs
from judgelab.report.sweep import write
from judgelab.study.discernment.figures import compare
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


def written(root: Path, key: str, given: Mapping[str, Mapping[str, Any]]) -> Path:
    """A sweep over the values of a key, with the result of each."""
    folder = root / "sweeps" / "s"
    for number, (value, content) in enumerate(given.items()):
        run = root / "runs" / str(number)
        write_run(run, {**content}, CONFIG)
        write_job(folder, number, {key: value}, status="done", run=str(run))
    return folder


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Where three judges of one dataset left their records, and what the study says of them."""
    root = tmp_path_factory.mktemp("real")
    only = ["typos_minor", "reordering_minor"]
    study = Discernment(only=only, replicates=20, combine="printed")
    judges: dict[str, tuple[EvaluationLM, Mechanism]] = {
        "counts": (ScriptedChat(counts_typos), RATING),
        "random": (ScriptedChat(at_random), RATING),
        "length": (NOBODY, Length()),
    }
    panel = references().head(20)
    return root, {
        name: study.run(lab(root / "runs" / str(k), *judge, panel=panel)).to_json()
        for k, (name, judge) in enumerate(judges.items())
    }


@pytest.fixture(scope="module")
def real(results: tuple[Path, dict[str, Any]]) -> Path:
    return written(results[0], "mechanism", results[1])


def test_the_best_judge_stands_on_top_and_who_is_unscored_below(
    results: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    judges = {**results[1]}
    known = judges["random"]["summary"]
    unknown = {key: None for key in known if key.startswith("discernment/")}
    judges["random"] = judges["random"] | {"summary": known | unknown}
    made = compare(jobs(written(tmp_path, "mechanism", judges)))[0]
    board, best = made.rows, judges["counts"]["summary"]
    assert (board["judge"].iloc[0], board["judge"].iloc[2]) == ("counts", "random")
    assert board["average_ew"].iloc[0] == best["discernment/average_ew"] > 1
    assert board["average_ew"].isna().iloc[2]
    [shown] = made.tables.values()
    by_key = {column.key: column.cells for column in shown}
    assert by_key["average_ew"][2] == "–" and by_key["not_seen"][0] == "reordering_minor"
    assert "dataset" not in by_key, "there is one"


def test_datasets_are_kept_apart_and_one_judge_is_no_sweep(
    results: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    one = results[1]["counts"]
    other = one | {"summary": one["summary"] | {"dataset": "sumpubmed"}}
    folder = written(tmp_path, "dataset", {"summeval": one, "sumpubmed": other})
    made = compare(jobs(folder))[0]
    assert set(made.rows["judge"]) == {"rating"}
    assert list(made.rows["dataset"]) == ["summeval", "sumpubmed"]
    assert [column.key for column in next(iter(made.tables.values()))][:2] == ["judge", "dataset"]
    assert len(draw("discernment_judges", {"judges": made.rows}).figure.axes) == 2
    assert compare(jobs(folder)[:1]) == []


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
    alike = board.assign(average=board["average_ew"], minimum=board["minimum_ew"])
    figure = draw("discernment_judges", {"judges": alike}).figure
    assert len(figure.axes[0].patches) == 2 * 3, "the same numbers are drawn once"
