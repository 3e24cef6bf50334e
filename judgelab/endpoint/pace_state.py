"""What is known of an endpoint's pace: in this process, or shared by those of one machine."""

from __future__ import annotations

import fcntl
import hashlib
import math
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from judgelab.store.private import private_folder

AHEAD = 600.0  # seconds: no limit is waited for longer, whatever a file or a server says
SAME_BOOT = 60.0  # seconds that two looks at the time of the last boot may differ by


@dataclass
class State:
    """Times are of the machine's monotonic clock.

    Attributes:
        requests_free, tokens_free: when the next attempt may start by either limit.
        held: until when none may, as the server said.
        share: of the limits that is used.
        window: when the answers counted began; the counts follow, then refusals in a row.
        usual: the proportion of 429 lately.
        trial: 1 while it is tried whether to be slower helps.
        stray: the proportion of 429 that being slower did not help against.
        trust, patience: windows for which that is believed: in all, and from now.
    """

    requests_free: float = 0.0
    tokens_free: float = 0.0
    held: float = 0.0
    share: float = 1.0
    window: float = 0.0
    answers: float = 0.0
    refused: float = 0.0
    row: float = 0.0
    usual: float = 0.0
    trial: float = 0.0
    stray: float = 0.0
    trust: float = 0.0
    patience: float = 0.0

    def settle(self, now: float) -> None:
        """Begin to use it: time that nobody used is not made up for."""
        values = astuple(self)
        if not all(map(math.isfinite, values)) or not 0 < self.share <= 1 or min(values) < 0:
            self.__init__()  # type: ignore[misc]  # a file that was damaged
        for name in ("requests_free", "tokens_free"):
            setattr(self, name, min(max(getattr(self, name), now), now + AHEAD))
        self.held = min(self.held, now + AHEAD)
        self.window = min(max(self.window, now - AHEAD), now + 1)


class KeptState:
    """The state in this process alone."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock, self._state = clock, State()
        self._state.settle(clock())
        self._state.window = clock()

    @contextmanager
    def turn(self) -> Iterator[State]:
        """The state, to look at and to change."""
        yield self._state

    def close(self) -> None:
        """Give it back."""


def rate_file(cache: Path, *endpoint: str) -> Path:
    """Where processes that keep this call cache share the pace of an endpoint: address, model, key.

    Limits are declared, and given by providers, for a model and a key. The name is a hash.
    """
    name = hashlib.sha256("\0".join(endpoint).encode()).hexdigest()[:16]
    return cache.with_name(f"{cache.name}.rates") / name


LAYOUT = struct.Struct(f"<{len(fields(State)) + 1}d")


class SharedState(KeptState):
    """The state in a small file, locked for the microseconds of a turn.

    A process that is killed holds nothing: the system gives back its lock, and all that it leaves
    is one place in the queue. What an earlier boot of the machine left is begun anew.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        private_folder(path.parent)
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self._booted = time.time() - time.monotonic()
        with self._locked():
            state = State(window=self.clock())
            data = os.pread(self._handle, LAYOUT.size, 0)
            if len(data) == LAYOUT.size:
                booted, *values = LAYOUT.unpack(data)
                if abs(booted - self._booted) < SAME_BOOT:
                    state = State(*values)
            state.settle(self.clock())
            self._put(state)

    @contextmanager
    def turn(self) -> Iterator[State]:
        """See KeptState."""
        with self._locked():
            state = State(*LAYOUT.unpack(os.pread(self._handle, LAYOUT.size, 0))[1:])
            before = astuple(state)
            yield state
            if astuple(state) != before:
                self._put(state)

    def close(self) -> None:
        """Close the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _put(self, state: State) -> None:
        os.pwrite(self._handle, LAYOUT.pack(self._booted, *astuple(state)), 0)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)
