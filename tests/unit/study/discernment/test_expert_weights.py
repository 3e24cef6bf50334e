"""Weights of metrics by perturbation: from YAML, from a survey, and what fits nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from judgelab.core.criteria import FOLDER as CRITERIA
from judgelab.core.errors import ConfigError, DataError
from judgelab.study.discernment.expert_weights import FOLDER, load_weights
from judgelab.study.discernment.study import Discernment
from tests.scripted import NOBODY, ScriptedChat
from tests.unit.study.discernment.discernment_context import (
    QUICK,
    counts_typos,
    lab,
    references,
)

TASKS = ("summarization", "story_completion", "question_answering", "translation")


@pytest.mark.parametrize("name", [path.stem for path in FOLDER.glob("*.yaml")])
@pytest.mark.parametrize("task", TASKS)
def test_shipped_weights_are_of_metrics_that_are_rated(name: str, task: str) -> None:
    metrics = yaml.safe_load((CRITERIA / f"{task}.yaml").read_text(encoding="utf-8"))["metrics"]
    assert load_weights(name, task).unrated(sorted(metrics)) == []


def test_weights_add_up_whatever_was_rated() -> None:
    weights = load_weights("judgelab", "summarization")
    metrics = ["coherence", "consistency", "fluency", "relevance"]
    assert weights.of(["typos_minor", "typos"], metrics) == [0.05, 0.05, 0.85, 0.05]
    assert weights.of(["typos"], ["fluency", "relevance"]) == pytest.approx([17 / 18, 1 / 18])
    assert weights.of(["padding"], metrics) is None
    with pytest.raises(ConfigError, match=r"no weight on any of the metrics rated \(fluency\)"):
        weights.of(["fictional_entities"], ["fluency"])


def test_weights_from_a_survey(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text(
        "expert,task,perturbation,metric\n"
        "a,summarization,typos,fluency\nb, summarization ,typos, fluency\n"
        "c,summarization,typos,coherence\nd,translation,typos,accuracy\n"
        "a,,sentence_reordering,coherence\n"
    )
    weights = load_weights(str(file), "summarization")
    assert weights.table == {
        "typos": {"fluency": pytest.approx(2 / 3), "coherence": pytest.approx(1 / 3)},
        "sentence_reordering": {"coherence": 1.0},
    }


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "expert,issue\n", "lacks the column 'perturbation'"),
        ("a.csv", "perturbation,metric\n", "holds no answers"),
        ("a.csv", "perturbation,metric\ntypos\n", "line 2: an answer is incomplete"),
        ("a.csv", 'perturbation,metric\ntypos,"fluency\ntypos,a\n', "close every quote"),
        ("a.yaml", "summarization: {typos: {fluency: 0.5}}", "add up to 0.5"),
        ("a.yaml", "summarization: {typos: {fluency: true}}", "typos, fluency: .* valid number"),
        ("a.yaml", "[typos]", "maps tasks to perturbations"),
    ],
)
def test_faults_of_a_file_are_named(tmp_path: Path, name: str, text: str, said: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(DataError, match=said):
        load_weights(str(file), "summarization")


def test_weights_of_other_tasks_are_refused(tmp_path: Path) -> None:
    said = "weights for translation, none for the task 'summarization'"
    own, survey = tmp_path / "own.yaml", tmp_path / "answers.csv"
    own.write_text("translation: {typos: {fluency: 1}}\n")
    survey.write_text("task,perturbation,metric\ntranslation,typos,fluency\n")
    for file in (own, survey):
        with pytest.raises(ConfigError, match=said):
            load_weights(str(file), "summarization")
    own.write_text("summarization: {}\ntranslation: {typos: {fluency: 1}}\n")
    assert load_weights(str(own), "summarization").table == {}, "said in so many words"
    with pytest.raises(ConfigError, match="Did you mean 'uniform'"):
        load_weights("unifrom", "summarization")


def test_a_result_names_the_perturbations_that_were_left_out(tmp_path: Path) -> None:
    survey = tmp_path / "answers.csv"
    survey.write_text(
        "task,perturbation,metric\nsummarization,typos,fluency\ntranslation,typos,accuracy\n"
    )
    few, only = references().head(3), ["typos_minor", "deletions_minor"]
    own = tmp_path / "own.yaml"
    own.write_text("summarization: {typo: {fluency: 1}}\n")
    with pytest.raises(ConfigError, match=r"weights for typo, and none of them is tested"):
        Discernment(only=only, weights=str(own), **QUICK).run(lab(tmp_path, NOBODY))
    asking = lab(tmp_path, ScriptedChat(counts_typos), panel=few)
    given = Discernment(only=only, weights=str(survey), **QUICK).run(asking)
    note = "All metrics weigh alike for deletions_minor, which answers.csv does not list."
    assert note in given.notes
    metrics = next(t for t in given.tables if t.name == "metrics").rows
    fluency = {r["perturbation"]: r["weight"] for r in metrics if r["metric"] == "fluency"}
    assert fluency == {"typos_minor": 1, "deletions_minor": 0.25}
