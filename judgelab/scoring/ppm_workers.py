"""Processes that compress side by side and stay small."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from itertools import islice
from typing import BinaryIO, cast

from judgelab.core.errors import ConfigError
from judgelab.scoring import ppm

CHUNK = 100  # texts a process takes at a time: 30 ms of work, 2 MB that its fork loses


class Workers:
    """``count`` processes of ``ppm``; they start with the first texts and end with ``close``.

    They also end when this process does, in whatever way: their input ends then. Ctrl-C reaches
    this process alone.

    Args:
        count: how many.
        order: longest context of the predictor, in bytes.
        memory: memory of the predictor in bytes.
    """

    def __init__(self, count: int, order: int, memory: int) -> None:
        self.count, self._arguments = count, (str(order), str(memory))
        self._running: list[subprocess.Popen[bytes]] = []
        weakref.finalize(self, _stop, self._running, os.getpid())

    def close(self) -> None:
        """End the processes; the next texts start others."""
        _stop(self._running, os.getpid())

    def sizes(self, texts: Iterable[bytes]) -> list[int]:
        """Compressed size of each text in bytes; few of the texts are held at a time.

        Raises:
            ConfigError: a process ended before it had answered.
        """
        while len(self._running) < self.count:
            self._running.append(self._start())
        chunks, taking = enumerate(_chunks(texts)), threading.Lock()
        found: dict[int, list[int]] = {}

        def work(worker: subprocess.Popen[bytes]) -> None:
            while True:
                with taking:
                    number, chunk = next(chunks, (-1, []))
                if not chunk:
                    return
                found[number] = _ask(worker, chunk)

        with ThreadPoolExecutor(self.count) as threads:
            try:
                for job in as_completed([threads.submit(work, w) for w in self._running]):
                    job.result()
            except BaseException:
                self.close()  # the other threads end as well, instead of going on
                raise
        return [size for number in sorted(found) for size in found[number]]

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-P", ppm.__file__, *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,
        )


def _ask(worker: subprocess.Popen[bytes], texts: list[bytes]) -> list[int]:
    try:
        ppm.send(cast(BinaryIO, worker.stdin), texts)
        return ppm.numbers(cast(BinaryIO, worker.stdout), len(texts))
    except (OSError, EOFError, ValueError) as cause:  # ValueError: closed by another thread's fault
        raise ConfigError(
            "A process that compresses texts for evaluation_lm=compression ended early, most "
            "likely for lack of memory: set evaluation_lm.workers to fewer processes."
        ) from cause


def _chunks(texts: Iterable[bytes]) -> Iterator[list[bytes]]:
    left = iter(texts)
    while chunk := list(islice(left, CHUNK)):
        yield chunk


def _stop(running: list[subprocess.Popen[bytes]], owner: int) -> None:
    if os.getpid() != owner:
        return  # a fork of the process that uses them
    while running:
        worker = running.pop()
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)  # with its fork
            worker.wait()
        for stream in (worker.stdin, worker.stdout):
            with suppress(BrokenPipeError):  # what was still to be written has no reader any more
                cast(BinaryIO, stream).close()
