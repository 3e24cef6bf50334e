"""Calls that gave nothing usable are known with their reasons, each once."""

from __future__ import annotations

from pathlib import Path

from judgelab.core.lm import ChatRequest, Message
from judgelab.core.outcomes import CallOutcomes, Unscored
from judgelab.store.cache import CallCache
from judgelab.store.cached_lm import Cached
from tests.unit.store.test_cache import Counting


def test_a_call_counts_once_whatever_its_order() -> None:
    outcomes = CallOutcomes()
    outcomes.asked(dict.fromkeys((b"a", b"b", b"c", b"a"), ()))
    outcomes.note(
        b"c", Unscored("evaluation_lm", "chat", ("judge", "q1"), "timeout", settled=False)
    )
    outcomes.note(b"a", Unscored("evaluation_lm", "chat", ("judge", "q2"), "refused"))
    outcomes.note(b"a", Unscored("evaluation_lm", "chat", ("judge", "q2"), "refused"))
    assert (outcomes.calls, outcomes.reasons) == (3, {"refused": 1, "timeout": 1})
    assert [one.reason for one in outcomes.unscored] == ["refused", "timeout"]
    assert [one.about for one in outcomes.unsettled] == [("judge", "q1")]


def test_unanswered_and_unread_calls_of_an_lm_are_noted_with_its_role(tmp_path: Path) -> None:
    outcomes = CallOutcomes()
    refusing = Cached(
        Counting("lm", refuse=True), CallCache(tmp_path / "c.sqlite"), None, outcomes, "writer_lm"
    )
    request = ChatRequest((Message("user", "hi"),), key=("judge", "q1", "a", "b"))
    refusing.chat([request])
    refusing.logprob(["c"], ["target"], [(0, 0)])
    answering = Cached(Counting("other"), CallCache(tmp_path / "c.sqlite"), None, outcomes)
    answering.unread(request, answering.chat([request])[0], "none of the labels")
    found = {(one.judge, one.verb, one.about, one.reason, one.reply) for one in outcomes.unscored}
    assert found == {
        ("writer_lm", "chat", request.key, "refused", None),
        ("writer_lm", "logprob", ("target",), "no reason given", None),
        ("evaluation_lm", "chat", request.key, "none of the labels", "other: hi #0"),
    }
    assert outcomes.calls == 3
