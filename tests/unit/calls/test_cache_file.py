"""What a cache's file goes through: other layouts, damage, kills, and nothing wrong is served."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import time
from pathlib import Path

import pytest

from judgelab.calls.cache import SCHEMA, CallCache
from judgelab.calls.cached import Cached
from judgelab.core.errors import DataError
from judgelab.engine.models import ModelInUse
from tests.cache_damage import REFUSED, WRONG, cut, flip, make, outcome, trial
from tests.scripted import ScriptedLogProb


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
    for read_only in (True, False):
        said = rf"its layout is {version}, and this judgelab reads 2 alone\): move it away"
        with pytest.raises(DataError, match=said):
            CallCache(file, read_only)
    assert file.read_bytes() == before


def test_an_empty_file_that_a_killed_run_left_is_an_empty_cache(tmp_path: Path) -> None:
    file = tmp_path / "c.sqlite"
    file.touch()
    for read_only in (True, False):
        cache = CallCache(file, read_only)
        assert cache.get(keys(3)) == {}
        cache.close()


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
    assert cache.damaged == 2
    assert caplog.text.count("damaged rows") == 1
    cache.add({b"k": "one", b"l": "not kept", b"n": "four"})
    assert cache.get([b"k", b"l", b"n"]) == {b"k": "one", b"l": "two", b"n": "four"}
    cache.close()


def test_the_manifest_tells_of_damaged_rows_whose_questions_were_asked_again(
    tmp_path: Path,
) -> None:
    file, third = tmp_path / "c.sqlite", "CAST(answer AS TEXT) LIKE '[-3%'"
    damage = f"UPDATE answer SET answer = '[-7.0, 1]' WHERE {third}"
    lm, told = ScriptedLogProb(lambda c, t: -float(len(c + t))), []
    for change in (damage, "PRAGMA user_version", "PRAGMA user_version"):
        cached = Cached(lm, CallCache(file))
        assert cached.logprob(["a"], ["x", "yy"], [(0, 0), (0, 1)]).total.tolist() == [-2.0, -3.0]
        account = ModelInUse(cached, None).account()
        told.append((account.get("damaged_rows"), account["calls"]["computed"]))
        cached.close()
        raw(file, change)
    assert told == [(None, 2), (1, 1), (None, 0)]


def test_a_newer_reply_takes_the_place_of_an_earlier_one_where_that_is_asked(
    tmp_path: Path,
) -> None:
    cache = CallCache(tmp_path / "c.sqlite")
    cache.add({b"k": "one", b"l": "one"})
    cache.add({b"k": "two", b"l": "two"})
    cache.add({b"k": "three"}, [b"k"])
    assert cache.get([b"k", b"l"]) == {b"k": "three", b"l": "one"}
    cache.close()


def test_only_the_owner_may_read_a_cache(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        cache = CallCache(tmp_path / "outputs" / "cache" / "c.sqlite")
        cache.add({b"k": "one"})
    finally:
        os.umask(before)
    for path in (tmp_path / "outputs").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert stat.S_IMODE((tmp_path / "outputs").stat().st_mode) == 0o700
    cache.close()


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
    truth.answers[b"k"] = "one"
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
