"""Exams one by one: their configs, and what they make of replies and sources."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from judgelab.config import build
from judgelab.core.errors import ConfigError
from judgelab.core.lm import Reply
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.exam.consistency import Consistency
from judgelab.exam.pertinence import Pertinence, most_similar
from judgelab.exam.protocol import NotHeldError
from judgelab.exam.self_confidence import SelfConfidence, emitted
from judgelab.exam.superficial import gaps
from judgelab.mechanism.pairwise import Pairwise
from judgelab.study.qualification.controls import LENGTH
from tests.scripted import NOBODY, ScriptedChat, panel_of

CONF = Path(__file__).resolve().parents[3] / "conf"
PERTINENCE = Pertinence(
    Pairwise(Prompt("pairwise.txt")), Prompt("similar_question.txt"), Prompt("respond.txt")
)


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
    exam = SelfConfidence(*prompts, by="probability", easy=["a0", "a1"], hard=["a0", "a1"])
    panel = panel_of([["good", "bad"]] * 2)
    lm = ScriptedChat(lambda _: "one")
    paper = exam.prepare(panel, lm, seed=0)
    said = exam.take(paper, lm, seed=0)
    assert "auto or words" in said.absence and np.isnan(said.scored).all()
    assert len(lm.seen) == 2  # the first item's questions tell
    failed = ScriptedChat(lambda _: None)  # no reply says nothing of what the LM could show
    assert exam.take(paper, failed, seed=0).absence == ""


def test_confidence_is_asked_in_words_where_a_judge_shows_no_probabilities() -> None:
    """auto, for each judge; or a way for each."""
    prompts = Pairwise(Prompt("pairwise.txt")), Prompt("self_confidence.txt")
    exam = SelfConfidence(*prompts, easy=["a0", "a1"], hard=["a0", "a1"])
    panel = panel_of([["good", "bad"]] * 2)
    words = ScriptedChat(lambda request: "one" if request.top_logprobs else "one\nhigh")
    paper = exam.prepare(panel, words, seed=0)
    said = exam.take(paper, words, seed=0)
    assert said.way == "words" and said.absence == "" and (said.scored == 4).all()
    chosen = replace(exam, by={"a": "probability", "b": "words"})
    assert [chosen.of(name).by for name in "abc"] == ["probability", "words", "auto"]
    assert chosen.named_judges == ("a", "b")
    assert chosen.of("a").take(paper, words, seed=0).absence


def test_only_questions_that_were_asked_can_be_unread() -> None:
    judge = Pairwise(Prompt("pairwise.txt"))
    panel = panel_of([["one", "two", "three"], ["one", None, "three"]])
    mute = ScriptedChat(lambda _: "hm")
    exam = Consistency(judge)
    said = exam.take(exam.prepare(panel, mute, seed=0), mute, seed=0)
    assert said.asked is not None and said.asked.sum() == 3 + 1
    assert np.isnan(said.scored).all()


WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


def answers(items: int, lengths: Sequence[int]) -> Panel:
    """Every agent's text has its own number of words, which differs between items too."""
    texts = [[" ".join(WORDS[: n + k % 3]) for n in lengths] for k in range(items)]
    panel = panel_of(texts)
    like = [replace(one, source=f"shared words {k}") for k, one in enumerate(panel.items)]
    return replace(panel, items=tuple(like))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("pairs", [2, 4, None])
def test_a_judge_by_length_knows_half_whichever_agent_comes_first(
    swapped: bool, pairs: int | None
) -> None:
    """Before, the first agent wrote all relevant answers: such a judge got 1, or 0 if swapped."""
    lengths = [7, 2, 4]
    panel = answers(9, lengths[::-1] if swapped else lengths)
    exam = replace(PERTINENCE, pairs=pairs)
    paper = exam.prepare(panel, NOBODY, seed=0)
    said = exam.asked_by(LENGTH).take(paper, NOBODY, seed=0)
    assert np.nanmean(said.scored) == 0.5
    assert (np.nanmean(said.scored, axis=1) == 0.5).all()  # of every item
    gap = gaps(paper.panels[0], NOBODY)["words"]
    assert abs(gap.mean()) < 1.0 and len(gap) >= (9 * (pairs or 4))
    assert paper.facts["matched by length"] == "9 of 9 items"
    written = {one.id.split(": ")[1] for one in paper.panels[0].items}
    assert {name for one in written for name in one.split(" - ")} == {"a0", "a1", "a2"}


