"""Compressed sizes, and processes that compute them side by side without growing.

pyppmd 1.3 keeps the 19 kB of every model that it has made, and the text that it read, for as long
as its process lives. So a worker answers each request in a fork of itself: what is lost goes with
the fork. Workers run this file without the rest of judgelab, so that they start in a twentieth of a
second, have no threads that a fork could catch holding a lock, and need no ``__main__`` of the
process that starts them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import weakref
from array import array
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from itertools import islice
from typing import BinaryIO, cast

import pyppmd

LENGTH = "Q"  # every number that is sent
CHUNK = 100  # texts a process takes at a time: 30 ms of work, 2 MB that its fork loses


class WorkerLost(Exception):
    """A worker ended before it had answered."""


def sizes(texts: Iterable[bytes], order: int, memory: int) -> list[int]:
    """Compressed size of each text in bytes, PPMd variant H. Leaks: see above."""
    result = []
    for text in texts:
        encoder = pyppmd.Ppmd7Encoder(order, memory)
        result.append(len(encoder.encode(text)) + len(encoder.flush()))
    return result


class Workers:
    """``count`` workers; they start with the first texts and end with ``close``.

    They also end when this process does, in whatever way: their input ends then. Ctrl-C reaches
    this process alone. Order (of contexts) and memory, of the predictor, are in bytes.
    """

    def __init__(self, count: int, order: int, memory: int) -> None:
        self.count, self._arguments = count, (str(order), str(memory))
        self._running: list[subprocess.Popen[bytes]] = []
        weakref.finalize(self, _stop, self._running, os.getpid())

    def close(self) -> None:
        """End the workers; the next texts start others."""
        _stop(self._running, os.getpid())

    def sizes(self, texts: Iterable[bytes]) -> list[int]:
        """Size of each text in bytes, few texts held at a time; WorkerLost if one ended early."""
        command = [sys.executable, "-P", __file__, *self._arguments]
        path = os.pathsep.join(filter(None, sys.path))
        while len(self._running) < self.count:
            worker = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | {"PYTHONPATH": path},
                start_new_session=True,
            )
            self._running.append(worker)
        remaining, taking = iter(texts), threading.Lock()
        chunks = enumerate(iter(lambda: list(islice(remaining, CHUNK)), []))
        answers: dict[int, list[int]] = {}

        def work(worker: subprocess.Popen[bytes]) -> None:
            while True:
                with taking:
                    number, chunk = next(chunks, (-1, []))
                if not chunk:
                    return
                try:
                    send(cast(BinaryIO, worker.stdin), chunk)
                    answers[number] = _numbers(cast(BinaryIO, worker.stdout), len(chunk))
                except (OSError, EOFError, ValueError) as cause:  # closed by another thread's fault
                    raise WorkerLost from cause

        with ThreadPoolExecutor(self.count) as threads:
            try:
                for job in as_completed([threads.submit(work, w) for w in self._running]):
                    job.result()
            except BaseException:
                self.close()  # the other threads end as well, instead of going on
                raise
        return [size for number in sorted(answers) for size in answers[number]]


def send(stream: BinaryIO, texts: Sequence[bytes]) -> None:
    """Write a request: how many texts, their lengths, then the texts."""
    stream.write(array(LENGTH, [len(texts), *map(len, texts)]).tobytes())
    stream.writelines(texts)
    stream.flush()


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


def _numbers(stream: BinaryIO, count: int) -> list[int]:
    """So many numbers; EOFError where the other side has gone."""
    numbers = array(LENGTH)
    numbers.fromfile(stream, count)
    return numbers.tolist()


def _serve(order: int, memory: int) -> None:
    """Answer requests on standard input with sizes on standard output until the input ends."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            (count,) = _numbers(requests, 1)
            texts = [requests.read(length) for length in _numbers(requests, count)]
        except EOFError:
            return
        child = os.fork()
        if child == 0:
            try:
                answers.write(array(LENGTH, sizes(texts, order, memory)).tobytes())
                answers.flush()
            except BrokenPipeError:  # the process that asked was killed
                os._exit(1)
            os._exit(0)
        del texts
        if os.waitpid(child, 0)[1] != 0:
            sys.exit(1)


if __name__ == "__main__":
    _serve(int(sys.argv[1]), int(sys.argv[2]))
