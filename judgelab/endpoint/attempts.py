"""One call in as many attempts as it takes, each of them paced and metered."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import ConfigError, JudgelabError
from judgelab.endpoint.limits import Limits
from judgelab.endpoint.meter import Meter
from judgelab.endpoint.pace import Pace

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

AGAIN = frozenset({408, 409, 429, *range(500, 600)})
BYTES_PER_TOKEN = 4  # of English, roughly; only for pacing and for estimates, never in a result
LOST = ("timeout", "unreached", "broken")  # attempts that the server sent no answer to
SILENT = 3  # calls in a row that time out, each with all its retries, before we believe it
REASON = 200  # characters of a server's message that are kept


class EndpointError(JudgelabError):
    """The endpoint will not answer any call as things are."""


@dataclass(frozen=True)
class Call:
    """One request."""

    verb: str  # chat or completions
    body: Mapping[str, Any]  # what is sent, as JSON
    key: Sequence[str]  # what it is about, for the meter
    tokens: tuple[int, int]  # (input, output) that it may take at most, for pacing and the budget


@dataclass(frozen=True)
class Answer:
    """What came of a call, or of one attempt at it."""

    body: dict[str, Any] | None  # the server's JSON, None where there is none
    reason: str | None = None  # why there is none
    status: str = "answered"  # or HTTP status, timeout, unreached, broken, malformed
    again: bool = False  # whether another attempt may bring one
    retry_after: float | None = None  # seconds, as the server says
    fatal: JudgelabError | None = None  # nothing else will be answered either


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
        self.where, self._secret = where, secret
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
            result = await self._send(call)
            tokens, facts = _accounts(result.body or {})
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

    async def _send(self, call: Call) -> Answer:
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        client: Any = self.client.chat if call.verb == "chat" else self.client
        try:
            async with asyncio.timeout(self.limits.timeout):
                raw = await client.completions.with_raw_response.create(**call.body)
        except (TimeoutError, APITimeoutError):
            return Answer(None, f"no answer in {self.limits.timeout:g} s", "timeout", again=True)
        except APIStatusError as cause:
            return self._status(cause)
        except APIConnectionError as cause:
            what = type(cause.__cause__ or cause).__name__
            status = "unreached" if what == "ConnectError" else "broken"
            return Answer(None, f"broken connection ({what})", status, again=True)
        try:
            body = json.loads(raw.http_response.content)
        except ValueError:
            return Answer(None, "malformed answer (not JSON)", "malformed")
        if not isinstance(body, dict):
            return Answer(None, "malformed answer (not a JSON object)", "malformed")
        return Answer(body)

    def _status(self, cause: APIStatusError) -> Answer:
        status, message = cause.status_code, _message(cause)
        if self._secret:
            message = message.replace(self._secret, "***")
        message = " ".join(message.split())[:REASON]
        said, fatal = f"HTTP {status}: {message}", None
        if status in (401, 403):
            fatal = ConfigError(
                f"{self.where} refuses the key ({said}): check the environment variable that "
                "evaluation_lm.api_key_env names."
            )
        elif status == 404:
            fatal = ConfigError(
                f"{self.where} has no such model or address ({said}): check evaluation_lm.model "
                "and evaluation_lm.base_url."
            )
        elif status == 429 and cause.code == "insufficient_quota":
            return Answer(None, said, "429", fatal=EndpointError(f"{self.where}: {said}."))
        retry_after = _retry_after(cause.response.headers)
        return Answer(None, said, str(status), status in AGAIN, retry_after, fatal)


def estimate(texts: Sequence[str]) -> int:
    """About how many tokens the texts are."""
    return 1 + sum(len(text.encode()) for text in texts) // BYTES_PER_TOKEN


def _accounts(body: dict[str, Any]) -> tuple[tuple[int, int] | None, dict[str, Any]]:
    """Tokens (input, output) and the facts worth keeping, as the server says."""
    usage = body.get("usage")
    facts = {name: body.get(name) for name in ("model", "system_fingerprint")}
    if not isinstance(usage, dict) or not isinstance(usage.get("prompt_tokens"), int):
        return None, facts
    return (usage["prompt_tokens"], int(usage.get("completion_tokens") or 0)), facts


def _message(cause: APIStatusError) -> str:
    body: Any = cause.body
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        body = body["error"]
    if isinstance(body, Mapping):
        body = body.get("message") or body
    return str(body or cause.message)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: a number, or until a date (RFC 9110, 10.2.3)."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        if value.replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return None
