"""Exams one by one: their configs, and what they make of replies and sources."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from judgelab.config import build
from judgelab.core.lm import Reply
from judgelab.core.prompt import Prompt
from judgelab.exam.pertinence import most_similar
from judgelab.exam.self_confidence import SelfConfidence, emitted
from judgelab.mechanism.pairwise import Pairwise
from tests.scripted import ScriptedChat, panel_of

CONF = Path(__file__).resolve().parents[3] / "conf"


def test_every_exam_of_the_configs_can_be_built_and_shows_every_knob() -> None:
    names = [file.stem for file in sorted((CONF / "exam").glob("*.yaml"))]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", overrides=[f"+exam@{name}={name}" for name in names])
    for name in names:
        node = OmegaConf.to_container(config[name], resolve=True)
        assert isinstance(node, dict)
        built = build({str(key): value for key, value in node.items()}, name)
        assert type(built).__module__.startswith("judgelab.exam.")
        assert set(inspect.signature(type(built)).parameters) == node.keys() - {"_target_"}


def test_confidence_is_that_of_the_emitted_label() -> None:
    spoken = ((("I", -0.1),), ((" One", -0.3), (" two", -1.5)), ((".", -0.01),))
    assert emitted(Reply("I One.", top_logprobs=spoken)) == -0.3
    assert np.isnan(emitted(Reply("one")))
    assert np.isnan(emitted(Reply("x", top_logprobs=((("x", -0.1), ("one", -2.0)),))))


def test_an_exam_in_probabilities_is_not_taken_by_a_judge_that_shows_none() -> None:
    prompts = Pairwise(Prompt("pairwise.txt")), Prompt("self_confidence.txt")
    exam = SelfConfidence(*prompts, easy=["a0", "a1"], hard=["a0", "a1"])
    panel = panel_of([["good", "bad"]] * 2)
    lm = ScriptedChat(lambda _: "one")
    paper = exam.prepare(panel, lm, seed=0)
    said = exam.take(paper, lm, seed=0)
    assert "by=words" in said.absence and np.isnan(said.scored).all()
    failed = ScriptedChat(lambda _: None)  # no reply says nothing of what the LM could show
    assert exam.take(paper, failed, seed=0).absence == ""


def test_the_most_similar_other_source() -> None:
    found = most_similar(
        ["a red fox runs", "a red dog runs", "quite other words", "A RED fox runs"]
    )
    assert found.tolist() == [1, 0, -1, 1]