def test_one_agent_each_cannot_be_matched_and_is_said() -> None:
    exam = replace(PERTINENCE, relevant="a0", irrelevant="a1")
    paper = exam.prepare(answers(6, [7, 2]), NOBODY, seed=0)
    assert "no" in paper.facts["matched by length"] and len(paper.rows) == 6
    said = exam.asked_by(LENGTH).take(paper, NOBODY, seed=0)
    assert (said.scored == 1).all()


def test_problematic_agents_write_no_relevant_answers() -> None:
    panel = answers(4, [7, 2, 4])
    kinds = zip(panel.agents, ("Faithful", "Low Effort", "Style"), strict=True)
    panel = replace(panel, agents=tuple(replace(one, category=kind) for one, kind in kinds))
    facts = PERTINENCE.prepare(panel, NOBODY, seed=0).facts
    assert facts["relevant"] == facts["irrelevant"] == "2 agents"


def test_different_lms_may_write_a_question_and_answer_it() -> None:
    writer, answerer = (ScriptedChat(lambda r, w=w: f"{w} writes this") for w in "QA")
    exam = replace(PERTINENCE, question="lm", answer="writer", writer=writer, answerer=answerer)
    paper = exam.prepare(answers(5, [2, 1, 9]), NOBODY, seed=0)
    assert len(writer.seen) == len(answerer.seen) == 5
    assert "Q writes this" in answerer.seen[0].messages[-1].content
    assert {row[1] for row in paper.panels[0].texts} == {"A writes this"}
    assert paper.facts["writer"] == paper.facts["answerer"] == "scripted chat"
    assert paper.facts["items"] == "5 of 5"
    cut = iter([None, "A"] * 5)
    some = replace(exam, answerer=ScriptedChat(lambda _: next(cut)))
    assert some.prepare(answers(5, [2, 1, 9]), NOBODY, seed=0).facts["items"] == "2 of 5"
    with pytest.raises(NotHeldError, match="nothing was written"):
        nothing = replace(exam, writer=ScriptedChat(lambda _: None))
        nothing.prepare(answers(5, [2, 1, 9]), NOBODY, seed=0)
    used = exam.with_lms(lambda name, lm: ScriptedChat(lm.rule, identity=name))  # type: ignore[attr-defined]
    assert (used.writer.identity, used.answerer.identity) == ("writer", "answerer")
    both = replace(exam, writer=None, answerer=None).helpers(NOBODY)
    assert both == {"writer": NOBODY, "answerer": NOBODY}  # the run's writer
    assert replace(PERTINENCE, answer="self").helpers(NOBODY) == PERTINENCE.helpers(NOBODY) == {}
    with pytest.raises(ConfigError, match="would write nothing: choose pertinence.question=lm"):
        replace(PERTINENCE, writer=writer)


def test_a_judge_that_writes_answers_is_compared_with_controls_on_its_own() -> None:
    exam = replace(PERTINENCE, answer="self")
    paper = exam.prepare(answers(5, [2, 1, 9]), NOBODY, seed=0)
    judge = ScriptedChat(
        lambda r: "one" if "[Answer one]" in r.messages[-1].content else "long " * 5
    )
    said = exam.take(paper, judge, seed=0)
    assert said.paper is not None and not said.paper.questions
    control = exam.asked_by(LENGTH).take(said.paper, NOBODY, seed=0)
    assert control.scored.shape == said.scored.shape
    assert {row[1] for row in said.paper.panels[0].texts} == {("long " * 5).strip()}


def test_the_most_similar_other_source() -> None:
    found = most_similar(
        ["a red fox runs", "a red dog runs", "quite other words", "A RED fox runs"]
    )
    assert found.tolist() == [1, 0, -1, 1]
