"""Compressed sizes, and the program of a process that computes them without growing.

pyppmd 1.3 keeps the 19 kB of every model that it has made, and the text that it read, for as long
as its process lives. So the program answers each request in a fork of itself: what is lost goes
with the fork. It runs as a file of its own, without the rest of judgelab, so that it starts in a
twentieth of a second, has no threads that a fork could catch holding a lock, and needs no
``__main__`` of the process that starts it.
"""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import BinaryIO, NoReturn

import pyppmd

LENGTH = "Q"  # every number that is sent


def sizes(texts: Iterable[bytes], order: int, memory: int) -> list[int]:
    """Compressed size of each text in bytes, PPMd variant H. Leaks: see above."""
    result = []
    for text in texts:
        encoder = pyppmd.Ppmd7Encoder(order, memory)
        result.append(len(encoder.encode(text)) + len(encoder.flush()))
    return result


def send(stream: BinaryIO, texts: Sequence[bytes]) -> None:
    """Write a request: how many texts, their lengths, then the texts."""
    stream.write(array(LENGTH, [len(texts), *map(len, texts)]).tobytes())
    stream.writelines(texts)
    stream.flush()


def numbers(stream: BinaryIO, count: int) -> list[int]:
    """Read so many numbers.

    Raises:
        EOFError: the other side has gone.
    """
    found = array(LENGTH)
    data = stream.read(count * found.itemsize)
    if len(data) < count * found.itemsize:
        raise EOFError
    found.frombytes(data)
    return found.tolist()


def serve(order: int, memory: int) -> None:
    """Answer requests on standard input with sizes on standard output until the input ends."""
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            (count,) = numbers(asked, 1)
            texts = [asked.read(length) for length in numbers(asked, count)]
        except EOFError:
            return
        child = os.fork()
        if child == 0:
            _answer(answers, array(LENGTH, sizes(texts, order, memory)))
        del texts
        if os.waitpid(child, 0)[1] != 0:
            sys.exit(1)


def _answer(stream: BinaryIO, found: array[int]) -> NoReturn:
    """Write the answer and end the fork; quietly also where the process that asked was killed."""
    try:
        stream.write(found.tobytes())
        stream.flush()
    except BrokenPipeError:
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]))
