"""One call in as many attempts as it takes, and when to ask an endpoint no more."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.calls.meter import BudgetReachedError, Meter
from judgelab.calls.pace import Limits, Pace
from judgelab.calls.sending import LOST, Answer, Call, EndpointError, Sender, accounts
from judgelab.core.errors import require_room

if TYPE_CHECKING:
    from openai import AsyncOpenAI


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


class Caller:
    """Calls an endpoint.

    Retried are 408, 409, 429, 5xx, timeouts and broken connections, and nothing else: an answer
    that cannot be read was paid for, and asking again would pay twice. The client's own retries are
    off; the secret (the key) is blotted out of every message of the server's. Nothing is sent where
    the disk of ``kept``, the call cache, has no room for the answer.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        limits: Limits,
        meter: Meter,
        secret: str | None,
        where: str,
        tell: Callable[[str], None] = lambda words: None,
        kept: Path | None = None,
    ) -> None:
        self.client, self.limits = client, limits
        self.where, self._sender = where, Sender(client, limits.timeout, secret, where)
        self.pace, self.kept = Pace(limits), kept
        self.attach(meter, tell)

    def attach(self, meter: Meter, tell: Callable[[str], None]) -> None:
        """Note every attempt there from now on, and begin anew."""
        self.meter = meter
        self.breaker = Breaker(self.limits, self.where, tell, meter.totals.answered > 0)

    def halt(self) -> None:
        """Begin no attempt any more."""
        self.breaker.stop("interrupted")

    async def call(self, call: Call) -> Answer:
        """The answer, after as many attempts as the limits allow.

        Once the breaker or the budget stops it, calls are unsettled at once.

        Raises:
            ConfigError: the key, the address or the model is refused.
            EndpointError: nothing was answered before this.
        """
        attempt, result = 0, Answer(None, status="unsent", again=True)
        tries = 0
        try:
            while True:
                tries = 0 if self.breaker.open else tries
                probe = await self.breaker.ready()
                result = await self._attempt(call, attempt + 1)
                attempt, tries = attempt + 1, tries + 1
                if result.body is not None:
                    self.breaker.answered()
                    return result
                if self._over(call, result, tries, probe):
                    break
                wait = self._wait(result, tries)
                if wait >= SHOWN:
                    self.breaker.tell(f"{self.where}: {result.reason}; again in {wait:.0f} s")
                await self.breaker.sleep(wait)
        except (StoppedError, BudgetReachedError, EndpointError) as cause:
            self.breaker.stop(str(cause))
            if isinstance(cause, EndpointError) and not self.breaker.served:
                raise  # later, an account that is empty leaves calls open as an outage does
            if attempt == 0:
                return replace(result, reason=f"not sent: {self.breaker.why}")
        except BaseException as cause:
            self.breaker.stop(str(cause))
            raise
        tried = f" after {attempt} attempts" if attempt > 1 else ""
        return replace(result, reason=f"{result.reason}{tried}{self._until(result)}")

    def _over(self, call: Call, result: Answer, tries: int, probe: bool) -> bool:
        """Whether a call that was not answered is not tried again."""
        reason, beyond = result.reason or "", self._beyond(result)
        if not result.again:
            self.breaker.refused(reason)
        elif probe:
            self.breaker.stop(f"the endpoint stopped answering ({reason})")
        elif beyond is None and (self.breaker.open or tries <= self.limits.retries):
            return False  # where it is open, all wait for the last look
        else:
            troubled = call.mark in self.meter.troubled
            self.breaker.exhausted(result.status, reason, beyond, troubled)
        return True

    def _beyond(self, result: Answer) -> float | None:
        """Seconds that the server asks for, where that is longer than we wait."""
        asked = sensible(result.retry_after)
        longest = max(self.limits.longest_wait, SHOWN)
        return asked if asked is not None and asked > longest else None

    def _until(self, result: Answer) -> str:
        return "" if self._beyond(result) is None else f"; not before {stamp(self.breaker.until)}"

    def _wait(self, result: Answer, tries: int) -> float:
        """Seconds until the next attempt: as the server says, else our own."""
        most = min(self.limits.longest_wait, self.limits.backoff * 2 ** (tries - 1))
        wait = random.uniform(0, most)  # any number will do: it changes no result
        asked = sensible(result.retry_after)
        return wait if asked is None else asked + min(wait, 0.1 * asked)

    async def _attempt(self, call: Call, number: int) -> Answer:
        await self.breaker.unless_stopped(self.pace.admit(sum(call.tokens)))
        try:
            if self.kept is not None:
                require_room(self.kept)  # an answer that finds none would be paid for again
            ticket = await self.meter.sent(call.key, number, call.tokens, call.mark)
            result = await self._sender.send(call)
            tokens, facts = accounts(result.body or {})
            if tokens is not None:
                self.pace.used(sum(call.tokens), sum(tokens))
            if result.status not in LOST:
                self.breaker.heard()
                beyond = self._beyond(result)
                wait = sensible(result.retry_after) if beyond is None else None
                self.pace.answered(refused=result.status == "429", retry_after=wait)
            self.meter.ended(ticket, result.status, tokens, reason=result.reason, **facts)
        finally:
            self.pace.leave()
        if result.fatal is not None:
            raise result.fatal
        return result
