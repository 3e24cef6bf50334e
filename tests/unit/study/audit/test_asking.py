"""Whom an audit asks, and how what they say becomes one table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir

from judgelab.core.errors import CapabilityError, ConfigError, DataError
from judgelab.core.resources import conf
from judgelab.engine.run import execute
from tests.scripted_judges import write_panel

JUDGE = "{_target_: tests.scripted_judges.ScriptedJudge, rule: %s}"
PARTLESS = ("study=audit", "study.parts=[]", "dataset=jsonl", "tracker=none")


def audited(folder: Path, *words: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Records and result of a run on the panel of four graded agents (tests.scripted_judges)."""
    panel = folder / "panel.jsonl"
    if not panel.exists():
        write_panel(panel, 6)
    with initialize_config_dir(str(conf()), version_base="1.3"):
        given = [*PARTLESS, f"dataset.path={panel}", f"paths.root={folder}", *words]
        execute(compose("config", overrides=given))
    (run,) = (folder / "runs").glob("*")
    table = pd.read_parquet(run / "records" / "judgments.parquet")
    return table, json.loads((run / "result.json").read_text())


def asked(*rules: str) -> list[str]:
    return [f"+study.judges.{rule}={JUDGE % rule}" for rule in rules]


def values(table: pd.DataFrame, by: str, order: int = 0) -> np.ndarray:
    return table[(table["by"] == by) & (table["order"] == order)]["value"].to_numpy(float)


def test_a_judge_that_compares_makes_pairs_of_graded_texts(tmp_path: Path) -> None:
    table, result = audited(tmp_path, "mechanism=pairwise", *asked("one", "longer", "oracle"))
    people = values(table, "people")
    assert len(people) == 6 * 6
    # the worse of these texts is the longer one
    assert (values(table, "longer") == 1 - people).all()
    assert (values(table, "length") == 1 - people).all()
    # shown second, the text stored first does not win with a judge that takes the first
    assert (values(table, "one") == 1).all()
    assert (values(table, "one", 1) == 0).all()
    assert (values(table, "oracle") == people).mean() > 0.7
    assert set(table[table["role"] == "control"]["by"]) == {"length", "random"}
    assert {one["mechanism"] for one in result["estimators"]} == {"pairwise"}
    assert len(result["estimators"]) == 3
    (run,) = (tmp_path / "runs").glob("*")
    said = pd.read_parquet(run / "records" / "clean_reply_texts.parquet")
    counts = said.groupby("judge")["reply"].size().to_dict()
    assert counts == dict.fromkeys(("one", "longer", "oracle"), 2 * 6 * 6)
    assert set(said[said["judge"] == "one"]["reply"]) == {"one"}
    assert (run / "items.html").is_file()


def test_a_judge_that_grades_leaves_texts_as_units(tmp_path: Path) -> None:
    rouge = "+study.judges.rouge={mechanism: {_target_: judgelab.mechanism.length.Length}}"
    table, _ = audited(tmp_path, rouge)
    assert len(values(table, "people")) == 6 * 4
    assert (values(table, "rouge") == values(table, "length")).all()
    assert set(table["second"]) == {""}


def test_graders_join_pairs_by_the_sign_of_the_difference(tmp_path: Path) -> None:
    grader = "+study.judges.words={mechanism: {_target_: judgelab.mechanism.length.Length}}"
    table, _ = audited(tmp_path, "mechanism=pairwise", *asked("longer"), grader)
    for order in (0, 1):
        assert (values(table, "words", order) == values(table, "longer", 0)).all()


def test_the_run_itself_is_the_judge_where_none_is_named(tmp_path: Path) -> None:
    table, _ = audited(tmp_path, "mechanism=rouge_l", "dataset.reference_agent=peer")
    assert set(table["by"]) == {"people", "rouge_l", "length", "random"}
    assert "peer" not in set(table["first"]), "references are no units"


