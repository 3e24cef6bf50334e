"""Ratings: what is asked, what is read, and what log-probabilities alone give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.lm import ChatRequest
from judgelab.core.prompt import Prompt
from judgelab.mechanism.criteria import FOLDER, STEPS, load_criteria
from judgelab.mechanism.rating import Rating
from judgelab.mechanism.rating_likelihood import RatingLikelihood
from judgelab.study.common.panels import measurement_records
from tests.scripted import ScriptedChat, ScriptedLogProb, panel_of

PROMPT = Prompt("rating.txt")
TASKS = {
    "summarization": ["coherence", "consistency", "fluency", "relevance"],
    "story_completion": ["coherence", "consistency", "fluency"],
    "question_answering": ["answer_quality"],
    "translation": ["accuracy", "fluency"],
}


@pytest.mark.parametrize("task", TASKS)
def test_tasks_have_the_metrics_of_table_1(task: str) -> None:
    criteria = load_criteria(task)
    assert [metric.name for metric in criteria.metrics] == TASKS[task]
    assert all(m.bounds == (1, 5) and len(m.steps) >= 3 for m in criteria.metrics)
    assert {path.stem for path in FOLDER.glob("*.yaml")} >= set(TASKS)


RHYME = "{rhyme: {criterion: It rhymes., steps: [Read it.], likelihood: text}}"


def criteria(folder: Path, **parts: str) -> str:
    """A file of one's own, with these parts of it otherwise."""
    given = {"text": "poem", "source": "theme", "scale": "{0: bad, 1: good}", "metrics": RHYME}
    lines = (f"{key}: {value}\n" for key, value in (given | parts).items() if value)
    (folder / "own.yaml").write_text("".join(lines))
    return str(folder / "own.yaml")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("metrics", RHYME.replace("[Read it.]", "Read it."), "rhyme, steps: Input should be"),
        ("metrics", "", "no YAML of text, source, scale and metrics"),
        *(("scale", scale, r"own\.yaml.*scale") for scale in ("{0: bad, good: 1}", "{0: bad}")),
    ],
)
def test_a_fault_of_criteria_is_named(tmp_path: Path, key: str, value: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        load_criteria(criteria(tmp_path, **{key: value}))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no YAML of"),
        ("question: ''\nlevels: {bad: no use, good: of use}", "must be a question"),
        ("question: Of use?\nlevels: {bad: , good: of use}", "must be a question"),
    ],
)
def test_a_fault_of_a_rubric_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "rubric.yaml").write_text(text)
    with pytest.raises(DataError, match=said):
        load_criteria(str(tmp_path / "rubric.yaml"))
    with pytest.raises(ConfigError, match="there is no file"):
        load_criteria(str(tmp_path / "gone.yaml"))


@pytest.mark.parametrize("levels", ["{no: of none, yes: of use}", "{0: of none, 1: of use}"])
def test_a_rubric_is_one_question_whose_levels_are_grades(tmp_path: Path, levels: str) -> None:
    file = tmp_path / "rubric.yaml"
    file.write_text(f"question: Is it of use?\nlevels: {levels}")
    lm = ScriptedChat(lambda request: '{"reason": "so", "verdict": 1}')
    rubric = Rating(Prompt("rating.txt"), criteria=str(file), reply="json")
    data = rubric.measure(panel_of([["a", "b"]]), lm, seed=0)
    assert data["rating"].values.ravel().tolist() == [1.0, 1.0]
    assert "sha256" in data.attrs["criteria"] and rubric.bounds == (0.0, 1.0)
    assert all(words in lm.seen[0].messages[-1].content for words in ("Is it of use?", "of none"))


@pytest.mark.parametrize(
    ("reply", "grade"), [("fair", 1), ("**Good**", 2), ("2", 2), ("fair or good", np.nan)]
)
def test_a_level_may_be_named(tmp_path: Path, reply: str, grade: float) -> None:
    file = tmp_path / "rubric.yaml"
    file.write_text("question: Of use?\nlevels: {bad: of none, fair: of some, good: of much}")
    rubric = Rating(Prompt("rating.txt"), criteria=str(file), reply="generated")
    data = rubric.measure(panel_of([["a", "b"]]), ScriptedChat(lambda request: reply), seed=0)
    np.testing.assert_equal(data["rating"].values.ravel(), [grade] * 2)


def test_every_text_is_asked_once_a_metric_and_repeat() -> None:
    def rule(request: ChatRequest) -> str | None:
        if "bad text" in request.messages[0].content:
            return None if "fluency" in request.key else "1"
        return str(3 + request.repeat)

    panel = panel_of([["good text", "bad text"], ["good text", None]])
    lm = ScriptedChat(rule)
    mechanism = Rating(PROMPT, repeats=2)
    data = mechanism.measure(panel, lm, seed=0)
    assert data["rating"].dims == ("item", "agent", "metric", "draw")
    assert len(lm.seen) == 3 * 4 * 2
    scores = mechanism.score(data)
    assert scores.agent.values[:, 0].tolist() == [3.5, 3.5]
    assert np.isnan(scores.agent.values[:, 1]).all(), "a metric without rating leaves no score"
    assert scores.diagnostics["mean_coherence"] == pytest.approx((3.5 + 3.5 + 1) / 3)
    said = lm.seen[0].messages[0].content
    assert "source 0" in said and "good text" in said and "coherence" in said
    records = measurement_records(data)
    assert list(records.columns) == ["item", "agent", "metric", "draw", "rating"]
    only = Rating(PROMPT, metrics=["fluency"]).measure(panel, lm, seed=0)
    assert only["metric"].values.tolist() == ["fluency"]


def test_likelihood_takes_each_metrics_own_kind_per_token() -> None:
    def rule(context: str, target: str) -> float:
        return -float(len(target.split())) * (1 if "source 0" in context else 2)

    panel = panel_of([["One two. Three four.", None]])
    data = RatingLikelihood().measure(panel, ScriptedLogProb(rule), seed=0)
    by_metric = dict(zip(data["metric"].values, data["rating"].values[0, 0, :, 0], strict=True))
    assert by_metric == {
        "coherence": 0.0,  # the sentences are as likely alone as together
        "consistency": -1.0,
        "fluency": -2.0,
        "relevance": -2.0,
    }
    assert np.isnan(data["rating"].values[0, 1]).all()


HELPFUL = """text: answer
source: question
scale: {1: poor, 2: fair, 3: good}
metrics:
  helpfulness: The answer solves what was asked.
  brevity: {criterion: It is short., steps: [Count the words.], likelihood: text}
"""


@pytest.fixture
def own(tmp_path: Path) -> str:
    file = tmp_path / "helpful.yaml"
    file.write_text(HELPFUL)
    return str(file)


def test_a_metric_without_steps_has_those_of_a_rubric(own: str) -> None:
    lm, panel = ScriptedChat(lambda request: "2"), panel_of([["a text", "another"]])
    Rating(PROMPT, criteria=own).measure(panel, lm, seed=0)
    asked = [request.messages[0].content for request in lm.seen]
    assert sum("1. Count the words." in said for said in asked) == 2, "given steps stay"
    assert sum(f"1. {STEPS[0]}\n2. {STEPS[1]}" in said for said in asked) == 2


def test_a_likelihood_has_to_be_given(own: str) -> None:
    panel = panel_of([["a text"]])
    with pytest.raises(ConfigError, match="gives no likelihood for helpfulness"):
        RatingLikelihood(criteria=own).measure(panel, ScriptedLogProb(lambda c, t: -1.0), seed=0)
