"""When to stop asking an endpoint that answers nothing any more."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Coroutine
from typing import Any

from judgelab.endpoint.limits import Limits
from judgelab.endpoint.sending import EndpointError

SILENT = 3  # calls in a row that time out before anything is heard of a server
REFUSED = 20  # calls in a row without a use, before the first answer
SHOWN = 5.0  # seconds from which a wait is told
FARTHEST = 400 * 86400.0  # seconds: to wait for longer is no sensible demand


class StoppedError(Exception):
    """Nothing more is sent; the breaker knows why."""


class Breaker:
    """Stops the calls of one endpoint; lives in one event loop.

    It opens after ``limits.breaker`` calls in a row that used up their attempts, none being
    answered in between. All others then wait, and after ``limits.longest_wait`` one attempt is
    made: an answer closes it, anything else stops all that is left. So does, at once, a server
    that asks to wait for longer, and one that never answered is given up with an error.

    Attributes:
        why: the reason why nothing more is sent; None while something is.
        fatal: what ends the run, where none of many calls was of use.
        open: whether all calls wait for a last look.
        served: whether a call was answered, now or in an earlier execution of the run.
        until: when the server wants to be asked again, in seconds since 1970.
    """

    def __init__(
        self,
        limits: Limits,
        where: str = "",
        tell: Callable[[str], None] = lambda words: None,
        served: bool = False,
    ) -> None:
        self.limits, self.where, self.tell = limits, where, tell
        self.why: str | None = None
        self.fatal: EndpointError | None = None
        self.until: float | None = None
        self.served, self.open = served, False
        self._heard = self._probed = False
        self._row = self._useless = 0
        self._news = asyncio.Event()

    def heard(self) -> None:
        """The server said something, whatever it was."""
        self._heard = True

    def answered(self) -> None:
        """A call was answered."""
        self.served, self._useless = True, 0
        self._lives()

    def refused(self, reason: str) -> None:
        """A call is over without a use: refused for good, or its answer is malformed.

        Where so was every one so far, the next call raises: what this one was paid for is kept.
        """
        self._lives()
        self._useless += not self.served
        if self._useless >= REFUSED and self.fatal is None:
            self.fatal = EndpointError(
                f"{self.where} has answered none of the first {self._useless} calls ({reason}): "
                "mend the config, or the server and add retry=unscored to ask these calls again."
            )
            self.stop(str(self.fatal))

    def exhausted(
        self, status: str, reason: str, wait: float | None, troubled: bool = False
    ) -> None:
        """A call used up its attempts; the last one ended so.

        Args:
            wait: seconds that the server asked for, where that is beyond ``longest_wait``.
            troubled: it did so in an earlier execution too. It may be the call: such ones alone
                do not stop a server that speaks, or others would never have their turn.

        Raises:
            EndpointError: it has never answered, and will not.
        """
        self._row += not (troubled and self._heard)
        if wait is not None:
            self.until = max(self.until or 0.0, time.time() + wait)
        if not self._heard:
            self._never_heard(status, reason)
        most = self.limits.breaker
        if most is None or self._row < most or self.open or self.why is not None:
            return
        if not self.served and wait is None:
            raise EndpointError(
                f"{self.where} has answered none of the first {self._row} calls of "
                f"{self.limits.retries + 1} attempts each ({reason})."
            )
        if wait is not None:
            self.stop(f"the endpoint asks to wait until {stamp(self.until)}")
            return
        self.open = True
        seconds = self.limits.longest_wait
        self.tell(f"{self.where} stopped answering ({reason}): one more look in {seconds:g} s")
        self._change()

    def stop(self, why: str) -> None:
        """Send nothing more."""
        self.why = self.why or why
        self._change()

    async def ready(self) -> bool:
        """Wait until an attempt may be made; whether all others wait for what comes of it.

        Raises:
            StoppedError: none may.
            EndpointError: none may, since none was of use.
        """
        while self.why is None and self.open:
            if self._probed:
                await self._news.wait()
            else:
                self._probed = True
                await self.sleep(self.limits.longest_wait)
                if self.why is None:
                    return self.open
        if self.why is not None:
            raise self.fatal or StoppedError
        return False

    async def sleep(self, seconds: float) -> None:
        """Wait; shorter, where something changes meanwhile."""
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            pass

    async def unless_stopped(self, job: Coroutine[Any, Any, None]) -> None:
        """Await this; StoppedError as soon as nothing more is sent."""
        task = asyncio.create_task(job)
        try:
            while not task.done():
                if self.why is not None:
                    raise StoppedError
                news = asyncio.create_task(self._news.wait())
                await asyncio.wait((task, news), return_when=asyncio.FIRST_COMPLETED)
                news.cancel()
            await task
        finally:
            task.cancel()

    def _never_heard(self, status: str, reason: str) -> None:
        if status in ("unreached", "broken"):
            raise EndpointError(
                f"{self.where} cannot be reached ({reason}): is it running, and is "
                "evaluation_lm.base_url right?"
            )
        if self._row >= SILENT:
            raise EndpointError(
                f"{self.where} has not answered once in {SILENT} calls of "
                f"{self.limits.retries + 1} attempts each ({reason}): is it running "
                "behind that address, and is evaluation_lm.limits.timeout long enough?"
            )

    def _lives(self) -> None:
        self._heard, self._row = True, 0
        if self.open:
            self.open = self._probed = False
            self._change()

    def _change(self) -> None:
        before, self._news = self._news, asyncio.Event()
        before.set()


def sensible(seconds: float | None) -> float | None:
    """Seconds that a server can mean; None for what nobody can wait for."""
    if seconds is None or not math.isfinite(seconds) or not 0 <= seconds <= FARTHEST:
        return None
    return seconds


def stamp(at: float | None) -> str:
    """A time for people, to the minute, rounded up."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(math.ceil((at or 0.0) / 60) * 60))
