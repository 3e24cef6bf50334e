"""A dry run tries a few calls of an LM that runs here, and none of a paid one."""

from __future__ import annotations

import time

import pytest

from judgelab.calls.cached import Counted
from judgelab.calls.pace import Limits
from judgelab.core.lm import ChatRequest, Message
from judgelab.engine import dry_run
from judgelab.engine.dry_run import minutes_here, pace
from judgelab.evaluation_lm.compression import Compression
from judgelab.evaluation_lm.openai import OpenAI
from tests.scripted import ScriptedChat

WAIT = 0.02


def questions(count: int) -> list[ChatRequest]:
    return [ChatRequest((Message("user", f"question {i}"),), 0.0, 8) for i in range(count)]


def slowly(request: ChatRequest) -> str:
    time.sleep(WAIT)
    return "one"


def test_the_pace_is_that_of_a_few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dry_run, "TRIAL", 0.5)
    lm = ScriptedChat(slowly)
    counted = Counted(lm)
    counted.begin("judging")
    counted.chat(questions(10_000))
    assert not lm.seen, "counting asks nothing"
    found = pace(counted)
    assert list(found) == ["chat"] and WAIT <= found["chat"] < 3 * WAIT
    assert 3 < len(lm.seen) <= 0.5 / WAIT + 2
    tally = counted.stages["judging"]
    assert (tally.calls, tally.chats) == (10_000, 10_000)
    assert minutes_here(tally, found) == pytest.approx(10_000 * found["chat"] / 60)
    assert minutes_here(tally, {}) is None, "unknown, not 0"


def test_the_pace_of_pairs_is_the_compressors_own() -> None:
    counted = Counted(Compression())
    counted.begin("clean")
    contexts, targets = ["a context of some words " * 20], ["some words " * 10, "other text"]
    counted.logprob(contexts, targets, [(0, 0), (0, 1)])
    found = pace(counted)
    assert list(found) == ["pair"] and 0 < found["pair"] < 1
    assert counted.stages["clean"].chats == 0


def test_a_paid_endpoint_is_not_tried() -> None:
    nowhere = OpenAI("m", "http://127.0.0.1:9/v1", Limits(), api_key_env=None)
    counted = Counted(nowhere)
    counted.begin("judging")
    counted.chat(questions(2))
    assert pace(counted) == {}
