"""kill -9 of the parent of a parallel sweep: what arrives after it, and what is left alive."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from tests.check_faults.trial import start
from tests.servers.process import Running

GRACE = 0.5  # seconds after a kill in which what was on its way may still arrive
LINGER = 10.0  # seconds in which every worker must have ended
WATCH = 1.0  # seconds that the server is watched for after a kill


def one_kill(
    root: Path,
    job: list[str],
    server: Running,
    requests: int,
    number: int,
    grace: float = GRACE,
) -> tuple[int, int]:
    """(requests that arrived late, workers alive) after a kill; -1: the sweep ended first."""
    before = server.account().requests if server.log.exists() else 0
    parent = start(root, job, root / f"said_{number}.txt")
    while parent.poll() is None and count(server) < before + requests:
        time.sleep(0.01)
    if parent.poll() is not None:
        return -1, 0
    parent.send_signal(signal.SIGKILL)
    at = time.monotonic()
    parent.wait()
    time.sleep(grace + WATCH / 2)
    late = sum(arrival > at + grace for arrival in server.account().times)
    while (alive := at_work(parent.pid)) and time.monotonic() < at + LINGER:
        time.sleep(0.05)
    for process in alive:
        os.kill(process, signal.SIGKILL)
    return late, len(alive)


def count(server: Running) -> int:
    return server.log.read_bytes().count(b'"seen"') if server.log.exists() else 0


def at_work(session: int) -> list[int]:
    """Processes of a session, those that only clean up left out."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = entry.joinpath("stat").read_text().rpartition(")")[2].split()
            command = entry.joinpath("cmdline").read_bytes()
        except OSError:
            continue
        if int(words[3]) == session and words[0] != "Z" and b"resource_tracker" not in command:
            found.append(int(entry.name))
    return found