def test_metrics_of_the_data_are_judges(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    rows = ["item,system,human,rouge,bleu"]
    rows += [f"i{k},s{a},{a},{a * k},{-a}" for k in range(4) for a in range(3)]
    path.write_text("\n".join(rows))
    given = ["dataset=score_table", f"dataset.path={path}", "dataset.metrics=[rouge,bleu]"]
    table, _ = audited(tmp_path, *given)
    assert set(table["by"]) >= {"people", "rouge", "bleu"}
    assert (values(table, "bleu") == -values(table, "people")).all()


def test_only_pairs_that_people_compared_are_asked_about(tmp_path: Path) -> None:
    from judgelab.study.audit.asking import _rounds

    assert _rounds({(0, 1), (0, 2), (1, 2)}) == [(0, 1, 2)]
    assert _rounds({(0, 1), (1, 2)}) == [(0, 1), (1, 2)]


def test_what_is_missing_is_counted_with_its_reason(tmp_path: Path) -> None:
    table, result = audited(tmp_path, "mechanism=judge", *asked("oracle"))
    said = table[table["by"] == "oracle"]["value"]
    assert said.isna().all(), "it answers one or two, and was asked for [[A]] or [[B]]"
    assert result["summary"]["unscored_calls"] == 72


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        ([], ConfigError, "There is no judge to audit"),
        (["mechanism=pairwise"], CapabilityError, "needs an evaluation LM that can do chat"),
        (asked("one"), ConfigError, "study.judges.one says not by which mechanism"),
        (["mechanism=rouge_l", "attack=padding"], ConfigError, "set attack=none"),
        (["+study.judges.a={lm: 3}"], ConfigError, "study.judges.a.lm is not a known key"),
        (["+study.judges.a=3"], ConfigError, "study.judges.a=3 is no judge"),
        (["study.parts=[gat]"], ConfigError, "no part is called 'gat'"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    tmp_path: Path, words: list[str], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        audited(tmp_path, *words)


def test_columns_that_may_be_judges_are_named_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("id,human,gpt,o1\n1,3,4,5\n")
    with pytest.raises(ConfigError, match=r"not read: gpt, o1 .*dataset\.judges=\[gpt,o1\]"):
        audited(tmp_path, "dataset=table", f"dataset.path={path}")


def test_no_texts_no_questions(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("item,system,human,rouge\ni,a,1,2\ni,b,2,3\n")
    given = ["dataset=score_table", f"dataset.path={path}", "dataset.metrics=[rouge]"]
    with pytest.raises(DataError, match="There is no text to ask one about"):
        audited(tmp_path, *given, "mechanism=pairwise", *asked("one"))


def test_a_dry_run_counts_each_part_and_judge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["mechanism=pairwise", *asked("one", "longer"), "study.parts=[manipulation]"]
    words += ["study.questions.manipulation.items=3", "dataset.limit=4"]
    panel = tmp_path / "panel.jsonl"
    write_panel(panel, 6)
    with initialize_config_dir(str(conf()), version_base="1.3"):
        given = [*PARTLESS, f"dataset.path={panel}", f"paths.root={tmp_path}", *words]
        execute(compose("config", overrides=[*given, "dry_run=true"]))
    said = capsys.readouterr().out
    assert "(study.judges.longer)" in said
    assert "manipulation: pairwise, padding" in said
    assert not (tmp_path / "runs").exists()
    _, result = audited(tmp_path, *words)
    assert f"All together: {result['summary']['lm_calls']:,} calls to ask" in said


def test_parts_are_read_in_their_order(tmp_path: Path) -> None:
    words = ["mechanism=length", "study.parts=[next_labels,manipulation,gate]"]
    _, result = audited(tmp_path, *words)
    headings = [one["heading"] for one in result["sections"]]
    assert headings == [
        "Is it surely better than something that knows nothing?",
        "Does a manipulated text win more often?",
        "Which items should a person look at next?",
        "Who judged?",
    ]
