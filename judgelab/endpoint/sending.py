"""One attempt at a call: a request over HTTP, and what the server makes of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import ConfigError, JudgelabError

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

AGAIN = frozenset({408, 409, 429, *range(500, 600)})
BYTES_PER_TOKEN = 4  # of English, roughly; only for pacing and for estimates, never in a result
LOST = ("timeout", "unreached", "broken")  # attempts that the server sent no answer to
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
    status: str = "answered"  # or HTTP status, timeout, unreached, broken, malformed, unsent
    again: bool = False  # whether another attempt may bring one
    retry_after: float | None = None  # seconds, as the server says
    fatal: JudgelabError | None = None  # nothing else will be answered either

    @property
    def settled(self) -> bool:
        """Whether the call is over: answered, if only to be refused or with what is unreadable."""
        return not self.again and self.status not in LOST


class Sender:
    """Sends requests. The secret (the key) is blotted out of every message of the server's."""

    def __init__(self, client: AsyncOpenAI, timeout: float, secret: str | None, where: str) -> None:
        self.client, self.timeout, self.where, self._secret = client, timeout, where, secret

    async def send(self, call: Call) -> Answer:
        """What came of one attempt; nothing that a server sends raises."""
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        client: Any = self.client.chat if call.verb == "chat" else self.client
        try:
            async with asyncio.timeout(self.timeout):
                raw = await client.completions.with_raw_response.create(**call.body)
        except (TimeoutError, APITimeoutError):
            return Answer(None, f"no answer in {self.timeout:g} s", "timeout", again=True)
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


def accounts(body: dict[str, Any]) -> tuple[tuple[int, int] | None, dict[str, Any]]:
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
