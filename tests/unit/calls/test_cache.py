"""A question is asked once, no LM reads another's answers, and damage never serves a wrong one."""

from __future__ import annotations

import math
import os
import signal
import sqlite3
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from judgelab.calls.cache import SCHEMA, CallCache
from judgelab.calls.cached import CachedLM
from judgelab.core.errors import DataError
from judgelab.core.lm import (
    Capability,
    ChatRequest,
    EvaluationLM,
    LogProb,
    LogProbTable,
    Pairs,
    Reply,
    Strings,
)
from tests.cache_damage import REFUSED, WRONG, cut, flip, make, outcome, trial
from tests.scripted import ScriptedLogProb, ask


class Counting(EvaluationLM):
    """Answers by a rule and remembers what it was asked."""

    identity = ""
    capabilities = frozenset({Capability.LOGPROB, Capability.CHAT})
    facts: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, identity: str, refuse: bool = False) -> None:
        self.identity, self.refuse = identity, refuse
        self.seen: list[object] = []

    def logprob(self, contexts: Strings, targets: Strings, pairs: Pairs) -> LogProbTable:
        asked = [(contexts[c], targets[t]) for c, t in pairs]
        self.seen += asked
        total = [math.nan if self.refuse else -float(len(c) + len(t)) for c, t in asked]
        return LogProbTable([LogProb(v, len(t)) for v, (_, t) in zip(total, asked, strict=True)])

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        self.seen += requests
        if self.refuse:
            return [Reply(None, "refused") for _ in requests]
        return [Reply(f"{self.identity}: {r.messages[0].content} #{r.repeat}") for r in requests]

    def close(self) -> None: ...


def test_pairs_are_computed_once_across_batches_and_processes(tmp_path: Path) -> None:
    inner = Counting("lm")
    lm = CachedLM(inner, CallCache(tmp_path / "c.sqlite"))
    first = lm.logprob(["a", "b"], ["x", "y"], [(0, 0), (1, 1), (0, 0)])
    again = CachedLM(inner, CallCache(tmp_path / "c.sqlite"))
    second = again.logprob(["b", "a"], ["y", "x"], [(1, 1), (0, 0), (0, 1)])
    assert inner.seen == [("a", "x"), ("b", "y"), ("b", "x")]
    assert first.total.tolist() == [-2.0, -2.0, -2.0]
    assert second.total.tolist() == [-2.0, -2.0, -2.0]
    assert again.count == {"asked": 3, "computed": 1}


def test_what_can_change_an_answer_changes_the_key_and_labels_do_not(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "c.sqlite")
    a, b = Counting("model-a"), Counting("model-b")
    for inner in (a, b):
        lm = CachedLM(inner, cache)
        asked = [ask("q"), ask("q", repeat=1), ask("q", temperature=0.7), ask("q", key=("other",))]
        assert lm.chat(asked)[0].text == f"{inner.identity}: q #0"
        lm.logprob(["ab", "a"], ["c", "bc"], [(0, 0), (1, 1)])  # they do not run together
        assert len(inner.seen) == 3 + 2


def test_unscored_answers_are_asked_again(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "c.sqlite")
    failing = CachedLM(Counting("lm", refuse=True), cache)
    assert failing.chat([ask("q")])[0] == Reply(None, "refused")
    assert np.isnan(failing.logprob(["c"], ["t"], [(0, 0)]).total[0])
    working = CachedLM(Counting("lm"), cache)
    assert working.chat([ask("q")])[0].text == "lm: q #0"
    assert working.logprob(["c"], ["t"], [(0, 0)]).total[0] == -2.0
    assert working.count["computed"] == 2


def test_a_text_that_is_none_is_unscored_and_not_asked(tmp_path: Path) -> None:
    inner = Counting("lm")
    lm = CachedLM(inner, CallCache(tmp_path / "c.sqlite"))
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


def keys(count: int) -> list[bytes]:
    return [number.to_bytes(16, "big") for number in range(count)]


