"""Closed questions: how they are put to an LM that can tell labels, what is read and recorded."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgelab.calls.batch import ChatBatch, chat_key
from judgelab.calls.cache import CallCache
from judgelab.calls.cached import CachedLM, CountingLM
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.core.lm import Capability, ChatRequest, EvaluationLM, Reply
from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.exam.self_confidence import SelfConfidence, label_nats
from judgelab.mechanism.judge import Judge
from judgelab.mechanism.lm_examiner import LmExaminer
from judgelab.mechanism.pairwise import Pairwise
from judgelab.mechanism.pointwise import Pointwise
from judgelab.mechanism.rating import Rating
from judgelab.mechanism.tvd_mi import TvdMi
from judgelab.scale.ray import open_batches
from judgelab.study.common.panels import measurement_records
from tests.scripted import ScriptedChat, ask, panel_of

PAIRWISE = Pairwise(Prompt("pairwise.txt"))
JUDGE = Judge(Prompt("judge.txt"), prompt_labels=Prompt("judge_label.txt"))
CRITIC = TvdMi(Prompt("tvd_mi.txt"), prompt_labels=Prompt("tvd_mi_label.txt"))
EXAMINER = LmExaminer(Prompt("lm_examiner.txt"), prompt_labels=Prompt("lm_examiner_label.txt"))
POINTWISE = Pointwise(Prompt("pointwise5.txt"))
RATING = Rating(Prompt("rating.txt"), criteria="summarization", metrics=["fluency"])
ALL = (PAIRWISE, JUDGE, CRITIC, EXAMINER, POINTWISE, RATING)
TEXTS = [[f"{source} by {name}" for name in ("ann", "bob", "cat")] for source in ("elks", "foxes")]


class ScriptedLabels(EvaluationLM):
    """Tells labels by ``rule(request)``: label -> probability; open questions are an error."""

    identity = "scripted labels"
    capabilities = frozenset({Capability.CHAT, Capability.LABELS})

    def __init__(self, rule: Callable[[ChatRequest], Mapping[str, float]]) -> None:
        self.rule = rule
        self.seen: list[list[ChatRequest]] = []

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        self.seen.append(list(requests))
        return [self._reply(request) for request in requests]

    def _reply(self, request: ChatRequest) -> Reply:
        assert request.labels, "a reply would be generated"
        assert (request.temperature, request.max_tokens, request.repeat) == (0.0, None, 0)
        found = self.rule(request)
        told = {label: math.log(found.get(label, 1e-9)) for label in request.labels}
        best = max(told, key=lambda label: told[label])
        return Reply(best, None, 9, 0, label_logprobs=tuple(told.items()))


def always(**found: float) -> ScriptedLabels:
    return ScriptedLabels(lambda request: found)


def own(tmp_path: Path, text: str) -> Prompt:
    (tmp_path / "mine.txt").write_text(text)
    return Prompt(str(tmp_path / "mine.txt"))


@pytest.mark.parametrize("mechanism", ALL, ids=lambda m: m.name)
def test_nothing_is_generated_by_an_lm_that_can_tell_labels(mechanism: Any) -> None:
    told = ScriptedLabels(lambda r: {r.labels[0]: 0.5, r.labels[1]: 0.25})
    data = mechanism.measure(panel_of(TEXTS), told, seed=0)
    assert data.attrs["reply"] == "labels"
    written = ScriptedChat(lambda r: "none")
    data = mechanism.measure(panel_of(TEXTS), written, seed=0)
    assert data.attrs["reply"] == "generated" and not any(r.labels for r in written.seen)
    assert "label" not in data.sizes
    asked = replace(mechanism, reply="generated")
    both = ScriptedChat(lambda r: "none", capabilities=told.capabilities)
    asked.measure(panel_of(TEXTS), both, seed=0)
    assert both.seen == written.seen, "reply=generated asks what was always asked"
    chat = {"critic": "chat"} if mechanism is CRITIC else {}
    only = replace(mechanism, reply="labels", **chat)
    assert only.requires[0] == {Capability.LABELS}
    with pytest.raises(CapabilityError, match=r"scripted cannot: set mechanism\.reply=auto"):
        only.measure(panel_of(TEXTS), ScriptedChat(lambda r: "one"), seed=0)
    with pytest.raises(ConfigError, match="draws no replies"):
        replace(only, temperature=0.7)


def test_verdicts_are_of_both_orders_and_those_of_greedy_decoding() -> None:
    lm = ScriptedLabels(lambda r: {"one": 0.3, "One": 0.1, "Two": 0.35})
    data = PAIRWISE.measure(panel_of(TEXTS), lm, seed=0)
    off = ~np.eye(3, dtype=bool)
    assert (data["verdict"].values[:, off] == 0).all(), "greedy says Two: its token is likeliest"
    assert len(measurement_records(data)) == 2 * 6
    scores = PAIRWISE.score(data)
    assert scores.diagnostics["first_preferred"] == 0.0


def test_the_critic_is_asked_about_both_kinds_of_pairs() -> None:
    def rule(request: ChatRequest) -> Mapping[str, float]:
        body = request.messages[0].content
        same = max(body.count(source) for source in ("elks", "foxes")) == 2
        return {"[[Significant Gain]]": 0.8} if same else {"[[No Gain]]": 0.6}

    data = CRITIC.measure(panel_of(TEXTS), ScriptedLabels(rule), seed=0)
    off = ~np.eye(3, dtype=bool)
    assert (data["p"].values[:, off] == 1).all() and (data["q"].values[:, off] == 0).all()
    assert data.attrs["critic"] == "chat"
    assert data.attrs["prompt"] == Prompt("tvd_mi_label.txt").identity
    np.testing.assert_array_equal(CRITIC.score(data).agent.values, np.ones((2, 3)))


def test_the_likeliest_grade_is_the_grade() -> None:
    lm, ten = always(**{"2": 0.1, "4": 0.3}), always(**{"10": 0.3, "0": 0.1})
    twice = replace(RATING, repeats=2)
    asked: list[tuple[Any, ScriptedLabels, str, float, tuple[int, ...]]] = [
        (POINTWISE, lm, "value", 4, (2, 3)),
        (EXAMINER, ten, "value", 10, (2, 3)),
        (twice, lm, "rating", 4, (2, 3, 1, 2)),
    ]
    for mechanism, judge, name, grade, shape in asked:
        data = mechanism.measure(panel_of(TEXTS), judge, seed=0)
        np.testing.assert_allclose(data[name].values, np.full(shape, grade), atol=1e-6)


def test_prompts_of_a_users_own_are_not_passed_over(tmp_path: Path) -> None:
    lm = always(one=1.0)
    explains = own(tmp_path, "{task} {source} {one} {two} Think first, then say which.")
    assert not replace(PAIRWISE, prompt=explains).by_labels(lm)
    assert replace(PAIRWISE, prompt=explains, reply="labels").by_labels(lm)
    mine = own(tmp_path, "{task} {source} {a} {b}")
    assert not replace(JUDGE, prompt=mine).by_labels(lm), "ours is not its label form"
    assert replace(JUDGE, prompt=mine, prompt_labels=own(tmp_path, "{a} {b}")).by_labels(lm)
    assert not replace(JUDGE, prompt_labels=None).by_labels(lm)
    forced = replace(JUDGE, prompt_labels=None, reply="labels")
    assert forced.prompt_for(lm) is forced.prompt
    assert JUDGE.prompt_for(lm).file == "judge_label.txt"
    assert JUDGE.prompt_for(ScriptedChat(lambda r: "x")).file == "judge.txt"
    assert not replace(PAIRWISE, temperature=0.7).by_labels(lm), "draws are generated"
    with pytest.raises(ConfigError, match="two grades"):
        replace(POINTWISE, low=0.2, high=1.5, reply="labels")


def test_confidence_is_that_of_the_label_among_the_allowed_ones() -> None:
    told = (("one", math.log(0.2)), ("One", math.log(0.1)), ("two", math.log(0.1)))
    told += (("Two", -30.0), ("tie", -30.0), ("Tie", -30.0))
    assert label_nats(Reply("one", label_logprobs=told)) == pytest.approx(math.log(0.75))
    assert math.isnan(label_nats(Reply("tie", label_logprobs=told)))
    exam = SelfConfidence(PAIRWISE, Prompt("self_confidence.txt"), easy=("a", "b"), hard=("a", "c"))
    names = tuple(Agent(name) for name in ("a", "b", "c"))
    panel = Panel((Item("i", "s"),), names, (("fine", "awful", "good"),), "task")
    lm = ScriptedLabels(
        lambda r: {"one": 0.9, "two": 0.1} if "awful" in str(r) else {"one": 0.5, "two": 0.4}
    )
    answers = exam.take(exam.prepare(panel, lm, seed=0), lm, seed=0)
    assert answers.absence == "" and answers.hard is not None
    np.testing.assert_allclose(answers.scored, math.log(0.9), atol=1e-6)
    np.testing.assert_allclose(answers.hard, math.log(0.5 / 0.9), atol=1e-6)


def test_the_cache_keeps_labels_apart_and_old_keys_as_they_were(tmp_path: Path) -> None:
    plain = ask("Which?", 0.0, 16, 1, 5, ("m", "i"))
    assert chat_key("lm", plain).hex() == "0c211e9862bd8b6c27c94c14cf19e0f4"
    closed = replace(plain, labels=("one", "two"))
    assert chat_key("lm", closed) != chat_key("lm", plain)
    assert chat_key("lm", closed) != chat_key("lm", replace(closed, labels=("one", "tie")))
    lm = always(one=0.5, two=0.25)
    cached = CachedLM(lm, CallCache(tmp_path / "calls.sqlite"))
    data = PAIRWISE.measure(panel_of(TEXTS), cached, seed=0)
    assert [len(batch) for batch in lm.seen] == [6, 6], "a batch an item"
    again = PAIRWISE.measure(panel_of(TEXTS), cached, seed=0)
    assert data.identical(again) and len(lm.seen) == 2
    cached.close()


def test_workers_get_an_item_at_a_time_and_a_dry_run_counts_no_reply(tmp_path: Path) -> None:
    lm = CachedLM(always(one=0.5), CallCache(tmp_path / "calls.sqlite"))
    shards = open_batches(lambda asked: PAIRWISE.measure(panel_of(TEXTS), asked, seed=0), lm)
    assert [len(shard.questions) for shard in shards] == [6, 6]
    counted = CountingLM(always(one=0.5))
    counted.begin("clean")
    PAIRWISE.measure(panel_of(TEXTS), counted, seed=0)
    tally = counted.stages["clean"]
    assert (tally.calls, dict(tally.kinds), tally.output_tokens) == (12, {"closed": 12}, 0)
    assert 12 * 60 < tally.input_tokens < 12 * 200 and list(counted.trials) == ["closed"]
    asked = counted.trials["closed"].questions
    mixed = [replace(r, labels=()) if k == 1 else r for k, r in enumerate(asked)]
    parts = [[mixed.index(one) for one in part.questions] for part in ChatBatch(mixed).shards(8)]
    assert parts == [[0, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [1]]
