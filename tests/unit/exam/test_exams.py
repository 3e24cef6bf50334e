"""Exams one by one: their configs, and what they make of replies and sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from judgelab.core.errors import ConfigError
from judgelab.core.lm import Reply
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.exam.consistency import Consistency
from judgelab.exam.pertinence import Pertinence
from judgelab.exam.protocol import NotHeldError
from judgelab.exam.self_confidence import SelfConfidence, label_nats
from judgelab.mechanism.pairwise import Pairwise
from tests.scripted import NOBODY, ScriptedChat, panel_of

PERTINENCE = Pertinence(
    Pairwise(Prompt("pairwise.txt")), Prompt("similar_question.txt"), Prompt("respond.txt")
)


def test_confidence_is_that_of_the_emitted_label() -> None:
    spoken = ((("I", -0.1),), ((" One", -0.3), (" two", -1.5)), ((".", -0.01),))
    assert label_nats(Reply("I One.", top_logprobs=spoken)) == -0.3
    assert np.isnan(label_nats(Reply("one")))
    assert np.isnan(label_nats(Reply("x", top_logprobs=((("x", -0.1), ("one", -2.0)),))))


def test_a_judge_without_probabilities_takes_the_exam_in_words_or_not_at_all() -> None:
    prompts = Pairwise(Prompt("pairwise.txt")), Prompt("self_confidence.txt")
    exam = SelfConfidence(*prompts, by="probability", easy=["a0", "a1"], hard=["a0", "a1"])
    lm = ScriptedChat(lambda request: "one" if request.top_logprobs else "one\nhigh")
    paper = exam.prepare(panel_of([["good", "bad"]] * 2), lm, seed=0)
    said = exam.take(paper, lm, seed=0)
    assert "auto or words" in said.absence and np.isnan(said.scored).all()
    assert len(lm.seen) == 2  # the first item's questions tell
    failed = ScriptedChat(lambda _: None)  # no reply says nothing of what the LM could show
    assert exam.take(paper, failed, seed=0).absence == ""
    said = replace(exam, by="auto").take(paper, lm, seed=0)
    assert said.way == "words" and said.absence == "" and (said.scored == 4).all()


def test_only_questions_that_were_asked_can_be_unread() -> None:
    judge = Pairwise(Prompt("pairwise.txt"))
    panel = panel_of([["one", "two", "three"], ["one", None, "three"]])
    mute = ScriptedChat(lambda _: "hm")
    exam = Consistency(judge)
    said = exam.take(exam.prepare(panel, mute, seed=0), mute, seed=0)
    assert said.asked.sum() == 3 + 1
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
def test_judges_by_length_know_half_whoever_comes_first(swapped: bool, pairs: int | None) -> None:
    """Before, the first agent wrote all relevant answers: such a judge got 1, or 0 if swapped."""
    lengths = [7, 2, 4]
    panel = answers(9, lengths[::-1] if swapped else lengths)
    exam = replace(PERTINENCE, pairs=pairs)
    judge = ScriptedChat(lambda _: "one")
    paper = exam.prepare(panel, NOBODY, seed=0)
    by_length = exam.take(paper, judge, seed=0).by_length
    assert by_length is not None and np.nanmean(by_length) == 0.5
    assert (np.nanmean(by_length, axis=1) == 0.5).all()  # of every item
    words = np.array([[len(str(text).split()) for text in row] for row in paper.panels[0].texts])
    assert abs(np.diff(words).mean()) < 1.0 and len(words) >= 9 * (pairs or 4)
    assert paper.facts["matched by length"] == "9 of 9 items"
    written = {one.id.split(": ")[1] for one in paper.panels[0].items}
    assert {name for one in written for name in one.split(" - ")} == {"a0", "a1", "a2"}


def test_one_agent_each_cannot_be_matched_and_is_said() -> None:
    exam = replace(PERTINENCE, relevant="a0", irrelevant="a1")
    paper = exam.prepare(answers(6, [7, 2]), NOBODY, seed=0)
    assert "no" in paper.facts["matched by length"] and len(paper.rows) == 6
    said = exam.take(paper, ScriptedChat(lambda _: "one"), seed=0)
    assert said.by_length is not None and (said.by_length == 1).all()


def test_problematic_agents_write_no_relevant_answers() -> None:
    panel = answers(4, [7, 2, 4])
    kinds = zip(panel.agents, ("Faithful", "Low Effort", "Style"), strict=True)
    panel = replace(panel, agents=tuple(replace(one, category=kind) for one, kind in kinds))
    facts = PERTINENCE.prepare(panel, NOBODY, seed=0).facts
    assert facts["relevant"] == facts["irrelevant"] == "2 agents"


def test_an_lm_may_write_a_question_and_answer_it() -> None:
    writer = ScriptedChat(lambda r: "A writes this" if "answers" in str(r) else "Q writes this")
    exam = replace(PERTINENCE, question="lm", answer="writer")
    panel = answers(5, [2, 1, 9])
    paper = exam.prepare(panel, writer, seed=0)
    assert len(writer.seen) == 10 and exam.needs_writer and not PERTINENCE.needs_writer
    assert "writes this" in writer.seen[5].messages[-1].content
    assert {r.key for r in writer.seen} == {("pertinence", one.id) for one in panel.items}
    assert paper.facts["writer"] == "scripted chat" and paper.facts["items"] == "5 of 5"
    cut = iter(["Q"] * 5 + [None, "A"] * 3)
    some = exam.prepare(panel, ScriptedChat(lambda _: next(cut)), seed=0)
    assert some.facts["items"] == "2 of 5"
    with pytest.raises(NotHeldError, match="nothing was written"):
        exam.prepare(panel, ScriptedChat(lambda _: None), seed=0)
    with pytest.raises(ConfigError, match="have no answer yet"):
        replace(PERTINENCE, question="lm")


def test_a_judge_that_writes_answers_is_held_against_length_on_its_own() -> None:
    exam = replace(PERTINENCE, answer="self")
    panel = answers(5, [2, 1, 9])
    paper = exam.prepare(panel, NOBODY, seed=0)
    lm = ScriptedChat(lambda r: "one" if "[Answer one]" in r.messages[-1].content else "long " * 30)
    said = exam.take(paper, lm, seed=0)
    assert paper.questions and said.by_length is not None
    asked = {r.key[1] for r in lm.seen if r.key[0] == "pertinence"}
    assert asked and asked <= {one.id for one in panel.items}
    assert np.nanmax(said.by_length) == 0 and said.by_length.shape == said.scored.shape
