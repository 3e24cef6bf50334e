"""Texts that reach a terminal or a spreadsheet are harmless there, and a full disk is named."""

from __future__ import annotations

import errno
import io
import sqlite3
import sys
from pathlib import Path
from typing import NoReturn

import pandas as pd
import pytest

from judgelab.config.launch import guarded, sentence
from judgelab.core.errors import ConfigError
from judgelab.core.terminal import harmless, say
from judgelab.report import console
from judgelab.report.page import quoted, unquoted, write_csv
from judgelab.report.progress import Progress
from judgelab.store.disk import disk_fault
from judgelab.store.run_dir import RunDir
from judgelab.study.leaderboard import read_benchmarks
from judgelab.tracker.protocol import Careful, Mirror, TrackedRun

HOSTILE = "\x1b]0;pwned\x07\x1b[2Jred\x9b31m\x08\r\u202egnp\u2066.\x00exe\x7f\ud800"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (HOSTILE, "]0;pwned[2Jred31m gnp.exe"),
        ("Größe 模型 🙂 e\u0301\n\tnext\r\nlast", "Größe 模型 🙂 e\u0301\n\tnext\nlast"),
        ("👩\u200d🚀 \u0915\u094d\u200d\u0937", "👩\u200d🚀 \u0915\u094d\u200d\u0937"),
    ],
)
def test_what_controls_a_terminal_is_taken_out_and_the_rest_stays(text: str, left: str) -> None:
    assert harmless(text) == left


def test_lines_go_to_the_stream_that_is_there_and_end_at_no_character(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say("x", sys.stderr)
    assert tuple(capsys.readouterr()) == ("", "x\n")
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    say("Größe", stream)
    stream.seek(0)
    assert stream.read() == "Gr??e\n"


class Broken(Mirror):
    """A mirror, and its tracker, whose fault quotes a server."""

    def follow(self, run: TrackedRun) -> Mirror:
        return self

    def close(self) -> None:
        raise OSError(HOSTILE)


def test_nothing_that_leaves_to_the_terminal_controls_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> NoReturn:
        raise ConfigError(HOSTILE)

    monkeypatch.setattr("sys.argv", ["run.py"])
    with pytest.raises(SystemExit):
        guarded(fail)
    console.page([HOSTILE, console.line(HOSTILE)])
    Careful(Broken(), None).close()  # type: ignore[arg-type]
    progress = Progress(lambda: HOSTILE, first=0.0)
    progress.stage(HOSTILE, 2)
    progress.advance(1)
    said = "".join(capsys.readouterr())
    assert said.count("pwned") == 6
    assert not [c for c in said if not c.isprintable() and c != "\n"]


FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "\t=1", "\r=1", "-")
PLAIN: tuple[object, ...] = (-0.5, 3, None, True, "-0.5", "+3", "-inf", "'tis", "a=b", "")


def test_formulas_alone_are_quoted_and_come_back() -> None:
    for text in FORMULAS:
        assert quoted(text) == f"'{text}" and unquoted(f"'{text}") == text
    for cell in PLAIN:
        assert quoted(cell) is cell
        assert not isinstance(cell, str) or unquoted(cell) == cell


def test_a_table_keeps_its_numbers_and_gives_names_back(tmp_path: Path) -> None:
    names = ["@cf/model", "=HYPERLINK(1)", "plain"]
    rows = pd.DataFrame({"candidate": names, "=d": [-0.5, 1.0, None], "note": ["-0.5", "-x", None]})
    write_csv(RunDir(tmp_path), "board.csv", rows)
    assert (tmp_path / "board.csv").read_text().splitlines() == [
        "candidate,'=d,note",
        "'@cf/model,-0.5,-0.5",
        "'=HYPERLINK(1),1.0,'-x",
        "plain,,",
    ]
    assert list(read_benchmarks(str(tmp_path / "board.csv")).index) == names


QUOTA = RuntimeError("wrapped")
QUOTA.__cause__ = OSError(errno.EDQUOT, "Disk quota exceeded")


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "a.csv"), "a.csv cannot be written: no"),
        (OSError("[Errno 28] Error writing bytes: No space left on device"), "A file cannot be"),
        (QUOTA, "your disk quota is used up"),
        (sqlite3.OperationalError("database or disk is full"), "no space is left"),
        (OSError(errno.EFBIG, "File too large"), r"ulimit -f"),
    ],
)
def test_faults_of_the_disk(cause: Exception, said: str) -> None:
    assert said in sentence(cause)
    assert "Unexpected" not in sentence(cause)


def test_other_faults_are_not_the_disks(tmp_path: Path) -> None:
    for cause in (ValueError("x"), FileNotFoundError(2, "No such file", "f"), MemoryError()):
        assert disk_fault(cause) is None
    assert disk_fault(sqlite3.OperationalError("disk I/O error"), tmp_path / "c.sqlite") is None


def test_a_file_that_found_no_room_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    def write(path: Path) -> None:
        path.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space") as caught:
        RunDir(tmp_path)._whole("result.json", write)
    assert sentence(caught.value).startswith(f"{tmp_path / 'result.json'} cannot be written")
    assert not list(tmp_path.iterdir())
