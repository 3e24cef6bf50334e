"""One call in as many attempts as it takes, and when to ask an endpoint no more."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.calls.budget import BudgetReachedError
from judgelab.calls.meter import Meter
from judgelab.calls.pace import Limits, Pace
from judgelab.calls.sending import LOST, Answer, Call, EndpointError, Sender, accounts
from judgelab.core.errors import require
from judgelab.store.disk import require_room

if TYPE_CHECKING:
    from openai import AsyncOpenAI


SILENT = 3  # calls in a row that time out before anything is heard of a server
REFUSED = 20  # calls in a row without a use, before the first answer
SHOWN = 5.0  # seconds from which a wait is told


class StoppedError(Exception):
    """Nothing more is sent; the breaker knows why."""


class Breaker:
    """Stops the calls of one endpoint; lives in one event loop.

    It opens after ``limits.breaker`` calls in a row that used up their attempts. All others then
    wait, and after ``limits.longest_wait`` one attempt is made: an answer closes it, anything else
    stops all that is left. So does, at once, a server that asks to wait for longer, and one that
    never answered is given up with an error.
    """

    def __init__(self, limits: Limits, where: str, tell: Callable[[str], None], served: bool):
        self.limits, self.where, self.tell = limits, where, tell
        self.why: str | None = None  # the reason why nothing more is sent
        self.fatal: EndpointError | None = None  # where none of many calls was of use
        self.until: float | None = None  # when the server wants to be asked again, since 1970
        self.served = served  # a call was answered, now or in an earlier execution of the run
        self.open = False  # all calls wait for a last look
        self._responds = self._probed = False
        self._row = self._useless = 0
        self._news, self._stopped = asyncio.Event(), asyncio.Event()

    def note(self, result: Answer, probe: bool) -> None:
        """An attempt ended so; ``probe``: all others wait for what comes of it.

        Where each call so far was of no use (refused for good, or malformed), the next one raises.
        """
        self._responds |= result.status not in LOST
        if result.again:
            if probe:
                self.stop(f"the endpoint stopped answering ({result.reason})")
            return
        self._row = 0
        if self.open:
            self.open = self._probed = False
            self._change()
        self.served |= result.body is not None
        self._useless += not self.served
        if self._useless >= REFUSED and not self.served and self.fatal is None:
            self.fatal = EndpointError(
                f"{self.where} has answered none of the first {self._useless} calls "
                f"({result.reason}): mend the config, or the server and add retry=unscored to ask "
                "these calls again."
            )
            self.stop(str(self.fatal))

    def note_exhausted(self, result: Answer, wait: float | None, troubled: bool = False) -> None:
        """A call used up its attempts; EndpointError of a server that never answered.

        Args:
            wait: seconds that the server asked for, where that is beyond ``longest_wait``.
            troubled: so it did in an earlier execution. Such calls alone do not stop a server that
                speaks, or others would never have their turn.
        """
        self._row += not (troubled and self._responds)
        if not self._responds and result.status in ("unreached", "broken"):
            raise EndpointError(
                f"{self.where} cannot be reached ({result.reason}): is it running, and is "
                "evaluation_lm.base_url right?"
            )
        most = self.limits.breaker if self._responds else SILENT
        if most is None or self._row < most or self.open or self.why is not None:
            return
        if wait is not None:
            self.stop(f"the endpoint asks to wait until {stamp(self.until)}")
        elif not (self._responds and self.served):
            raise EndpointError(
                f"{self.where} has answered none of the first {self._row} calls of "
                f"{self.limits.retries + 1} attempts each ({result.reason}): is the address right, "
                "and is evaluation_lm.limits.timeout long enough?"
            )
        else:
            self.open, seconds = True, self.limits.longest_wait
            self.tell(
                f"{self.where} stopped answering ({result.reason}): one more look in {seconds:g} s"
            )
            self._change()

    def stop(self, why: str) -> None:
        """Send nothing more."""
        self.why = self.why or why
        self._stopped.set()
        self._change()

    async def ready(self) -> bool:
        """Wait until an attempt may be made; whether all others wait for what comes of it.
        StoppedError where none may, EndpointError where none was of use."""
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
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), seconds)

    async def unless_stopped(self, job: Coroutine[Any, Any, None]) -> None:
        """Await this; StoppedError as soon as nothing more is sent."""
        task, stop = asyncio.create_task(job), asyncio.create_task(self._stopped.wait())
        try:
            await asyncio.wait((task, stop), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise StoppedError
            await task
        finally:
            task.cancel()
            stop.cancel()

    def _change(self) -> None:
        before, self._news = self._news, asyncio.Event()
        before.set()


def stamp(at: float | None) -> str:
    """A time for people, to the minute, rounded up."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(math.ceil((at or 0.0) / 60) * 60))


