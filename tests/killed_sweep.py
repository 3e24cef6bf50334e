"""A parallel sweep of paid jobs, and the kill -9 of the process that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.conftest import ROOT, environment
from tests.servers.process import Running

CORES = ("-m", "hydra/launcher=cores", "hydra.launcher.n_jobs=2")


@dataclass(frozen=True)
class Killed:
    """What a kill left behind.

    Attributes:
        before: requests that had arrived.
        after: requests that arrived later, those on their way at the kill included.
        living: processes of the sweep that were still there after ``patience`` seconds.
    """

    before: int
    after: int
    living: int


def start(root: Path, overrides: Sequence[str]) -> subprocess.Popen[bytes]:
    """A sweep whose jobs run beside each other, with its output below ``root``."""
    quiet = subprocess.DEVNULL
    command = [sys.executable, "run.py", *CORES, *overrides]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment(root), stdout=quiet, stderr=quiet, process_group=0
    )


def kill_parent(
    root: Path, server: Running, overrides: Sequence[str], at: int, patience: float = 20.0
) -> Killed:
    """Start a sweep and kill its first process, and no other, after ``at`` more requests."""
    server.log.touch()
    target = count(server) + at
    sweep = start(root, overrides)
    while count(server) < target and sweep.poll() is None:
        time.sleep(0.005)
    assert sweep.poll() is None, "the sweep ended before it was killed"
    sweep.send_signal(signal.SIGKILL)
    before = count(server)
    sweep.wait()
    until = time.monotonic() + patience
    while (living := _group(sweep.pid)) and time.monotonic() < until:
        time.sleep(0.1)
    if living:
        os.killpg(sweep.pid, signal.SIGKILL)
    return Killed(before, count(server) - before, living)


def count(server: Running) -> int:
    """Requests that have arrived."""
    return server.log.read_bytes().count(b'"seen"')


def _group(group: int) -> int:
    """Processes of a group that are alive."""
    found = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found += fields[2] == str(group) and fields[0] != "Z"
    return found
