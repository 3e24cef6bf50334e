"""One call in as many attempts as it takes, each of them paced and metered."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from judgelab.endpoint.breaker import SHOWN, Breaker, StoppedError, sensible, stamp
from judgelab.endpoint.limits import Limits
from judgelab.endpoint.meter import BudgetReachedError, Meter
from judgelab.endpoint.pace import Pace
from judgelab.endpoint.sending import LOST, Answer, Call, EndpointError, Sender, accounts

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class Caller:
    """Calls an endpoint.

    Retried are 408, 409, 429, 5xx, timeouts and broken connections, and nothing else: an answer
    that cannot be read was paid for, and asking again would pay twice. The client's own retries are
    off; the secret (the key) is blotted out of every message of the server's.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        limits: Limits,
        meter: Meter,
        secret: str | None,
        where: str,
        tell: Callable[[str], None] = lambda words: None,
    ) -> None:
        self.client, self.limits = client, limits
        self.where, self._sender = where, Sender(client, limits.timeout, secret, where)
        self.pace = Pace(limits)
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
