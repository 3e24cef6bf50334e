"""Recorded verdicts and exams: what is chosen, refused, and said to be missing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf, open_dict

from judgelab.config import build
from judgelab.core.errors import ConfigError, DataError
from judgelab.dataset.auto_pre_released import AutoPreReleased
from judgelab.engine.run import execute
from judgelab.evaluation_lm.replay import Replay
from judgelab.exam.protocol import Exam
from judgelab.releases.auto_pre import NEEDED, list_datasets, read_dataset
from judgelab.stats.qualification.exams import ConfidenceAnswers, Shares
from judgelab.study.qualification.case import all_pairs
from judgelab.study.qualification.judge_responses import JudgeResponses
from judgelab.study.qualification.released_responses import recall
from judgelab.study.qualification.study import EXAMS
from tests.tiny_release import write_release

CONF = Path(__file__).resolve().parents[4] / "conf"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_release(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module")
def exams() -> dict[str, Any]:
    """As the config has them, unchanged."""
    nodes = [f"+exam@{name}={name}" for name in EXAMS]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = OmegaConf.to_container(compose("config", overrides=nodes), resolve=True)
    assert isinstance(config, dict)
    return {name: build(config[name], name) for name in EXAMS}


def heard(
    folder: Path,
    exams: dict[str, Exam],
    form: str = "pairwise",
    named: Sequence[str] | None = None,
    **chosen: Any,
) -> JudgeResponses:
    exam = {"relevant": "weak", "irrelevant": "strong"} | chosen
    panel = AutoPreReleased(str(folder), "Stories", **exam).load()
    return recall(Replay(str(folder)), panel, all_pairs(panel), form, named, exams)


def test_exams_are_those_that_are_wanted(folder: Path, exams: dict[str, Any]) -> None:
    every = heard(folder, exams)
    assert every.judges == ("first", "second") and set(every.exams) == set(EXAMS)
    assert set(heard(folder, {}).exams) == set()
    some = heard(folder, {name: exams[name] for name in ("consistency", "self_confidence")})
    assert set(some.exams) == {"consistency", "self_confidence"} and not some.missing


def test_a_judge_without_verdicts_leaves_the_others_their_exam(
    folder: Path, exams: dict[str, Any]
) -> None:
    found = heard(folder, exams, "pointwise5")
    assert found.judges == ("first", "second", "third")
    consistency = found.exams["consistency"]
    assert isinstance(consistency, Shares)
    assert consistency.n.tolist() == [24, 24, 0]
    np.testing.assert_allclose(consistency.values(np.ones((1, 8)))[0, :2], [1.0, 21 / 24])
    assert found.taken["consistency"].tolist() == [True, True, False]
    assert found.taken["pertinence"].all() and found.tied[0] == 0 and np.isnan(found.tied[2])


def test_the_dataset_says_which_recorded_confidence_is_meant(
    folder: Path, exams: dict[str, Any]
) -> None:
    usual = heard(folder, exams)
    assert usual.facts["self_confidence"] == {"first": "prob, prompt1", "second": "direct, null"}
    other = heard(folder, exams, confidence="prob, prompt2").exams["self_confidence"]
    assert isinstance(other, ConfidenceAnswers)
    gaps = other.gaps(np.ones((1, 8)))[0]
    assert gaps[0] < 0 and np.isnan(gaps[1])


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"relevant": "wake"}, r"dataset.relevant=wake: .* Did you mean 'weak'"),
        ({"irrelevant": "nobody"}, r"dataset.irrelevant=nobody: .* Known are: strong"),
        ({"prompt": 2}, r"dataset.prompt=2: .* Known are: 1"),
        ({"confidence": "prob, prompt3"}, r"dataset.confidence='prob, prompt3': .* Did you mean"),
    ],
)
def test_a_mistyped_exam_is_refused(
    folder: Path, exams: dict[str, Any], chosen: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        heard(folder, exams, **chosen)


@pytest.mark.parametrize(
    ("exam", "change", "setting"),
    [
        ("consistency", {"pairs": 2}, "pairs"),
        ("consistency", {"change": "other"}, "change"),
        ("pertinence", {"question": "lm", "answer": "self"}, "question"),
        ("pertinence", {"relevant": "weak"}, "relevant"),
        ("self_confidence", {"by": "words"}, "by"),
        ("self_confidence", {"levels": ("low", "high")}, "levels"),
        ("self_confidence", {"judge": {"which": "last"}}, "judge.which"),
    ],
)
def test_settings_that_recorded_answers_cannot_follow_are_refused(
    folder: Path, exams: dict[str, Any], exam: str, change: dict[str, Any], setting: str
) -> None:
    if "judge" in change:
        change = {"judge": replace(exams[exam].judge, **change["judge"])}
    with pytest.raises(ConfigError, match=rf"study\.{exam}\.{setting} does nothing"):
        heard(folder, exams | {exam: replace(exams[exam], **change)})


@pytest.mark.parametrize("named", [[], ["first", "first"]])
def test_recorded_judges_are_named_once(folder: Path, named: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"study\.recorded=.* each judge once"):
        heard(folder, {}, named=named)


def test_unreadable_replies_were_paid_too(tmp_path: Path) -> None:
    """Of 48 verdicts one is no answer; of 24 grades one is marked as none."""
    write_release(tmp_path)
    for key, column, value in (
        ("verdict_pairwise", "verdict", 0),
        ("score_pointwise", "score", -1),
    ):
        rows = pd.read_parquet(tmp_path / f"{key}.parquet")
        rows.loc[0, column] = value
        rows.to_parquet(tmp_path / f"{key}.parquet")
    pairwise = heard(tmp_path, {})
    assert pairwise.verdicts is not None and np.isnan(pairwise.verdicts[0]).sum() == 1
    assert pairwise.calls.tolist() == [48, 48] and not pairwise.missing
    graded = heard(tmp_path, {}, "pointwise5")
    assert graded.grades is not None and np.isnan(graded.grades[0]).sum() == 1
    assert graded.calls.tolist() == [24, 24, 24]


def test_verdicts_without_labels_and_debates_are_said(tmp_path: Path) -> None:
    file = write_release(tmp_path) / "verdict_pairwise.parquet"
    rows = pd.read_parquet(file).replace({"evaluator": {"second": "chatEval"}})
    rows.loc[:2, "verdict"] = 0
    rows.assign(label="").to_parquet(file)
    unlabelled, debate = heard(tmp_path, {}, named=["first", "chatEval"]).missing
    assert "could not be read (how many): first (3)." in unlabelled
    assert "chatEval" in debate and "study.recorded" in debate
    assert heard(tmp_path, {}, named=["first"]).missing == (unlabelled,)


def test_exams_that_nobody_sat_are_named(tmp_path: Path, exams: dict[str, Any]) -> None:
    bare = write_release(tmp_path, exams=False)
    found = heard(bare, exams, relevant="whoever")
    assert set(found.exams) == {"consistency"} and found.judges == ("first", "second")
    assert [said.split(":")[0] for said in found.missing] == [
        "Exam pertinence",
        "Exam self_confidence",
    ]
    graded = heard(bare, exams, "pointwise5", ["third"])
    assert not graded.exams and len(graded.missing) == 3


@pytest.mark.parametrize("key", sorted(NEEDED))
def test_a_table_without_a_column_is_named(tmp_path: Path, key: str) -> None:
    file = write_release(tmp_path) / f"{key}.parquet"
    whole = pd.read_parquet(file)
    for column in NEEDED[key]:
        whole.drop(columns=column).to_parquet(file)
        with pytest.raises(DataError, match=f"{key}.parquet' has no column '{column}'"):
            list_datasets(tmp_path)
            read_dataset(tmp_path, "Stories")
            AutoPreReleased(str(tmp_path), "Stories").load()


def test_columns_that_are_not_asked_for_may_be_missing(
    tmp_path: Path, exams: dict[str, Any]
) -> None:
    write_release(tmp_path)
    for key, columns in NEEDED.items():
        file = tmp_path / f"{key}.parquet"
        pd.read_parquet(file)[list(columns)].to_parquet(file)
    assert set(heard(tmp_path, exams).exams) == set(EXAMS)


def test_the_study_says_what_is_missing(tmp_path: Path) -> None:
    bare = write_release(tmp_path / "data", exams=False)
    chosen = ["study=qualification", "dataset=auto_pre_released", "evaluation_lm=replay"]
    chosen += [f"dataset.path={bare}", "dataset.domain=Stories", "tracker=none"]
    chosen += [f"paths.root={tmp_path}", "study.bootstrap=50", "study.folds=9"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", overrides=chosen)
    execute(config)
    [made] = (tmp_path / "runs").iterdir()
    with open_dict(config):
        config.study.judges = {"x": config.evaluation_lm}
    with pytest.raises(ConfigError, match="asks no judge"):
        execute(config)
    found = json.loads((made / "result.json").read_text())
    said = " ".join(found["notes"])
    assert "Exam pertinence: no answers" in said and "Exam self_confidence: no answers" in said
    assert "There is no human filter: 8 items do not make 9 folds" in said
    assert "had no effect" in said and "No price is known of first, second" in said
    tables = {table["name"]: table["rows"] for table in found["tables"]}
    assert [row["pool"] for row in tables["lists"]] == ["all", "C", "PRE"]
