"""The log of calls: each different question once, with what came of it and what it took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judgelab.calls.batch import LoggedCall
from judgelab.calls.budget import price_of
from judgelab.calls.cache import CallCache
from judgelab.calls.cached import CachedLM
from judgelab.calls.log import CallLog, LoggedLM
from judgelab.core.errors import DataError
from judgelab.core.lm import Reply
from judgelab.engine.models import alike
from tests.scripted import ScriptedLogProb, ask
from tests.unit.calls.test_cache import Counting


def test_a_call_counts_once_whatever_its_order() -> None:
    log = CallLog()
    for key, name in ((b"c", "q1"), (b"b", "q3"), (b"a", "q2"), (b"a", "q2")):
        log.note(key, LoggedCall("evaluation_lm", "chat", ("judge", name)))
    log.note(b"c", LoggedCall("evaluation_lm", "chat", ("judge", "x"), "timeout", settled=False))
    log.note(b"a", LoggedCall("evaluation_lm", "chat", ("judge", "q2"), "refused"))
    assert (log.calls, [one.reason for one in log.unscored]) == (3, ["refused", "timeout"])
    assert [one.about for one in log.unscored if not one.settled] == [("judge", "q1")]
    other = CallLog()
    other.note(b"a", LoggedCall("evaluation_lm", "chat", ("judge", "q2")))
    assert set(log.beyond(other).rows) == {b"b", b"c"}


def test_unanswered_and_unread_calls_of_an_lm_are_noted_with_its_role(tmp_path: Path) -> None:
    log = CallLog()
    cache = CallCache(tmp_path / "c.sqlite")
    refusing = CachedLM(Counting("lm", refuse=True), cache, None, log, "writer_lm")
    request = ask("hi", key=("judge", "q1", "a", "b"))
    refusing.chat([request])
    refusing.logprob(["c"], ["target"], [(0, 0)])
    answering = CachedLM(Counting("other"), CallCache(tmp_path / "c.sqlite"), None, log)
    answering.unread(request, answering.chat([request])[0], "none of the labels")
    answering.chat([request])  # the same reply again is no more use
    found = {(one.role, one.verb, one.about, one.reason, one.reply) for one in log.unscored}
    assert found == {
        ("writer_lm", "chat", request.key, "refused", None),
        ("writer_lm", "logprob", ("target",), "no reason given", None),
        ("evaluation_lm", "chat", request.key, "none of the labels", "other: hi #0"),
    }
    assert log.calls == 3


def test_tokens_are_those_that_the_lm_reports() -> None:
    class Reporting(Counting):
        def chat(self, requests: Any) -> list[Reply]:
            return [Reply(None, "filtered", 7, 2, settled=True) for _ in requests]

    lm = LoggedLM(Reporting("reporting"))
    lm.chat([ask("x" * 400)] * 2)
    assert lm.log.bill == (1, 7, 2)
    scored = LoggedLM(ScriptedLogProb(lambda c, t: float("nan") if t == "b" else -1.0))
    scored.logprob(["context "], ["a" * 40, "b"], [(0, 0), (0, 1), (0, 0)])
    assert scored.log.bill == (1, 13, 0)
    assert scored.log.calls == 2


def test_an_unknown_price_is_unknown_and_never_free(tmp_path: Path) -> None:
    mini = price_of("gpt-4o-mini")
    assert mini is not None
    assert mini.cost(2_000_000, 1_000_000) == pytest.approx(0.9)
    assert price_of("nobody's model") is None
    own = tmp_path / "prices.yaml"
    own.write_text("currency: EUR\nmodels:\n  a: {input: 1, output: 2}\n  b: {input: ~, output: 1}")
    known = price_of("a", str(own))
    assert known is not None
    assert known.currency == "EUR"
    assert price_of("b", str(own)) is None
    own.write_text("models: 3")
    with pytest.raises(DataError, match="price list"):
        price_of("a", str(own))


@pytest.mark.parametrize(
    ("asked", "answered", "same"),
    [
        ("gpt-4o-mini", "gpt-4o-mini-2024-07-18", True),
        ("gpt-4", "gpt-4.1", False),
        ("gpt-4o", "gpt-4o-mini", False),
        ("llama-3", "llama-3-70b", False),
        ("meta-llama/Llama-3-8B", "Llama-3-8B", True),
        ("llama-3-8b", "/models/llama-3-8b.gguf", True),
        ("meta-llama/llama-3-8b:free", "meta-llama/llama-3-8b", True),
        ("llama3", "llama3:latest", True),
        ("llama3:8b", "llama3:70b", False),
        ("gemini-2.5-pro", "gemini-2.5-pro-preview-03-25", True),
    ],
)
def test_names_of_one_model(asked: str, answered: str, same: bool) -> None:
    assert alike(asked, answered) is same
