"""Study qualification on the verdicts that the authors of Auto-PRE recorded."""

from __future__ import annotations

import json
import re
import resource
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.prompt import Prompt
from judgelab.dataset.auto_pre_released import AutoPreReleased
from judgelab.engine.run import execute
from judgelab.evaluation_lm.replay import Replay
from judgelab.exam.consistency import Consistency, Position
from judgelab.exam.pertinence import Pertinence
from judgelab.exam.protocol import Exam
from judgelab.exam.self_confidence import SelfConfidence
from judgelab.mechanism.pairwise import Pairwise
from judgelab.releases.auto_pre import confidence, is_release, pertinence, read_dataset
from judgelab.stats.intervals.bootstrap import item_weights
from judgelab.stats.qualification.decisions import accuracy, accuracy_samples, correct
from judgelab.stats.qualification.exams import Threshold, mark
from judgelab.study.qualification.case import all_pairs, preferences_of
from judgelab.study.qualification.pools import PoolingRules, examined, filtered_by_people
from judgelab.study.qualification.released_responses import recall
from tests.e2e.conftest import ROOT, environment
from tests.scripted import panel_of

README = (ROOT / "experiments" / "auto_pre" / "README.md").read_text(encoding="utf-8")
PAIRWISE = Pairwise(Prompt("pairwise.txt"))
WANTED: dict[str, Exam] = {
    "consistency": Consistency(PAIRWISE, Position()),
    "pertinence": Pertinence(PAIRWISE, Prompt("similar_question.txt"), Prompt("respond.txt")),
    "self_confidence": SelfConfidence(PAIRWISE, Prompt("self_confidence.txt")),
}
COMMANDS = re.findall(r"^python run\.py .*$", README, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    found = shared_data / "auto_pre"
    if not is_release(found):
        pytest.skip("the Auto-PRE release is not here")
    return found


@pytest.fixture(scope="module")
def xsum(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The README's first command, in a process of its own, with nothing cached."""
    root = tmp_path_factory.mktemp("root")
    command = [sys.executable, *options_of(COMMANDS[0], folder, "tracker=none")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, cwd=ROOT, env=environment(root), capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr[-2000:]
    found = read(root)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return found | {"seconds": spent}


def options_of(command: str, folder: Path, *more: str) -> list[str]:
    """The script of a README command and its arguments, on this folder."""
    words = shlex.split(command.replace("path/to/release", str(folder)))
    assert words[:2] == ["python", "run.py"]
    return [*words[1:], *more]


def read(root: Path) -> dict[str, Any]:
    [made] = (root / "runs").iterdir()
    result: dict[str, Any] = json.loads((made / "result.json").read_text())
    for name in result["figures"]:
        assert (made / "figures" / f"{name}.png").is_file()
    return result | {"by_name": {table["name"]: table["rows"] for table in result["tables"]}}


def test_all_verdicts_of_a_dataset_take_less_than_a_minute(xsum: dict[str, Any]) -> None:
    """From cold, with the default resamples, tables, figures and page; seconds of processor."""
    assert xsum["summary"]["items"] == 100 and xsum["summary"]["pairs"] == 2100
    assert xsum["seconds"] < 60


@pytest.mark.parametrize("command", COMMANDS[1:])
def test_the_other_commands_of_the_readme(command: str, folder: Path, tmp_path: Path) -> None:
    more = ("tracker=none", f"paths.root={tmp_path}", "study.bootstrap=50")
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        execute(compose("config", overrides=options_of(command, folder, *more)[1:]))
    found = read(tmp_path)
    exams = {row["exam"] for row in found["by_name"]["exams"]}
    said = " ".join(found["notes"])
    if "self_confidence=null" in command:
        assert exams == {"consistency", "pertinence"} and found["summary"]["pool"] == "C+P"
    elif "DailyDialog" in command:
        assert exams == {"consistency"} and "Exam pertinence: no answers" in said
        assert "human filter has no cost" in said
    else:
        sat = [row for row in found["by_name"]["exams"] if row["exam"] == "self_confidence"]
        assert [row["judge"] for row in sat if row["n"]] == ["chatglm3-6b"]


def test_a_thousand_resamples_of_all_pools_take_seconds(folder: Path) -> None:
    """Every judge and pool of XSum, chosen anew in each resample; seconds of processor."""
    panel = AutoPreReleased(str(folder)).load()
    responses = recall(Replay(str(folder)), panel, all_pairs(panel), "pairwise", None, WANTED)
    gold, rules = preferences_of(panel, responses.pairs), PoolingRules()
    started = time.process_time()
    marks = {
        exam: mark(answers, Threshold(), draws=1000) for exam, answers in responses.exams.items()
    }
    pools = examined(responses, marks, rules)
    pools.append(filtered_by_people(responses, gold, 0.6, 5, rules))
    votes, weights = responses.votes(), item_weights(len(gold), 1000, 0)
    for pool in pools:
        found = accuracy(correct(pool.sign, gold), draws=1000)
        assert found.low < found.value < found.high
        if pool.power_samples is not None:
            drawn = accuracy_samples(votes, gold, pool.power_samples, weights)
            assert drawn.shape == (1000,) and abs(np.nanmean(drawn) - found.value) < 0.05
    assert len(pools) == 9 and time.process_time() - started < 5


def test_the_stated_recipe_on_recorded_verdicts(xsum: dict[str, Any]) -> None:
    lists = {row["pool"]: row for row in xsum["by_name"]["lists"]}
    names = "chatglm_pro, fastchat-t5-3b, gpt-3.5-turbo, gpt-4"
    assert lists["C"]["judges"] == lists["C+P+S"]["judges"] == names
    pools = {row["name"]: row for row in xsum["by_name"]["pools"]}
    assert round(pools["C+P+S"]["value"], 4) == 0.7401
    assert pools["C+P+S"]["n"] == 1793 and pools["C+P+S"]["ties"] < pools["all"]["ties"]
    assert xsum["summary"]["pool/accuracy"] == pools["C+P+S"]["value"]
    assert pools["gpt-4"]["cost"] == pytest.approx(4200 * 40 / 1000)  # unreadable ones too
    assert pools["chatglm_pro"]["cost"] == pytest.approx(4.2)
    assert pools["all"]["ties"] <= 1793 - pools["all"]["unscored"]
    tests = {
        (row["measure"], row["pool"], row["against"]): row for row in xsum["by_name"]["comparisons"]
    }
    assert tests["accuracy", "C+P+S", "all"]["p"] > 0.5  # no gain over everybody
    assert tests["accuracy", "C+P+S", "gpt-4"]["items"] == 100
    assert tests["accuracy", "C+P+S", "vicuna-7b"]["p"] < 0.01
    assert tests["spearman", "C+P+S", "human"]["n"] == 99  # people grade one item all alike
    assert pools["human"]["cost"] > 115 > pools["C"]["cost"] - pools["gpt-4"]["cost"]
    budgets = xsum["by_name"]["budgets"]
    assert [row["cost"] for row in budgets] == sorted(row["cost"] for row in budgets)
    assert budgets[-1]["value"] == pools["C+P+S"]["value"]
    assert {row["name"] for row in xsum["by_name"]["bias"]} >= {"gpt-4", "C+P+S", "human"}


def test_figure_3_has_chat_evals_own_number_and_what_every_method_costs(
    folder: Path, tmp_path: Path
) -> None:
    """Before, GPT-4's .737 stood in the row of ChatEval, and nothing had a cost."""
    command = ["run.py", "sweep=auto_pre_figure_3", f"dataset.path={folder}", "tracker=none"]
    done = subprocess.run(
        [sys.executable, *command, "study.bootstrap=200"],
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    [table] = tmp_path.glob("sweeps/*/pools.csv")
    assert (table.parent / "figures" / "qualification_cost.png").is_file()
    rows = pd.read_csv(table).set_index("name")
    assert round(rows.loc["ChatEval C2", "value"], 3) == 0.658  # the paper: .6584
    assert round(rows.loc["ChatEval C3", "value"], 3) == 0.642
    pools = ["A1", "A2", "A3", "A4", "A5"]
    assert rows.loc[pools, "cost"].is_monotonic_increasing  # 1, 2, 3, 4 and 42 a million tokens
    verdicts = rows.loc[pools, "cost"] - rows.loc[pools, "exam_cost"]
    assert list(verdicts.round(1)) == [4.2, 8.4, 12.6, 12.6, 176.4]  # of who passed
    assert rows.loc["A5", "exam_cost"] > 8  # the paper: "less than $1"
    assert rows.loc["human", "cost"] == pytest.approx(176.4 + 115)
    assert (rows["n"] > 1700).all() and rows.loc["A2", "p"] < 0.05 < rows.loc["gpt-4", "p"]


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
    graded = recall(lm, panel, pairs, "pointwise100", ["gpt-4"], WANTED)
    assert graded.grades is not None and graded.grades.shape == (1, 3, 7)
    assert set(graded.exams) == {"consistency"} and len(graded.missing) == 2
    *_, unlabelled, debate = recall(lm, panel, pairs, "pairwise", None, {}).missing
    assert "chatglm3-6b (" in unlabelled and "gpt-4 (" not in unlabelled and "chatEval" in debate
    with pytest.raises(ConfigError, match="no verdicts by mechanism=tvd_mi"):
        recall(lm, panel, pairs, "tvd_mi", None, {})
    with pytest.raises(ConfigError, match="Did you mean 'gpt-4'"):
        recall(lm, panel, pairs, "pairwise", ["gpt4"], {})
    with pytest.raises(DataError, match="auto_pre_released"):
        lm.judges(panel_of([["a", "b"]]))
    with pytest.raises(DataError, match="Did you mean 'XSum'"):
        AutoPreReleased(str(folder), "Xsum").load()
    assert "Auto-PRE" in lm.identity
