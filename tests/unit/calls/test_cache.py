"""Every question is asked once, and no LM ever reads another's answers."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from judgelab.calls.cache import CallCache
from judgelab.calls.cached import Cached
from judgelab.core.errors import DataError
from judgelab.core.lm import (
    Capability,
    ChatRequest,
    EvaluationLM,
    LogProbTable,
    Message,
    Pairs,
    Reply,
)


class Counting(EvaluationLM):
    """Answers by a rule and remembers what it was asked."""

    identity = ""
    capabilities = frozenset({Capability.LOGPROB, Capability.CHAT})
    facts: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, identity: str, refuse: bool = False) -> None:
        self.identity, self.refuse = identity, refuse
        self.seen: list[object] = []

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        asked = [(contexts[c], targets[t]) for c, t in pairs]
        self.seen += asked
        total = [math.nan if self.refuse else -float(len(c) + len(t)) for c, t in asked]
        return LogProbTable(np.array(total), np.array([len(t) for _, t in asked]))

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        self.seen += requests
        if self.refuse:
            return [Reply(None, "refused") for _ in requests]
        return [Reply(f"{self.identity}: {r.messages[0].content} #{r.repeat}") for r in requests]

    def close(self) -> None: ...


def ask(
    text: str, repeat: int = 0, temperature: float = 0.0, key: tuple[str, ...] = ()
) -> ChatRequest:
    return ChatRequest((Message("user", text),), temperature, repeat=repeat, key=key)


def test_pairs_are_computed_once_across_batches_and_processes(tmp_path: Path) -> None:
    inner = Counting("lm")
    lm = Cached(inner, CallCache(tmp_path / "c.sqlite"))
    first = lm.logprob(["a", "b"], ["x", "y"], [(0, 0), (1, 1), (0, 0)])
    again = Cached(inner, CallCache(tmp_path / "c.sqlite"))
    second = again.logprob(["b", "a"], ["y", "x"], [(1, 1), (0, 0), (0, 1)])
    assert inner.seen == [("a", "x"), ("b", "y"), ("b", "x")]
    assert first.total.tolist() == [-2.0, -2.0, -2.0]
    assert second.total.tolist() == [-2.0, -2.0, -2.0]
    assert again.count == {"asked": 3, "computed": 1}


def test_what_can_change_an_answer_changes_the_key_and_labels_do_not(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "c.sqlite")
    a, b = Counting("model-a"), Counting("model-b")
    for inner in (a, b):
        lm = Cached(inner, cache)
        asked = [ask("q"), ask("q", repeat=1), ask("q", temperature=0.7), ask("q", key=("other",))]
        assert lm.chat(asked)[0].text == f"{inner.identity}: q #0"
        lm.logprob(["ab", "a"], ["c", "bc"], [(0, 0), (1, 1)])  # they do not run together
        assert len(inner.seen) == 3 + 2


def test_unscored_answers_are_asked_again(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "c.sqlite")
    failing = Cached(Counting("lm", refuse=True), cache)
    assert failing.chat([ask("q")])[0] == Reply(None, "refused")
    assert np.isnan(failing.logprob(["c"], ["t"], [(0, 0)]).total[0])
    working = Cached(Counting("lm"), cache)
    assert working.chat([ask("q")])[0].text == "lm: q #0"
    assert working.logprob(["c"], ["t"], [(0, 0)]).total[0] == -2.0
    assert working.count["computed"] == 2


def test_a_kill_keeps_what_a_local_lm_answered_before(tmp_path: Path) -> None:
    class Killed(Counting):
        def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
            if any(r.messages[0].content == "q20" for r in requests):
                raise KeyboardInterrupt
            return super().chat(requests)

    requests = [ask(f"q{k}") for k in range(30)]
    cache = CallCache(tmp_path / "c.sqlite")
    with pytest.raises(KeyboardInterrupt):
        Cached(Killed("lm"), cache).chat(requests)
    rest = Counting("lm")
    assert [r.text for r in Cached(rest, cache).chat(requests)] == [
        f"lm: q{k} #0" for k in range(30)
    ]
    assert rest.seen == requests[8:]


def test_a_batch_grows_while_answers_come_quickly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    clock = [0.0]
    monkeypatch.setattr("judgelab.calls.cached.time.monotonic", lambda: clock[0])

    class Timed(Counting):
        pace = 0.01

        def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
            sizes.append(len(requests))
            clock[0] += self.pace * len(requests)
            return super().chat(requests)

    for seconds, expected in ((0.01, [8, 16, 32, 44]), (20.0, [8, *[1] * 92])):
        lm = Timed(f"lm {seconds}")
        lm.pace = seconds
        Cached(lm, CallCache(tmp_path / "c.sqlite")).chat([ask(f"q{k}") for k in range(100)])
        assert sizes == expected
        sizes.clear()


def test_a_text_that_is_none_is_unscored_and_not_asked(tmp_path: Path) -> None:
    inner = Counting("lm")
    lm = Cached(inner, CallCache(tmp_path / "c.sqlite"))
    table = lm.logprob(["a", "\ud83d"], ["x", "y\udc00"], [(0, 0), (1, 0), (0, 1)])
    assert np.isnan(table.total).tolist() == [False, True, True]
    bad, good = lm.chat([ask("\ud83d"), ask("q")])
    assert bad == Reply(None, "a text holds half a character (a lone surrogate)", settled=True)
    assert good.text is not None
    assert inner.seen == [("a", "x"), ask("q")]


def test_foreign_and_damaged_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as db:
        db.execute("CREATE TABLE theirs (x)")
    db.close()
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"not a database, by any means" * 50)
    for path in (foreign, broken):
        before = path.read_bytes()
        with pytest.raises(DataError, match="cannot be used"):
            CallCache(path)
        assert path.read_bytes() == before
