"""Who is asked for what: roles of LMs, and settings that only some options have."""

from __future__ import annotations

import time
from typing import Any

import pytest

from judgelab.calls.cached import CountingLM
from judgelab.calls.pace import Limits
from judgelab.config import fitting, frame, resolved
from judgelab.config.composing import IF_KNOWN, as_typed, composed, spelled
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.core.lm import ChatRequest
from judgelab.engine import dry_run
from judgelab.engine.context import build_parts, with_lms
from judgelab.engine.dry_run import minutes_here, pace
from judgelab.evaluation_lm.compression import Compression
from judgelab.evaluation_lm.openai import OpenAI
from judgelab.store.fingerprint import fingerprint
from tests.scripted import ScriptedChat, ask

MINI = "model=gpt-4o-mini "


def config(*words: str) -> dict[str, Any]:
    return resolved(composed([spelled(word) for word in words]))


def test_a_critic_answers_in_words_and_leaves_log_probabilities_to_the_evaluation_lm() -> None:
    given = "evaluation_lm@lms.critic=gpt4o_mini"
    asked, is_critic = with_lms(config("mechanism=tvd_mi", given))
    parts = build_parts(asked)
    assert is_critic
    assert MINI in parts.evaluation_lm.identity
    assert parts.writers["writer_lm"].identity.startswith("compression")
    scored, is_critic = with_lms(config("mechanism=mi", given))
    assert not is_critic
    plain, _ = with_lms(config("mechanism=mi"))
    assert fingerprint(scored) == fingerprint(plain)  # nobody is asked anything else


def test_each_axis_has_its_own_writer_and_one_that_asks_nobody_has_none() -> None:
    words = ("mechanism=gem", "dataset=iclr_reviews", "study=validation", "preprocessor=judgments")
    own = ("evaluation_lm@lms.preprocessor=gpt4o", "evaluation_lm@lms.attack=gpt4o_mini")
    made, _ = with_lms(config(*words, "attack=sentence_deletion", *own))
    assert set(made["lms"]) == {"preprocessor", "attack"}
    synopsis = "evaluation_lm@lms.synopsis=gpt4o"  # that came with the data asks nobody
    assert "lms" not in with_lms(config(*words[:3], synopsis))[0]
    made, _ = with_lms(config(*words, "attack=rephrase", "attack.by=lm", *own))
    parts = build_parts(made)
    assert MINI in parts.writers["lms.attack"].identity
    assert "model=gpt-4o " in parts.writers["lms.preprocessor"].identity
    with pytest.raises(CapabilityError, match=r"evaluation_lm@lms\.attack=OPTION"):
        able = "evaluation_lm@lms.attack=compression"
        build_parts(with_lms(config(*words, "attack=rephrase", "attack.by=lm", able))[0])


def test_an_unknown_role_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"lms.atack is no role of an LM. Did you mean 'attack'"):
        frame(config("mechanism=mi", "+evaluation_lm@lms.atack=gpt4o"))


def test_a_value_with_a_question_mark_counts_where_a_class_takes_it() -> None:
    word = "attack.by=lm?"
    assert as_typed(spelled(word)) == word
    taken, sentences = fitting(config("attack=rephrase", word))
    assert taken["attack"]["by"] == "lm"
    assert sentences == []
    left, sentences = fitting(config("attack=sentence_deletion", word))
    assert "by" not in left["attack"]
    assert sentences == ["attack.by=lm? is without effect: SentenceDeletion has no by."]
    inner = {"l": [{"q": {IF_KNOWN: {"k": {IF_KNOWN: 1}}}}], "seed": {IF_KNOWN: 3}}
    unfit = [one.partition("?")[0] for one in fitting(inner)[1]]
    assert unfit == ["l[0].q={'k': {'if_known': 1}}", "seed=3"]
    plain, _ = fitting(config("attack=sentence_deletion"))
    assert fingerprint(left) == fingerprint(plain)
    assert spelled("mechanism=mi?") == "mechanism=mi?"  # an option is no setting


WAIT = 0.02


def questions(count: int) -> list[ChatRequest]:
    return [ask(f"question {i}", 0.0, 8) for i in range(count)]


def slowly(request: ChatRequest) -> str:
    time.sleep(WAIT)
    return "one"


def test_the_pace_is_that_of_a_few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dry_run, "TRIAL", 0.5)
    lm = ScriptedChat(slowly)
    counted = CountingLM(lm)
    counted.begin("judging")
    counted.chat(questions(10_000))
    assert not lm.seen, "counting asks nothing"
    found = pace(counted)
    assert list(found) == ["chat"] and WAIT <= found["chat"] < 3 * WAIT
    assert 3 < len(lm.seen) <= 0.5 / WAIT + 2
    tally = counted.stages["judging"]
    assert (tally.calls, tally.kinds["chat"]) == (10_000, 10_000)
    assert minutes_here(tally, found) == pytest.approx(10_000 * found["chat"] / 60)
    assert minutes_here(tally, {}) is None, "unknown, not 0"


def test_the_pace_of_pairs_is_the_compressors_own() -> None:
    counted = CountingLM(Compression())
    counted.begin("clean")
    contexts, targets = ["a context of some words " * 20], ["some words " * 10, "other text"]
    counted.logprob(contexts, targets, [(0, 0), (0, 1)])
    found = pace(counted)
    assert list(found) == ["pair"] and 0 < found["pair"] < 1
    assert counted.stages["clean"].kinds["chat"] == 0


def test_a_paid_endpoint_is_not_tried() -> None:
    nowhere = OpenAI("m", "http://127.0.0.1:9/v1", Limits(), api_key_env=None)
    counted = CountingLM(nowhere)
    counted.begin("judging")
    counted.chat(questions(2))
    assert pace(counted) == {}
