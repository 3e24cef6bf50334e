"""One attempt at a call: a request over HTTP, and what the server makes of it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judgelab.core.errors import ConfigError, JudgelabError
from judgelab.endpoint.body import BODY, MalformedError, RefusedError, cleaner, parse, usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

AGAIN = frozenset({408, 409, 429, *range(500, 600)})
BYTES_PER_TOKEN = 4  # of English, roughly; only for pacing and for estimates, never in a result
LOST = ("timeout", "unreached", "broken")  # attempts that the server sent no answer to
REASON = 200  # characters of a server's message that are kept
READ = 4096  # bytes of an error that is not JSON
NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?", re.ASCII)


class EndpointError(JudgelabError):
    """The endpoint will not answer any call as things are."""


@dataclass(frozen=True)
class Call:
    """One request."""

    verb: str  # chat or completions
    body: Mapping[str, Any]  # what is sent, as JSON
    key: Sequence[str]  # what it is about, for the meter
    tokens: tuple[int, int]  # (input, output) that it may take at most, for pacing and the budget

    @property
    def mark(self) -> str:
        """A hash of what is sent, by which the account of an earlier execution knows it."""
        sent = json.dumps([self.verb, self.body], sort_keys=True)
        return hashlib.blake2b(sent.encode(), digest_size=8).hexdigest()


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
    """Sends requests, follows no redirect, and reads no more of an answer than is reasonable.

    The secret (the key) is blotted out of every string that the server sends. A wrong key, model or
    address ends the run while nothing was answered; later it is an outage (401, 404, a redirect)
    or concerns one call (403).
    """

    def __init__(self, client: AsyncOpenAI, timeout: float, secret: str | None, where: str) -> None:
        self.client, self.timeout, self.where = client, timeout, where
        self._clean, self._proven = cleaner(secret), False

    async def send(self, call: Call) -> Answer:
        """What came of one attempt; nothing that a server sends raises."""
        from openai import APIConnectionError, APITimeoutError

        client: Any = self.client.chat if call.verb == "chat" else self.client
        streamed = client.completions.with_streaming_response
        try:
            async with asyncio.timeout(self.timeout), streamed.create(**call.body) as response:
                body = parse(response.http_response.extensions[BODY], self._clean)
        except (TimeoutError, APITimeoutError):
            return Answer(None, f"no answer in {self.timeout:g} s", "timeout", again=True)
        except MalformedError as cause:
            return Answer(None, f"malformed answer ({cause})", "malformed")
        except RefusedError as cause:
            return self._status(cause)
        except APIConnectionError as cause:
            what = type(cause.__cause__ or cause).__name__
            status = "unreached" if what == "ConnectError" else "broken"
            return Answer(None, f"broken connection ({what})", status, again=True)
        self._proven = True
        return Answer(body)

    def _status(self, refused: RefusedError) -> Answer:
        status, (message, code) = refused.status, self._said(refused)
        said, retry_after = f"HTTP {status}: {message}", _retry_after(refused.headers)
        if status == 429 and code == "insufficient_quota":
            return Answer(None, said, "429", fatal=EndpointError(f"{self.where}: {said}."))
        wrong = _setting(status)
        if wrong is None:
            return Answer(None, said, str(status), status in AGAIN, retry_after)
        if self._proven:  # it has answered before: a stray one, or an outage
            return Answer(None, said, str(status), status != 403, retry_after)
        return Answer(None, said, str(status), fatal=ConfigError(wrong.format(self.where, said)))

    def _said(self, refused: RefusedError) -> tuple[str, str | None]:
        """The message of an error body, or where a redirect leads; and the error's code."""
        if refused.status // 100 == 3:
            place = self._clean(_place(refused.headers.get("location", "")))
            return f"a redirect to {place}, which is not followed", None
        try:
            body: Any = parse(refused.body, self._clean)
            body = body["error"] if isinstance(body.get("error"), dict) else body
            message, code = body.get("message") or body.get("error") or body, body.get("code")
        except MalformedError:
            message, code = self._clean(refused.body[:READ].decode(errors="replace")), None
        return " ".join(str(message).split())[:REASON] or "no message", str(code)


def _setting(status: int) -> str | None:
    """Which setting is wrong where an endpoint that never answered says this."""
    if status in (401, 403):
        return (
            "{} refuses the key ({}): check the environment variable that "
            "evaluation_lm.api_key_env names."
        )
    if status == 404:
        return (
            "{} has no such model or address ({}): check evaluation_lm.model and "
            "evaluation_lm.base_url."
        )
    if status // 100 == 3:
        return "{} is not where the endpoint is ({}): check evaluation_lm.base_url."
    return None


def _place(location: str) -> str:
    """Scheme, host and port of an address; no user, path or query: they may hold secrets."""
    try:
        parts = urlsplit(location)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an address that is none"
    if not parts.hostname:
        return "another path there" if location else "nowhere"
    return f"{parts.scheme or 'http'}://{parts.hostname}{port}"[:REASON]


def estimate(texts: Sequence[str]) -> int:
    """About how many tokens the texts are."""
    return 1 + sum(len(text.encode()) for text in texts) // BYTES_PER_TOKEN


def accounts(body: Mapping[str, Any]) -> tuple[tuple[int, int] | None, dict[str, Any]]:
    """Tokens (input, output) and the facts worth keeping, as the server says."""
    said = {name: body.get(name) for name in ("model", "system_fingerprint")}
    facts = {name: v[:REASON] if isinstance(v, str) else None for name, v in said.items()}
    return usage(body), facts


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: a number, or until a date (RFC 9110, 10.2.3); None: not said, or odd."""
    milliseconds, value = headers.get("retry-after-ms", ""), headers.get("retry-after", "")
    if NUMBER.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    if NUMBER.fullmatch(value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
