"""A clone of the Auto-PRE repository gives what its parquet export gives, cell by cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra import compose, initialize_config_dir

from judgelab.core.errors import ConfigError
from judgelab.engine.run import execute
from judgelab.releases.auto_pre import (
    AutoPreRecords,
    confidence,
    list_datasets,
    pertinence,
    read_dataset,
    read_table,
    read_texts,
)
from judgelab.releases.repositories import AUTO_PRE
from tests.e2e.conftest import ROOT

CUT = 400
"""Characters of a reply that the export keeps."""


@pytest.fixture(scope="module")
def export(shared_data: Path) -> Path:
    found = shared_data / "auto_pre"
    if AUTO_PRE.layout(found) != "export":
        pytest.skip("no export of the Auto-PRE release")
    return found


@pytest.fixture(scope="module", params=["XSum", "DailyDialog"])
def both(request: pytest.FixtureRequest, clone: Path, export: Path) -> list[AutoPreRecords]:
    return [read_dataset(folder, request.param) for folder in (clone, export)]


def test_the_clone_has_the_dataset_that_the_export_lacks(clone: Path) -> None:
    assert list_datasets(clone) == ("XSum", "NF_CATS", "DailyDialog")
    data = read_dataset(clone, "NF_CATS")
    assert len(data.verdict) == 18 and np.count_nonzero(np.abs(data.truth()) == 1) == 1680
    assert np.isnan(data.grades["100-level"]["fastchat-t5-3b"]).sum() == 9


def test_labels_verdicts_and_grades_are_equal(both: list[AutoPreRecords]) -> None:
    made, known = both
    assert made.agents == known.agents and made.tasks == known.tasks
    np.testing.assert_array_equal(made.gold, known.gold)
    np.testing.assert_array_equal(made.human, known.human)
    for name in ("verdict", "unlabelled"):
        mine, theirs = getattr(made, name), getattr(known, name)
        assert set(mine) == set(theirs)
        for judge, cells in theirs.items():
            np.testing.assert_array_equal(mine[judge], cells, err_msg=f"{name} {judge}")
    for form, judges in known.grades.items():
        assert set(made.grades[form]) == set(judges)
        for judge, cells in judges.items():
            np.testing.assert_array_equal(made.grades[form][judge], cells)
            np.testing.assert_array_equal(made.graded[form][judge], known.graded[form][judge])


def test_replies_read_anew_differ_where_the_export_cut_them(both: list[AutoPreRecords]) -> None:
    """Two of 185 long replies of one judge name an answer beyond the cut; of Claude, no judge of
    the paper's, more do."""
    made, known = both
    for judge, cells in known.read.items():
        here, there = made.read[judge], cells
        changed = ~((here == there) | (np.isnan(here) & np.isnan(there)))
        assert not changed.any() or judge in ("fastchat-t5-3b", "claude")
        assert np.isnan(there[changed]).all()  # nothing was read of the part that was kept
        if judge == "fastchat-t5-3b":
            assert changed.sum() == (2 if made.name == "XSum" else 0)


def test_exams_are_equal(both: list[AutoPreRecords]) -> None:
    made, known = both
    assert len(made.pertinence) == len(known.pertinence)
    assert len(made.confidence) == len(known.confidence)
    for judge in set(map(str, known.pertinence["evaluator"])):
        exam = (judge, "ChatGLM2-6B", "gpt-3.5-turbo", 1)
        np.testing.assert_array_equal(pertinence(made, *exam), pertinence(known, *exam))
    for judge in set(map(str, known.confidence["evaluator"])):
        for way in ("prob, prompt2", "direct, null"):
            mine, theirs = confidence(made, judge, way), confidence(known, judge, way)
            assert (mine is None) == (theirs is None)
            if mine is not None and theirs is not None:
                np.testing.assert_array_equal(mine[0], theirs[0])
                np.testing.assert_array_equal(mine[1], theirs[1])


def test_texts_are_equal(clone: Path, export: Path) -> None:
    for mine, theirs, columns in zip(
        read_texts(clone, "XSum"),
        read_texts(export, "XSum"),
        (
            ["task_id", "source", "reference", "q_prime"],
            ["task_id", "model", "task_prompt", "answer", "pipeline_mismatch"],
        ),
        strict=True,
    ):
        key = [name for name in ("task_id", "model", "task_prompt") if name in columns]
        sides = [each[columns].sort_values(key).to_numpy(object) for each in (mine, theirs)]
        np.testing.assert_array_equal(*sides)
    shown = [
        table[
            (table["task_prompt"] == 1) & table["pipeline_mismatch"] & (table["dataset"] == "XSum")
        ]
        for table in (read_table(folder, "answers") for folder in (clone, export))
    ]
    assert len(shown[0]) == 82
    for column in ("answer", "answer_as_fed_by_pipeline"):
        assert [*shown[0][column]] == [*shown[1][column]]


def result(folder: Path, root: Path, *more: str) -> dict[str, Any]:
    chosen = ["study=qualification", "dataset=auto_pre_released", f"dataset.path={folder}"]
    chosen += ["evaluation_lm=replay", "tracker=none", f"paths.root={root}", "study.bootstrap=50"]
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        execute(compose("config", overrides=[*chosen, *more]))
    [made] = (root / "runs").iterdir()
    found: dict[str, Any] = json.loads((made / "result.json").read_text())
    return found | {table["name"]: table["rows"] for table in found["tables"]}


@pytest.mark.parametrize("domain", ["XSum", "DailyDialog"])
def test_the_study_gives_the_same(domain: str, clone: Path, export: Path, tmp_path: Path) -> None:
    """But for FastChat-T5's two replies, which the export cuts."""
    made, known = (
        result(folder, tmp_path / name, f"dataset.domain={domain}")
        for name, folder in (("clone", clone), ("export", export))
    )
    for name in ("lists", "pools", "comparisons", "budgets", "weightings"):
        assert made[name] == known[name], name
    for mine, theirs in zip(made["exams"], known["exams"], strict=True):
        if mine["judge"] != "fastchat-t5-3b" or domain != "XSum":
            assert mine == theirs | {"bar": mine["bar"]}
            assert mine["bar"] == pytest.approx(theirs["bar"], abs=5e-5)
    if domain == "DailyDialog":
        assert made["tables"] == known["tables"] and made["notes"] == known["notes"]


def test_the_study_of_the_third_dataset(clone: Path, tmp_path: Path) -> None:
    found = result(clone, tmp_path, "dataset.domain=NF_CATS", "study.controls=[]")
    lists = {row["pool"]: row["judges"] for row in found["lists"]}
    assert lists["C+P+S"] == "chatglm_pro, fastchat-t5-3b, gpt-4"  # the paper lists two of them
    pools = {row["name"]: row for row in found["pools"]}
    assert pools["C+P+S"]["n"] == 1680
    assert round(pools["all"]["value"], 4) == 0.7542  # as printed
    with pytest.raises(ConfigError, match="of 'llama2-70b'.* is not in this clone"):
        result(clone, tmp_path / "other", "study.recorded=[llama2-70b]")
