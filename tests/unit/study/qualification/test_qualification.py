"""Study qualification with judges that follow rules: exams, pools, formats, dry runs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from judgelab.core.errors import JudgelabError
from judgelab.core.result import Table
from judgelab.engine.run import carry_out
from judgelab.report.format import frame
from judgelab.study.qualification.case import figures
from tests.drawings import draw
from tests.scripted_judges import ScriptedJudge, overrides, write_panel

ROOT = Path(__file__).resolve().parents[4]
CONF = ROOT / "conf"
Run = Callable[..., dict[str, Any]]


@cache
def composed(*options: str) -> DictConfig:
    """The run with the three judges; composing takes most of a small run's time."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("config", overrides=overrides(Path("panel"), Path("root"), *options))


def config_of(folder: Path, *more: str) -> DictConfig:
    """With its files below ``folder``."""
    options = [one for one in more if "@" in one or one.startswith(("mechanism=", "+"))]
    values = [one for one in more if one not in options]
    places = [f"dataset.path={folder / 'panel.jsonl'}", f"paths.root={folder / 'out'}"]
    config = OmegaConf.merge(composed(*options), OmegaConf.from_dotlist([*places, *values]))
    assert isinstance(config, DictConfig)
    return config


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """``run("mechanism=pointwise5")``: the result, as written."""

    def call(*more: str, items: int = 30, graded: bool = True) -> dict[str, Any]:
        write_panel(tmp_path / "panel.jsonl", items, graded=graded)
        carry_out(config_of(tmp_path, *more))
        [made] = (tmp_path / "out" / "runs").iterdir()
        found: dict[str, Any] = json.loads((made / "result.json").read_text())
        found["by_name"] = {table["name"]: table["rows"] for table in found["tables"]}
        return found

    return call