class Caller:
    """Calls an endpoint.

    Retried are 408, 409, 429, 5xx, timeouts and broken connections alone: an answer that cannot be
    read was paid for, and asking again would pay twice. The client's own retries are off. Nothing
    is sent where the disk of ``cache``, the call cache, has no room for the answer.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        limits: Limits,
        meter: Meter,
        secret: str | None,
        where: str,
        tell: Callable[[str], None],
        cache: Path | None,
    ) -> None:
        self._tenacity: Any = require("tenacity", extra="api")
        self.client, self.limits, self.where, self.cache = client, limits, where, cache
        self.pace, self._sender = Pace(limits), Sender(client, limits.timeout, secret, where)
        self._jitter = self._tenacity.wait_random_exponential(limits.backoff, limits.longest_wait)
        self.attach(meter, tell)

    def attach(self, meter: Meter, tell: Callable[[str], None]) -> None:
        """Note every attempt there from now on, and begin anew."""
        self.meter = meter
        self.breaker = Breaker(self.limits, self.where, tell, meter.account.answered > 0)

    def halt(self) -> None:
        """Begin no attempt any more."""
        self.breaker.stop("interrupted")

    async def call(self, call: Call) -> Answer:
        """The answer, after as many attempts as limits, breaker and budget allow.

        Raises:
            ConfigError: the key, the address or the model is refused.
            EndpointError: nothing was answered before this.
        """
        attempts, result = 0, Answer(None, status="unsent", again=True)

        async def attempt() -> Answer:
            nonlocal attempts, result
            probe = await self.breaker.ready()
            result = await self._attempt(call, attempts + 1)
            attempts += 1
            self.breaker.note(result, probe)
            return result

        retrying = self._tenacity.AsyncRetrying(
            retry=self._tenacity.retry_if_result(
                lambda result: result.again and self.breaker.why is None
            ),
            stop=partial(self._is_exhausted, call),
            wait=self._wait,
            sleep=self.breaker.sleep,
            before_sleep=self._tell_wait,
            retry_error_callback=lambda state: state.outcome.result(),
        )
        try:
            await retrying(attempt)
        except (StoppedError, BudgetReachedError, EndpointError) as cause:
            self.breaker.stop(str(cause))
            if isinstance(cause, EndpointError) and not self.breaker.served:
                raise  # later, an account that is empty leaves calls open as an outage does
        except BaseException as cause:
            self.breaker.stop(str(cause))
            raise
        if attempts == 0:
            return replace(result, reason=f"not sent: {self.breaker.why}")
        if result.body is not None:
            return result
        after = f" after {attempts} attempts" if attempts > 1 else ""
        late = self._beyond(result) is not None
        until = f"; not before {stamp(self.breaker.until)}" if late else ""
        return replace(result, reason=f"{result.reason}{after}{until}")

    def _is_exhausted(self, call: Call, state: Any) -> bool:
        """Whether the attempts are used up, or the server asks to wait for longer than we do."""
        result = state.outcome.result()
        beyond = self._beyond(result)
        if self.breaker.open and beyond is None:  # all wait for the last look, then begin anew
            state.attempt_number = 0
            return False
        if beyond is None and state.attempt_number <= self.limits.retries:
            return False
        self.breaker.note_exhausted(result, beyond, troubled=call.mark in self.meter.troubled)
        return True

    def _beyond(self, result: Answer) -> float | None:
        """Seconds that the server asks for, where that is longer than we wait."""
        seconds = result.retry_after or 0.0
        return seconds if seconds > max(self.limits.longest_wait, SHOWN) else None

    def _wait(self, state: Any) -> float:
        """Seconds until the next attempt: as the server says and up to a tenth more, so that calls
        do not come back all at once; else full jitter."""
        result, wait = state.outcome.result(), float(self._jitter(state))
        seconds = result.retry_after
        return wait if seconds is None else seconds + min(wait, 0.1 * seconds)

    def _tell_wait(self, state: Any) -> None:
        """Tell a long wait; of the last attempt, which none follows, nothing."""
        if (wait := state.upcoming_sleep) >= SHOWN:
            reason = state.outcome.result().reason
            self.breaker.tell(f"{self.where}: {reason}; again in {wait:.0f} s")

    async def _attempt(self, call: Call, number: int) -> Answer:
        await self.breaker.unless_stopped(self.pace.admit(sum(call.tokens)))
        try:
            if self.cache is not None:
                require_room(self.cache)  # an answer that finds none would be paid for again
            entry = await self.meter.note_start(call.key, number, call.tokens, call.mark)
            result = await self._sender.send(call)
            tokens, facts = accounts(result.body or {})
            if tokens is not None:
                self.pace.correct(sum(call.tokens), sum(tokens))
            if (beyond := self._beyond(result)) is not None:
                self.breaker.until = max(self.breaker.until or 0.0, time.time() + beyond)
            if result.status not in LOST:
                wait = result.retry_after if beyond is None else None
                self.pace.note_answer(refused=result.status == "429", retry_after=wait)
            self.meter.note_end(entry, result.status, tokens, reason=result.reason, **facts)
        finally:
            self.pace.leave()
        if result.fatal is not None:
            raise result.fatal
        return result
