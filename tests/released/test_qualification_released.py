"""Study qualification on the verdicts that the authors of Auto-PRE recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra import compose, initialize_config_dir

from judgelab.dataset.auto_pre_released import AutoPreReleased
from judgelab.errors import ConfigError, DataError
from judgelab.evaluation_lm.replay import Replay
from judgelab.store.auto_pre import is_release, read_dataset
from judgelab.store.auto_pre_exams import confidence, pertinence
from judgelab.study.annotation import all_pairs, preferences_of
from judgelab.study.hearing import recall
from judgelab.study.run import execute
from tests.scripted import panel_of

CONF = Path(__file__).resolve().parents[2] / "conf"


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    found = shared_data / "auto_pre"
    if not is_release(found):
        pytest.skip("the Auto-PRE release is not here")
    return found


@pytest.fixture(scope="module")
def xsum(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = tmp_path_factory.mktemp("root")
    chosen = ["study=qualification", "dataset=auto_pre_released", "evaluation_lm=replay"]
    chosen += [f"dataset.path={folder}", "tracker=none", f"paths.root={root}"]
    chosen += ["study.bootstrap=400", "study.family=[chatgpt]"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        execute(compose("config", overrides=chosen))
    [made] = (root / "runs").iterdir()
    result: dict[str, Any] = json.loads((made / "result.json").read_text())
    assert (made / "figures" / "qualification_cost.png").is_file()
    return result | {"by_name": {table["name"]: table["rows"] for table in result["tables"]}}


def test_the_stated_recipe_on_recorded_verdicts(xsum: dict[str, Any]) -> None:
    lists = {row["pool"]: row for row in xsum["by_name"]["lists"]}
    names = "chatglm_pro, fastchat-t5-3b, gpt-3.5-turbo, gpt-4"
    assert lists["C"]["judges"] == lists["C+P+S"]["judges"] == names
    pools = {row["name"]: row for row in xsum["by_name"]["pools"]}
    assert round(pools["C+P+S"]["value"], 4) == 0.7401
    assert pools["C+P+S"]["n"] == 1793 and pools["C+P+S"]["ties"] < pools["all"]["ties"]
    assert xsum["summary"]["pool/accuracy"] == pools["C+P+S"]["value"]
    assert pools["gpt-4"]["cost"] == pytest.approx(4200 * 40 / 1000, rel=0.01)
    tests = {(row["pool"], row["against"]): row for row in xsum["by_name"]["comparisons"]}
    assert tests["C+P+S", "all"]["p"] > 0.5  # no gain over everybody
    budgets = xsum["by_name"]["budgets"]
    assert [row["cost"] for row in budgets] == sorted(row["cost"] for row in budgets)
    assert budgets[-1]["value"] == pools["C+P+S"]["value"]
    assert {row["name"] for row in xsum["by_name"]["bias"]} >= {"gpt-4", "C+P+S", "human"}


def test_what_nobody_recorded_is_said(xsum: dict[str, Any]) -> None:
    exams = {(row["exam"], row["judge"]): row for row in xsum["by_name"]["exams"]}
    assert exams["self_confidence", "gpt-4"]["passed"] == "excused"
    assert exams["self_confidence", "chatglm3-6b"]["passed"] is False
    assert 0.7 < exams["pertinence", "fastchat-t5-3b"]["p_pass"] < 1
    said = " ".join(xsum["notes"])
    assert "excused" in said and "decided by noise: fastchat-t5-3b" in said
    assert "82 released answers differ" in said


def test_gold_is_as_released_and_texts_come_where_there_are_any(folder: Path) -> None:
    for name in ("XSum", "DailyDialog"):
        panel = AutoPreReleased(str(folder), name).load()
        data = read_dataset(folder, name)
        np.testing.assert_array_equal(preferences_of(panel, all_pairs(panel)), data.truth())
        known = [text is not None for row in panel.texts for text in row]
        assert all(known) if name == "XSum" else not any(known)


def test_exam_answers_read_anew_agree_with_the_table(folder: Path) -> None:
    data = read_dataset(folder, "XSum")
    shares = {
        judge: np.nanmean(pertinence(data, judge, "ChatGLM2-6B", "gpt-3.5-turbo", 1))
        for judge in ("chatglm3-6b", "gpt-4", "chatglm_pro")
    }
    assert shares == {"chatglm3-6b": 0.705, "gpt-4": 0.955, "chatglm_pro": 0.97}
    sat = confidence(data, "chatglm3-6b")
    assert sat is not None and sat[2] == "prob, prompt2"
    assert np.nanmean(sat[0]) == pytest.approx(-0.6185, abs=1e-4)
    assert confidence(data, "gpt-4") is None


def test_a_replay_is_of_one_release_and_its_formats(folder: Path) -> None:
    lm = Replay(str(folder))
    panel = AutoPreReleased(str(folder), "DailyDialog").load(3)
    pairs = all_pairs(panel)
    graded = recall(lm, panel, pairs, "pointwise100", ["gpt-4"])
    assert graded.grades is not None and graded.grades.shape == (1, 3, 7)
    assert set(graded.exams) == {"consistency"}
    with pytest.raises(ConfigError, match="no verdicts by mechanism=tvd_mi"):
        recall(lm, panel, pairs, "tvd_mi", None)
    with pytest.raises(ConfigError, match="Did you mean 'gpt-4'"):
        recall(lm, panel, pairs, "pairwise", ["gpt4"])
    with pytest.raises(DataError, match="auto_pre_released"):
        lm.judges(panel_of([["a", "b"]]))
    with pytest.raises(DataError, match="Did you mean 'XSum'"):
        AutoPreReleased(str(folder), "Xsum").load()
    assert "Auto-PRE" in lm.identity
