"""How far a run is: a live line on a terminal, a plain line now and then elsewhere; on stderr."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TextIO

from judgelab.calls.cached import Watch
from judgelab.core.terminal import harmless, say

TOLD = 5.0  # seconds between two words on waiting
CLEAR = "\r\x1b[2K"  # the line of a terminal


class Progress(Watch):
    """Stage, calls done, rate, time left, cache hits, and in words what was spent so far (``cost``;
    "" where nothing is), on stderr by default, as stdout belongs to the result. ``first`` and
    ``every``: seconds before the first plain line, as a short run stays silent, and between
    lines."""

    def __init__(
        self,
        cost: Callable[[], str],
        stream: TextIO | None = None,
        first: float = 60.0,
        every: float = 60.0,
    ) -> None:
        self._cost, self._stream = cost, stream or sys.stderr
        self._live, self._every = self._stream.isatty(), every
        self._next, self._told = time.monotonic() + first, -TOLD
        self._name, self._items, self._began = "", 0, time.monotonic()
        self._total = self._done = self._hits = self._batched = self._batches = 0

    def stage(self, name: str, items: int) -> None:
        """A new stage begins, of so many items; 0 where that is not known."""
        self._name, self._items, self._began = name, items, time.monotonic()
        self._total = self._done = self._hits = self._batched = self._batches = 0
        if self._live:
            self._show()
        elif not items and time.monotonic() >= self._next:  # its own words: no calls to count
            self._next = time.monotonic() + self._every
            say(harmless(name), self._stream)

    def begin_batch(self, calls: int, hits: int, *, one_item: bool = False) -> None:
        """A batch began; its hits are done. Of one item of several, the others are taken to be as
        large as those so far."""
        self._batched, self._hits = self._batched + calls, self._hits + hits
        self._batches += one_item
        others = max(self._items - self._batches, 0) if one_item else 0
        self._total = self._batched + round(others * self._batched / max(self._batches, 1))
        self.advance(hits)

    def advance(self, calls: int) -> None:
        """So many calls more are done."""
        self._done += calls
        if self._live:
            self._show()
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + self._every
            say(self._line(), self._stream)

    def tell(self, words: str) -> None:
        """Say why nothing seems to happen, now and then; from any thread."""
        if time.monotonic() < self._told + TOLD:
            return
        self._told = time.monotonic()
        self.close()
        say(words, self._stream)

    def close(self) -> None:
        """Take the live line away."""
        if self._live:
            self._stream.write(CLEAR)
            self._stream.flush()

    def _line(self) -> str:
        rate = (self._done - self._hits) / max(time.monotonic() - self._began, 1e-9)
        parts = [f"{self._name}: {self._done} of {self._total or '?'} calls"]
        if rate > 0:
            parts.append(f"{rate:.3g}/s")
            remaining = timedelta(seconds=round((self._total - self._done) / rate))
            parts.append(f"{remaining} left")
        parts.append(f"{self._hits} from the cache")
        cost = self._cost()
        return harmless(", ".join([*parts, cost] if cost else parts))

    def _show(self) -> None:
        width = shutil.get_terminal_size().columns - 1
        line = f"{CLEAR}{self._line()[:width]}"
        encoding = self._stream.encoding or "utf-8"
        self._stream.write(line.encode(encoding, "replace").decode(encoding))
        self._stream.flush()
