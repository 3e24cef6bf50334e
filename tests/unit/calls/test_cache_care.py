"""``python -m judgelab.calls.cache``: what it says of a cache, and what it removes."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

import pytest

from judgelab.calls.cache import CallCache
from judgelab.calls.cache_care import main
from judgelab.calls.cached import Claims
from judgelab.core.lm import LogProb
from tests.unit.calls.test_cache_file import raw


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "calls.sqlite"
    cache = CallCache(file)
    cache.note_lm("an LM", "chat")
    replies: list[dict[str, object]] = [
        {"text": "fine", "reason": None},
        *({"text": None, "reason": "refused"} for _ in range(2)),
        {"tokens": ["a"], "logprobs": [None]},
    ]
    cache.add_chats({bytes([n]) * 16: json.dumps(reply) for n, reply in enumerate(replies)})
    cache.add_chats({b"\0" * 16: '{"text": "better"}'}, replace=True)
    cache.add_logprobs({bytes([n]) * 16: LogProb(-1.0, 1) for n in range(200)})
    cache.close()
    return file


def said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    sys.argv = ["cache", *map(str, words)]
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    printed = capsys.readouterr()
    return ended.value.code, printed.out + printed.err


def test_a_sound_cache(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = file.read_bytes()
    code, text = said(capsys, "check", file)
    assert (code, text.splitlines()[-1]) == (0, "sound")
    code, text = said(capsys, "stats", file)
    assert code == 0
    for line in ("chat of an LM", "replies: 3", "scored prompts: 1", "log-probabilities: 200"):
        assert line in text
    assert "replies without a result: 2\n  2 refused" in text
    assert file.read_bytes() == before


def test_damaged_rows_are_told_and_removed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw(file, "UPDATE logprob SET total = -2.0 WHERE key < ?", bytes([50]) * 16)
    cache = CallCache(file)
    living, dead = Claims(cache), Claims(cache)
    living.take([b"1"])
    dead.take([b"2"])
    raw(file, "INSERT INTO claim VALUES (?, '../../no name of an owner')", b"3")
    dead._mark.close()
    code, text = said(capsys, "check", file)
    assert code == 1
    assert "log-probabilities: 200 rows, 50 of them damaged" in text
    assert "damaged rows: 50" in said(capsys, "stats", file)[1]
    code, text = said(capsys, "prune", file)
    assert code == 0
    assert "removed: 50 damaged rows, 2 claims and 0 marks" in text
    assert said(capsys, "check", file)[0] == 0
    assert raw(file, "SELECT key FROM claim") == [(b"1",)]
    living.close()
    cache.close()


def test_damaged_pages_and_foreign_files(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = bytearray(file.read_bytes())
    data[-4096:-2048] = b"\xff" * 2048
    file.write_bytes(data)
    code, text = said(capsys, "check", file)
    assert code == 1 and "damaged:" in text and "\nsound" not in text
    sqlite3.connect(tmp_path / "other.sqlite").execute("CREATE TABLE x (y)")
    for path, what in ((tmp_path / "other.sqlite", "not written by"), (tmp_path / "no", "no call")):
        code, text = said(capsys, "prune", path)
        assert code == 1 and what in text
