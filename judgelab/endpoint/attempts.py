"""One call in as many attempts as it takes, each of them paced and metered."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import TYPE_CHECKING

from judgelab.endpoint.limits import Limits
from judgelab.endpoint.meter import Meter
from judgelab.endpoint.pace import Pace
from judgelab.endpoint.sending import LOST, Answer, Call, EndpointError, Sender, accounts

if TYPE_CHECKING:
    from openai import AsyncOpenAI

SILENT = 3  # calls in a row that time out, each with all its retries, before we believe it


class Caller:
    """Calls an endpoint.

    Retried are 408, 409, 429, 5xx, timeouts and broken connections, and nothing else: an answer
    that cannot be read was paid for, and asking again would pay twice. The client's own retries are
    off; the secret (the key) is blotted out of every message of the server's.
    """

    def __init__(
        self, client: AsyncOpenAI, limits: Limits, meter: Meter, secret: str | None, where: str
    ) -> None:
        self.client, self.limits, self.meter = client, limits, meter
        self.where, self._sender = where, Sender(client, limits.timeout, secret, where)
        self.pace = Pace(limits)
        self._reached, self._silent = False, 0

    async def call(self, call: Call) -> Answer:
        """The answer, after as many attempts as the limits allow.

        Raises:
            ConfigError: the key, the address or the model is refused.
            EndpointError: nothing was ever answered, or the account is empty.
            BudgetReachedError: an attempt would exceed the budget.
        """
        attempt = 1
        while True:
            result = await self._attempt(call, attempt)
            if result.body is not None:
                return result
            if not result.again or attempt > self.limits.retries or self._silent >= SILENT:
                break
            most = min(self.limits.longest_wait, self.limits.backoff * 2 ** (attempt - 1))
            wait = random.uniform(0, most)  # any number will do: it changes no result
            if result.retry_after is not None:
                wait = result.retry_after + min(wait, 0.1 * result.retry_after)
            await asyncio.sleep(wait)
            attempt += 1
        if result.status in ("unreached", "broken") and not self._reached:
            raise EndpointError(
                f"{self.where} cannot be reached ({result.reason}): is it running, and is "
                "evaluation_lm.base_url right?"
            )
        self._silent += result.status == "timeout" and not self._reached
        if self._silent >= SILENT:
            raise EndpointError(
                f"{self.where} has not answered once in {SILENT} calls of "
                f"{self.limits.retries + 1} attempts each ({result.reason}): is it running "
                "behind that address, and is evaluation_lm.limits.timeout long enough?"
            )
        tries = f" after {attempt} attempts" if attempt > 1 else ""
        return replace(result, reason=f"{result.reason}{tries}")

    async def _attempt(self, call: Call, number: int) -> Answer:
        await self.pace.admit(sum(call.tokens))
        try:
            ticket = await self.meter.sent(call.key, number, call.tokens)
            result = await self._sender.send(call)
            tokens, facts = accounts(result.body or {})
            if tokens is not None:
                self.pace.used(sum(call.tokens), sum(tokens))
            if result.status not in LOST:
                self._reached, self._silent = True, 0
                refused = result.status == "429"
                self.pace.answered(refused=refused, retry_after=result.retry_after)
            self.meter.ended(ticket, result.status, tokens, reason=result.reason, **facts)
        finally:
            self.pace.leave()
        if result.fatal is not None:
            raise result.fatal
        return result