def raw(file: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    db = sqlite3.connect(file)
    with db:
        found = list(db.execute(statement, values))
    db.close()
    return found


@pytest.mark.parametrize("version", [0, 1])
def test_a_cache_of_another_layout_is_refused_and_stays(tmp_path: Path, version: int) -> None:
    file = tmp_path / "c.sqlite"
    CallCache(file).close()
    raw(file, f"PRAGMA user_version={version}")
    before = file.read_bytes()
    said = rf"its layout is {version}, and this judgelab reads 2 alone\): move it away"
    with pytest.raises(DataError, match=said):
        CallCache(file)
    assert file.read_bytes() == before


def test_a_damaged_row_is_counted_said_and_replaced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "c.sqlite"
    cache = CallCache(file)
    cache.add({b"k": "one", b"l": "two", b"m": "three"})
    raw(file, "UPDATE answer SET answer = ? WHERE key = ?", b"won", b"k")
    raw(file, "UPDATE answer SET key = ? WHERE key = ?", b"n", b"m")
    for _ in range(2):
        assert cache.get([b"k", b"l", b"m", b"n"]) == {b"l": "two"}
    assert len(cache.damaged) == 2
    assert caplog.text.count("damaged rows") == 1
    cache.add({b"k": "one", b"l": "not kept", b"n": "four"})
    assert cache.get([b"k", b"l", b"n"]) == {b"k": "one", b"l": "two", b"n": "four"}
    cache.close()


def test_the_manifest_tells_of_damaged_rows_that_were_asked_again(tmp_path: Path) -> None:
    file, third = tmp_path / "c.sqlite", "CAST(answer AS TEXT) LIKE '[-3%'"
    damage = f"UPDATE answer SET answer = '[-7.0, 1]' WHERE {third}"
    lm, told = ScriptedLogProb(lambda c, t: -float(len(c + t))), []
    for change in (damage, "PRAGMA user_version", "PRAGMA user_version"):
        cached = CachedLM(lm, CallCache(file))
        assert cached.logprob(["a"], ["x", "yy"], [(0, 0), (0, 1)]).total.tolist() == [-2.0, -3.0]
        account = cached.account()
        told.append((account.get("damaged_rows"), account["calls"]["computed"]))
        cached.close()
        raw(file, change)
    assert told == [(None, 2), (1, 1), (None, 0)]


def test_no_flip_and_no_cut_makes_a_wrong_answer(tmp_path: Path) -> None:
    file = tmp_path / "c.sqlite"
    truth = make(file, rows=60)
    found = trial(file, truth, flip, 40, seed=1) + trial(file, truth, cut, 20, seed=1)
    assert found[WRONG] == found["not repaired"] == 0
    assert len(found) == 3  # right, asked again, refused: the trial damages what matters


def test_a_bit_of_the_log_beside_it_is_no_wrong_answer_either(tmp_path: Path) -> None:
    file = tmp_path / "c.sqlite"
    truth = make(file, rows=30)
    cache = CallCache(file)
    cache.add({b"k": "one"})
    log = file.with_name("c.sqlite-wal").read_bytes()
    cache.close()
    truth[b"k"] = "one"
    whole = file.read_bytes()
    for place in range(0, 8 * len(log), len(log) // 3):
        hurt = bytearray(log)
        hurt[place // 8] ^= 1 << place % 8
        file.write_bytes(whole)
        file.with_name("c.sqlite-wal").write_bytes(hurt)
        assert outcome(file, truth) in ("every row right", REFUSED)


def _child(file: Path) -> int:
    """A process that opens the cache and leaves; its id."""
    pid = os.fork()
    if pid == 0:
        try:
            cache = CallCache(file)
            os._exit(2 if cache.get(keys(5)) or cache.damaged else 0)
        except BaseException:
            os._exit(3)
    return pid


def test_jobs_at_once_and_kills_make_a_cache_whole(tmp_path: Path) -> None:
    file = tmp_path / "c.sqlite"
    for round_ in range(6):
        pid = _child(file)
        time.sleep(0.004 * round_)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        there = len(raw(file, "SELECT name FROM sqlite_master"))
        assert there == (len(SCHEMA) if raw(file, "PRAGMA user_version")[0][0] else 0)
        if there:
            file.unlink()
    pids = [_child(file) for _ in range(4)]
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * 4