def exam(result: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    return {row["judge"]: row for row in result["by_name"]["exams"] if row["exam"] == name}


def test_exams_pass_only_the_judge_who_judges(run: Run) -> None:
    """Always "one", the longer text, and an oracle with noise: only the last is fit."""
    found = run()
    consistency, pertinence = exam(found, "consistency"), exam(found, "pertinence")
    confidence = exam(found, "self_confidence")
    assert consistency["one"]["value"] == 0 and consistency["longer"]["value"] == 1
    assert 0.7 < consistency["oracle"]["value"] < 1
    assert pertinence["one"]["value"] == 0.5 and pertinence["longer"]["value"] == 0
    assert pertinence["oracle"]["value"] > 0.95
    passed = {judge: row["passed"] for judge, row in confidence.items()}
    assert passed == {"one": False, "longer": False, "oracle": True}
    lists = {row["pool"]: row for row in found["by_name"]["lists"]}
    assert lists["C"]["judges"] == "longer, oracle"
    assert lists["C+P"]["judges"] == lists["C+P+S"]["judges"] == "oracle"
    assert lists["C+P+S"]["p_same"] == 1.0
    pools = {row["name"]: row for row in found["by_name"]["pools"]}
    assert pools["C+P+S"]["value"] > 0.85 > pools["all"]["value"]
    assert pools["one"]["value"] == 0.5 and pools["longer"]["value"] == 0.0
    assert found["summary"]["pool/accuracy"] == pools["C+P+S"]["value"]
    assert found["summary"]["pool/spearman"] > 0.8
    assert pools["longer"]["gain_low"] > 0 and pools["longer"]["p"] < 0.01
    assert pools["oracle"]["gain"] == 0 and pools["oracle"]["p"] == 1
    drawn = {table["name"]: frame(table) for table in found["tables"]}
    assert draw("qualification_confidence", drawn).caption
    sure = {(row["judge"], row["set"]): row for row in found["by_name"]["confidence"]}
    assert sure["oracle", "easy"]["median"] < sure["oracle", "hard"]["median"]  # uncertainty
    assert sure["one", "easy"]["n"] == 60 and sure["one", "easy"]["accuracy"] == 0.5


def test_without_annotation_there_are_exams_a_pool_and_agreement(run: Run) -> None:
    found = run("study.pertinence=null", items=12, graded=False)
    assert found["primary"] == "pool/agreement" and found["summary"]["pool/agreement"] == 1.0
    assert not {"pools", "bias"} & found["by_name"].keys()
    assert {row["pool"] for row in found["by_name"]["lists"]} == {"all", "C", "S", "C+S", "PRE"}
    assert exam(found, "consistency")["oracle"]["n"] == 12 * 6
    assert found["summary"]["judges/agreement"] < 0.5
    assert any("Without human labels" in note for note in found["notes"])


def test_other_ways_to_ask(run: Run) -> None:
    """In words; questions and answers by an LM; fixed bars."""
    found = run(
        "study.self_confidence.by=words",
        "study.pertinence.question=lm",
        "study.pertinence.answer=self",
        "+writer_lm={_target_: tests.scripted_judges.ScriptedJudge, rule: writes}",
        "study.threshold=fixed",
        "study.family=[wordy]",
        items=12,
    )
    assert exam(found, "consistency")["one"]["bar"] == 0.55
    assert exam(found, "pertinence")["oracle"]["value"] > 0.9
    assert any("writer: scripted judge: writes" in note for note in found["notes"])
    assert exam(found, "self_confidence")["oracle"]["gap"] > 1  # levels
    bias = {row["name"]: row["value"] for row in found["by_name"]["bias"]}
    assert bias["longer"] == 1.0 and bias["oracle"] < 0.2 and bias["one"] == 0.0


def test_a_tie_in_both_orders_is_consistent_and_empty(run: Run) -> None:
    judge = "+study.judges.tie={_target_: tests.scripted_judges.ScriptedJudge, rule: tie}"
    by = "study.self_confidence.by=probability"
    found = run(judge, by, items=12)
    row = exam(found, "self_confidence")["tie"]  # no probabilities came with its replies
    assert row["passed"] == "excused" and row["value"] is None and row["unscored"] == 0
    assert any("not taken by tie" in note and "auto or words" in note for note in found["notes"])
    row = exam(found, "consistency")["tie"]
    assert row["value"] == 1.0 and row["tied"] == 1.0 and row["n"] == 72
    assert exam(found, "consistency")["longer"]["tied"] == 0.0


def test_what_exams_take_beyond_the_verdicts_is_counted(run: Run, tmp_path: Path) -> None:
    """P_c puts the questions of the verdicts: of a judge that fails it, all is spent on the exam;
    of one that passes nothing more."""
    prices = tmp_path / "own.yaml"
    prices.write_text("{currency: USD, tokens_per_call: 1, judges: {one: 1000000, oracle: 3e6}}")
    methods = "study.methods={fair: [one, oracle], lone: [oracle]}"
    found = run(f"study.prices={prices}", methods, items=6)
    pools = {row["name"]: row for row in found["by_name"]["pools"]}
    failed = pools["one"]["cost"]
    assert pools["C"]["exam_cost"] == failed > 0
    assert pools["PRE"]["cost"] == pools["all"]["cost"] == failed + pools["oracle"]["cost"]
    exam = pools["P"]["exam_cost"]  # 2 questions of each item beside the 12 of the verdicts
    assert exam == pytest.approx(pools["all"]["cost"] / 6, rel=0.2)
    assert pools["C+P"]["exam_cost"] == pytest.approx(failed + exam)
    assert pools["C+P+S"]["cost"] > pools["C+P"]["cost"]
    assert found["summary"]["pool/cost"] == pools["C+P+S"]["cost"]
    lone, fair = pools["lone"], pools["fair"]
    assert (lone["kind"], lone["cost"], lone["exam_cost"]) == ("method", pools["oracle"]["cost"], 0)
    assert fair["value"] == pools["oracle"]["value"]
    assert fair["cost"] == pytest.approx(pools["C+P+S"]["cost"])  # the third is free


def test_unknown_costs_are_not_nothing(run: Run) -> None:
    found = run(items=6)
    assert exam(found, "consistency")["one"]["n"] == 6 * 6
    pools = {row["name"]: row for row in found["by_name"]["pools"]}
    assert pools["human"]["cost"] is None and pools["all"]["cost"] == 0
    assert any("study.annotation_cost=NUMBER" in note for note in found["notes"])
    assert found["by_name"]["exams"] and "qualification_cost" not in found["figures"]
    for value, drawn in ((0.5, ["qualification_cost"]), (math.nan, [])):
        assert figures([Table("pools", "", [{"cost": 1.0, "value": value}])]) == drawn


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["study.judges=null"], "study.judges"),
        (["+study.judges.b=null"], "study.judges.b names no LM to build"),
        (["study.self_confidence.easy=[brief,nobody]"], "no agent is called 'nobody'"),
        (["mechanism=length"], "mechanism=length asks no LM, and cannot take exams"),
        (["study.pertinence.question=lm"], "have no answer yet"),
        (["study.methods={x: [orcale]}"], "no judge is called 'orcale'. Did you mean 'oracle'"),
        (["study.methods={x: [one, one]}"], "study.methods.x=.*name judges, each once"),
        (["study.family=[breif]", "dry_run=true"], r"study\.family: .* Did you mean 'brief'"),
        (["study.prices=nowhere.yaml"], "cannot be read"),
    ],
)
def test_what_does_not_fit_is_one_sentence_and_nobody_is_asked(
    run: Run, monkeypatch: pytest.MonkeyPatch, more: list[str], message: str
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(ScriptedJudge, "chat", lambda _, requests: asked.extend(requests))
    with pytest.raises(JudgelabError, match=message):
        run(*more, items=6)
    assert not asked


def test_a_threshold_that_all_share_and_an_exam_without_a_setting_are_said(run: Run) -> None:
    same = [f"study.judges.{judge}.rule=longer" for judge in ("one", "oracle")]
    found = run(*same, "study.self_confidence.easy=null", items=8, graded=False)
    rows = exam(found, "consistency")
    assert {row["value"] for row in rows.values()} == {1.0}
    assert all(row["passed"] is True for row in rows.values())
    assert {row["exam"] for row in found["by_name"]["exams"]} == {"consistency", "pertinence"}
    assert found["summary"]["pool"] == "C+P"
    [said] = [note for note in found["notes"] if "was not held" in note]
    assert "self_confidence.easy=[AGENT,AGENT]" in said and "no pool requires it" in said


def test_controls_decide_and_say_so(run: Run) -> None:
    """The longer text is the relevant one here, for one agent each: no judge can beat that."""
    swap = ["study.pertinence.relevant=wordy", "study.pertinence.irrelevant=brief"]
    found = run(*swap, "study.threshold=fixed", items=8, graded=False)
    rows = exam(found, "pertinence")
    assert rows["longer"]["value"] == 1.0 > rows["oracle"]["value"] > 0.7
    assert rows["longer"]["passed"] is rows["oracle"]["passed"] is False
    assert rows["oracle"]["why_not"].startswith("no better than length")
    assert any("longer fails pertinence" in n and "control length" in n for n in found["notes"])
