"""How fast attempts may start: within the limits given, slower where a server needs it."""

from __future__ import annotations

import asyncio
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

from judgelab.core.bounds import Count, Natural, NotNegative, Positive
from judgelab.store.private import private_folder


@dataclass(frozen=True)
class Limits:
    """What an endpoint allows, and how patient we are. None of it changes an answer."""

    concurrency: Count = 32  # attempts under way at once
    requests_per_minute: Positive | None = None  # None where there is no limit; retries count
    tokens_per_minute: Positive | None = None
    timeout: Positive = 120.0  # seconds until an attempt counts as lost
    retries: Natural = 6  # attempts after the first
    backoff: NotNegative = 0.5  # before the first retry, at most; doubles with each (full jitter)
    longest_wait: NotNegative = 60.0  # that such a wait may grow to, Retry-After's too
    breaker: Count | None = 10  # calls in a row without an answer, then it stops; None: off


AHEAD = 600.0  # seconds: no limit is waited for longer, whatever a file or a server says


@dataclass
class State:
    """Times are in seconds since 1970."""

    requests_free: float = 0.0  # when the next attempt may start by that limit
    tokens_free: float = 0.0
    pause_until: float = 0.0  # until when none may, as the server said
    share: float = 1.0  # of the limits that is used
    window: float = 0.0  # when the answers counted began
    answers: float = 0.0  # since then; of these refusals
    refusals: float = 0.0
    row: float = 0.0  # refusals in a row


def rate_file(cache: Path, *endpoint: str) -> Path:
    """Where processes that keep this call cache share the pace of an endpoint: address, model, key.

    Limits are declared, and given by providers, for a model and a key. The name is a hash.
    """
    name = hashlib.sha256("\0".join(endpoint).encode()).hexdigest()[:16]
    return cache.with_name(f"{cache.name}.rates") / name


LAYOUT = struct.Struct(f"<{len(fields(State))}d")


class KeptState:
    """The state in this process alone, or in a small file, locked for the microseconds of a turn.

    A process that is killed leaves but one place in the queue, as the system gives back its lock.
    Time that nobody used is not made up for; a damaged file is begun anew.
    """

    def __init__(self, path: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self.clock, self._handle = clock, -1
        self._state = State(window=clock())
        if path is not None:
            private_folder(path.parent)
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        with self.turn() as state:
            now = clock()
            if not (all(0 <= one < math.inf for one in astuple(state)) and 0 < state.share <= 1):
                state.__init__(window=now)  # type: ignore[misc]
            state.window = min(state.window, now)
            state.pause_until = min(state.pause_until, now + AHEAD)
            state.requests_free = min(max(state.requests_free, now), now + AHEAD)
            state.tokens_free = min(max(state.tokens_free, now), now + AHEAD)

    @contextmanager
    def turn(self) -> Iterator[State]:
        """The state, to look at and to change."""
        if self._handle < 0:
            yield self._state
            return
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        try:
            data = os.pread(self._handle, LAYOUT.size, 0)
            state = State(*LAYOUT.unpack(data)) if len(data) == LAYOUT.size else State(share=0)
            before = astuple(state)
            yield state
            if astuple(state) != before:
                os.pwrite(self._handle, LAYOUT.pack(*astuple(state)), 0)
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)

    def close(self) -> None:
        """Give it back."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


CATCH_UP = 2.0  # seconds of unused allowance that may be made up for after the program was busy
WINDOW = 1.0  # seconds, at least, over which the proportion of 429 is taken
ENOUGH = 60  # answers, at least, of which it is taken
INCREASE = 0.03  # of the limits, each window
LEAST = 0.02  # of the limits: never slower than this
ALL_REFUSED = 8  # 429s in a row after which all wait as long as the server says
TOLERATED = 0.3  # proportion of 429 up to which being slower costs more than it saves


class Pace:
    """Admits attempts evenly spaced, and adapts to 429.

    Attempts start at ``share`` of the limits (requests, tokens, concurrency). Where more than
    30 % of a window's answers are 429 the share falls by half of their proportion, else it rises
    by 3 % of the limits. So stray 429s slow nothing down, and of a limit lower than the one
    declared all is used, at the price of some refusals. Processes may share a state.
    """

    def __init__(self, limits: Limits, state: KeptState | None = None) -> None:
        self.limits, self._shared = limits, state or KeptState()
        self._clock = self._shared.clock
        self._turn, self._freed, self._running = asyncio.Lock(), asyncio.Event(), 0

    @property
    def share(self) -> float:
        """Of the limits that is used now."""
        with self._shared.turn() as state:
            return state.share

    async def admit(self, tokens: float) -> None:
        """Wait for this attempt's turn; ``tokens`` is what it is expected to take."""
        async with self._turn:  # first come, first served
            while self._running >= max(1, round(self.share * self.limits.concurrency)):
                self._freed.clear()
                await self._freed.wait()
            start = self._place(tokens)
            while start > (now := self._clock()):
                await asyncio.sleep(start - now)
                with self._shared.turn() as state:
                    start = max(start, min(state.pause_until, now + AHEAD))
            self._running += 1

    def leave(self) -> None:
        """The attempt is over, however it ended."""
        self._running -= 1
        self._freed.set()

    def correct(self, expected: float, actual: float) -> None:
        """Correct what an attempt was expected to take, in tokens."""
        limit = self.limits.tokens_per_minute
        if limit is not None:
            with self._shared.turn() as state:
                free = state.tokens_free + (actual - expected) * 60 / (limit * state.share)
                state.tokens_free = min(max(0.0, free), self._clock() + AHEAD)

    def note_answer(self, *, refused: bool, retry_after: float | None = None) -> None:
        """The server answered an attempt, with 429 if ``refused``."""
        now = self._clock()
        with self._shared.turn() as state:
            state.row = state.row + 1 if refused else 0
            if state.row >= ALL_REFUSED and retry_after:
                state.pause_until = max(state.pause_until, now + min(retry_after, AHEAD))
            if now < state.window:
                return
            state.answers += 1
            state.refusals += refused
            enough = max(state.answers / ENOUGH, state.row / ALL_REFUSED) >= 1
            if enough and now - state.window >= WINDOW:
                proportion = state.refusals / state.answers
                slower = proportion > TOLERATED
                share = state.share * (1 - proportion / 2) if slower else state.share + INCREASE
                state.share = min(1.0, max(LEAST, share))
                state.window, state.answers, state.refusals = now, 0, 0

    def close(self) -> None:
        """Give back what is shared."""
        self._shared.close()

    def _place(self, tokens: float) -> float:
        """Take the next place in the queue; when it is due."""
        with self._shared.turn() as state:
            now, limits, share = self._clock(), self.limits, state.share
            starts = [now, state.pause_until]
            if limits.requests_per_minute is not None:
                starts.append(max(state.requests_free, now - CATCH_UP))
                state.requests_free = starts[-1] + 60 / (limits.requests_per_minute * share)
            if limits.tokens_per_minute is not None:
                starts.append(max(state.tokens_free, now - CATCH_UP))
                state.tokens_free = starts[-1] + 60 * tokens / (limits.tokens_per_minute * share)
            return max(starts)
