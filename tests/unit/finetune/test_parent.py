"""The process that trains leaves nothing behind, and nothing that it started is waited for."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judgelab.core.resources import PACKAGE
from judgelab.finetune.fit import carry

START = """
import fcntl, os, sys, time
def start(apart):
    ready, tell = os.pipe()
    if os.fork() == 0:
        if apart:
            os.setsid()
        lock = open(sys.argv[1], "w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        print(os.getpid(), file=lock, flush=True)
        os.write(tell, b"1")
        time.sleep(60)
        os._exit(0)
    os.read(ready, 1)
"""
REPORT = """
print('["line", "loss 0.500"]')
print('["done", {"steps": 1}]', flush=True)
os._exit(3)
"""


def gone(held: Path) -> bool:
    """Whether the process that locked the file ends within seconds."""
    with held.open() as file:
        for _ in range(100):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.05)
            else:
                return True
    return False


@pytest.mark.parametrize("apart", [False, True])
def test_a_process_that_outlives_the_child_is_not_waited_for(tmp_path: Path, apart: bool) -> None:
    held, lines, start = tmp_path / "held", list[str](), time.monotonic()
    command = [sys.executable, "-c", f"{START}\nstart({apart})\n{REPORT}", str(held)]
    done, code = carry(command, "a job", os.environ, {"line": lines.append})
    assert (done, code, len(lines)) == ({"steps": 1}, 3, 1) and "loss 0.500" in lines[0]
    assert time.monotonic() - start < 40
    if apart:  # in a session of its own it cannot be found
        os.kill(int(held.read_text()), signal.SIGKILL)
    assert gone(held)


def test_a_killed_child_is_the_end_though_its_own_process_holds_the_pipe(tmp_path: Path) -> None:
    held, start = tmp_path / "held", time.monotonic()
    program = f"{START}\nstart(False)\nos.kill(os.getpid(), 9)"
    assert carry([sys.executable, "-c", program, str(held)], "a job", os.environ, {}) == (
        None,
        -signal.SIGKILL,
    )
    assert time.monotonic() - start < 40 and gone(held)


def test_the_child_takes_along_what_it_started_when_its_parent_ends(tmp_path: Path) -> None:
    held = tmp_path / "held"
    program = f"{START}\nstart(False)\nprint('started', flush=True)\n"
    program += "from judgelab.finetune.child import _end_with_the_parent\n_end_with_the_parent()"
    pipe, environment = subprocess.PIPE, {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-c", program, str(held)]
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, env=environment, start_new_session=True
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        assert child.stdout.readline() == b"started\n"
        child.stdin.close()  # as the system does when a parent is killed
        assert child.wait(30) != 0
    assert gone(held)
