"""How fast attempts may start: within the limits given, slower where a server needs it."""

from __future__ import annotations

import asyncio

from judgelab.endpoint.limits import Limits
from judgelab.endpoint.pace_state import AHEAD, KeptState, State

CATCH_UP = 2.0  # seconds of unused allowance that may be made up for after the program was busy
WINDOW = 1.0  # seconds, at least, over which the proportion of 429 is taken
ENOUGH = 40  # answers, at least, of which it is taken
INCREASE = 0.02  # of the limits, each window
LEAST = 0.02  # of the limits: never slower than this
ALL_REFUSED = 8  # 429s in a row after which all wait as long as the server says
MOSTLY = 0.5  # proportion of 429 from which there is no doubt that this is too fast
FEW = 0.03  # proportion of 429 that is not worth to be slower for
SLOWER = 0.8  # times the share, while it is tried whether that helps
SETTLE = 0.25  # seconds until a trial counts: answers to attempts before it are still coming in
MEMORY = 0.3  # weight of the latest window in the usual proportion of 429
MORE = 0.08  # proportion of 429, beyond the stray ones, that calls for a new trial
TRUST = (16.0, 64.0)  # windows for which the outcome of a trial is believed: first, at most


class Pace:
    """Admits attempts evenly spaced, and adapts to 429.

    Attempts start at ``share`` of the limits (requests, tokens, concurrency). Where most answers
    are 429 the share falls by half of their proportion. Where some are, it is tried whether
    being slower helps: against a limit lower than the one declared as many calls are accepted as
    before, so the share stays low; stray 429s hit the same proportion at any rate, so it goes back
    up. Else the share rises by 2 % of the limits each window.

    Args:
        kept: the state, which other processes may share; None: it is this object's own.
    """

    def __init__(self, limits: Limits, kept: KeptState | None = None) -> None:
        self.limits, self._kept = limits, kept or KeptState()
        self._clock = self._kept.clock
        self._turn, self._freed, self._running = asyncio.Lock(), asyncio.Event(), 0

    @property
    def share(self) -> float:
        """Of the limits that is used now."""
        with self._kept.turn() as state:
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
                with self._kept.turn() as state:
                    start = max(start, min(state.held, now + AHEAD))
            self._running += 1

    def leave(self) -> None:
        """The attempt is over, however it ended."""
        self._running -= 1
        self._freed.set()

    def used(self, expected: float, actual: float) -> None:
        """Correct what an attempt was expected to take, in tokens."""
        limit = self.limits.tokens_per_minute
        if limit is not None:
            with self._kept.turn() as state:
                free = state.tokens_free + (actual - expected) * 60 / limit
                state.tokens_free = min(max(0.0, free), self._clock() + AHEAD)

    def answered(self, *, refused: bool, retry_after: float | None = None) -> None:
        """The server answered an attempt, with 429 if ``refused``."""
        now = self._clock()
        with self._kept.turn() as state:
            state.row = state.row + 1 if refused else 0
            if state.row >= ALL_REFUSED and retry_after:
                state.held = max(state.held, now + min(retry_after, AHEAD))
            if now < state.window:
                return
            state.answers += 1
            state.refused += refused
            if (
                now - state.window >= WINDOW
                and max(state.answers / ENOUGH, state.row / ALL_REFUSED) >= 1
            ):
                _adapt(state)
                state.window = now + (SETTLE if state.trial else 0.0)
                state.answers = state.refused = 0

    def close(self) -> None:
        """Give back what is shared."""
        self._kept.close()

    def _place(self, tokens: float) -> float:
        """Take the next place in the queue; when it is due."""
        with self._kept.turn() as state:
            now = self._clock()
            requests, share = self.limits.requests_per_minute, state.share
            starts = [now, state.held]
            if requests is not None:
                starts.append(max(state.requests_free, now - CATCH_UP))
                state.requests_free = starts[-1] + 60 / (requests * share)
            if self.limits.tokens_per_minute is not None:
                starts.append(max(state.tokens_free, now - CATCH_UP))
                state.tokens_free = starts[-1] + tokens * 60 / (
                    self.limits.tokens_per_minute * share
                )
            return max(starts)


def _adapt(state: State) -> None:
    """Choose the share for the next window."""
    proportion = state.refused / state.answers
    if state.trial:
        state.trial = 0
        before = 1 - state.usual
        if (1 - proportion) * SLOWER > before * (1 + SLOWER) / 2:
            state.usual, state.trust = proportion, 0  # as much is accepted: stay
        else:
            state.share /= SLOWER
            state.stray = state.usual
            state.trust = min(max(TRUST[0], 2 * state.trust), TRUST[1])
        state.patience = state.trust
    elif proportion > MOSTLY:
        state.share *= 1 - proportion / 2
        state.usual, state.trust, state.patience = proportion, 0, 0
    else:
        state.usual += MEMORY * (proportion - state.usual)
        state.patience = max(0.0, state.patience - 1)
        known = state.patience > 0 and state.usual <= state.stray + MORE
        if max(proportion, state.usual) > FEW and not known:
            state.trial = 1
            state.share *= SLOWER
        else:
            state.share += INCREASE
    state.share = min(1.0, max(LEAST, state.share))
