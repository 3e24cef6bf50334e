"""A full disk is named, whichever library met it; other faults are not taken for one."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

import pytest

from judgelab.config.launch import sentence
from judgelab.core.errors import disk_fault
from judgelab.store.run_dir import RunDir

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
    assert "fault of judgelab" not in sentence(cause)


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
