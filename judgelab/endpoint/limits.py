"""How fast attempts may start: within the limits given, slower while the server says 429."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from judgelab.core.bounds import Count, Positive

CATCH_UP = 2.0  # seconds of unused allowance that may be made up for after the program was busy
WINDOW = 1.0  # seconds over which the share of 429 is taken
INCREASE = 0.02  # of the limits, each window
LEAST = 0.02  # of the limits: never slower than this
ALL_REFUSED = 5  # 429s in a row after which all wait as long as the server says


@dataclass(frozen=True)
class Limits:
    """What an endpoint allows, and how patient we are. None of it changes an answer."""

    concurrency: Count = 32  # attempts under way at once
    requests_per_minute: Positive | None = None  # None where there is no limit; retries count
    tokens_per_minute: Positive | None = None
    timeout: Positive = 120.0  # seconds until an attempt counts as lost
    retries: Annotated[int, Field(ge=0)] = 6  # attempts after the first
    backoff: float = 0.5  # seconds before the first retry, at most; doubles with each (full jitter)
    longest_wait: float = 60.0  # seconds that such a wait may grow to; Retry-After is waited for


class Pace:
    """Admits attempts evenly spaced, and adapts to 429.

    Attempts start at ``share`` of the limits (requests, tokens, concurrency). Once a second the
    share falls by half of the proportion of 429 among the answers and rises by 2 %, so a stray 429
    costs next to nothing and a server that refuses everything halves the rate each second.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits, self.share, self._clock = limits, 1.0, clock
        self._turn, self._freed = asyncio.Lock(), asyncio.Event()
        self._running, self._row = 0, 0
        self._requests_free = self._tokens_free = self._held = clock()
        self._window, self._answers, self._refused = clock(), 0, 0

    async def admit(self, tokens: float) -> None:
        """Wait for this attempt's turn; ``tokens`` is what it is expected to take."""
        async with self._turn:  # first come, first served
            while self._running >= max(1, round(self.share * self.limits.concurrency)):
                self._freed.clear()
                await self._freed.wait()
            while (start := max(self._requests_free, self._tokens_free, self._held)) > (
                now := self._clock()
            ):
                await asyncio.sleep(start - now)
            self._requests_free = self._after(
                self._requests_free, now, 1, self.limits.requests_per_minute
            )
            self._tokens_free = self._after(
                self._tokens_free, now, tokens, self.limits.tokens_per_minute
            )
            self._running += 1

    def leave(self) -> None:
        """The attempt is over, however it ended."""
        self._running -= 1
        self._freed.set()

    def used(self, expected: float, actual: float) -> None:
        """Correct what an attempt was expected to take, in tokens."""
        if self.limits.tokens_per_minute is not None:
            self._tokens_free += (actual - expected) * 60 / self.limits.tokens_per_minute

    def answered(self, *, refused: bool, retry_after: float | None = None) -> None:
        """The server answered an attempt, with 429 if ``refused``."""
        now = self._clock()
        self._answers += 1
        self._refused += refused
        self._row = self._row + 1 if refused else 0
        if self._row >= ALL_REFUSED and retry_after:
            self._held = max(self._held, now + retry_after)
        if now - self._window >= WINDOW:
            kept = 1 - self._refused / self._answers / 2
            self.share = min(1.0, max(LEAST, self.share * kept) + INCREASE)
            self._window, self._answers, self._refused = now, 0, 0

    def _after(self, free: float, now: float, amount: float, limit: float | None) -> float:
        if limit is None:
            return free
        return max(free, now - CATCH_UP) + amount * 60 / (limit * self.share)
