"""One attempt at a call: what is sent, and its answer, read within bounds and made harmless."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from judgelab.core.errors import ConfigError, JudgelabError
from judgelab.core.lm import WITHOUT_PROBABILITIES, ChatRequest, Reply

if TYPE_CHECKING:
    from openai import AsyncOpenAI


LARGEST = 16 * 2**20  # bytes of a body, after decompression
DEEPEST = 64  # levels of JSON
SHORTEST_SECRET = 8  # characters: to blot out a shorter one would blot out words of texts
ASKED = "gzip, deflate"  # ways of compression that we undo within bounds, and so ask for
BODY = "judgelab.body"  # where a response's body is kept
WIDTHS = {"": None, "identity": None, "gzip": 31, "x-gzip": 31, "deflate": 15}
BLOT = "***"
HALVES = re.compile("[\ud800-\udfff]")


class UnusableError(Exception):
    """A body cannot be read, or does not hold what was asked for; the message says why."""


@dataclass(frozen=True)
class RefusedError(Exception):
    """The server answered with another status than 2xx."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def keep_body(response: Any) -> None:
    """A hook of the HTTP client: read the body, no more of it than ``LARGEST``, and keep it.

    Raises:
        UnusableError: it is larger, or compressed in a way that was not asked for.
        RefusedError: the status is not 2xx.
    """
    try:
        body = await _read(response)
    except UnusableError:
        if response.is_success:
            raise
        body = b""
    if not response.is_success:
        raise RefusedError(response.status_code, response.headers, body)
    response.extensions[BODY] = body


async def _read(response: Any) -> bytes:
    coding = response.headers.get("content-encoding", "").strip().lower()
    if coding not in WIDTHS:
        raise UnusableError("compressed in a way that was not asked for")
    width, parts, size = WIDTHS[coding], list[bytes](), 0
    inflate = None if width is None else zlib.decompressobj(width)
    async for part in response.aiter_raw():
        if inflate is not None:
            try:
                part = inflate.decompress(part, LARGEST + 1 - size)
            except zlib.error:
                raise UnusableError(f"not {coding}, though it says so") from None
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            raise UnusableError(f"more than {LARGEST >> 20} MiB")
    return b"".join(parts)


def parse(data: bytes, clean: Callable[[str], str]) -> dict[str, Any]:
    """The JSON object, each of its strings cleaned; UnusableError where it is none."""
    try:
        body = json.loads(data)
    except RecursionError:
        raise UnusableError("nested beyond reason") from None
    except ValueError:
        raise UnusableError("not JSON") from None
    if not isinstance(body, dict):
        raise UnusableError("not a JSON object")
    return dict(_clean_values(body, clean, DEEPEST))


def _clean_values(value: Any, clean: Callable[[str], str], levels: int) -> Any:
    if levels == 0:
        raise UnusableError("nested beyond reason")
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_clean_values(one, clean, levels - 1) for one in value]
    if isinstance(value, dict):
        return {clean(name): _clean_values(one, clean, levels - 1) for name, one in value.items()}
    return value


def cleaner(secret: str | None) -> Callable[[str], str]:
    """What blots the secret out of a text, as it is or escaped, and mends half characters.

    A secret of fewer than ``SHORTEST_SECRET`` characters stays: it would be found in words.
    """
    forms = set[str]()
    if secret and len(secret) >= SHORTEST_SECRET:
        in_json = json.dumps(secret)[1:-1]
        forms = {secret, in_json, in_json.replace("/", "\\/"), quote(secret, safe="")}
    pattern = re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))) or "(?!)")
    return lambda text: pattern.sub(BLOT, HALVES.sub("\ufffd", text))


def count(value: Any) -> int | None:
    """A number of tokens that can be believed, else None."""
    return value if type(value) is int and 0 <= value <= 10**9 else None


def accounts(body: Mapping[str, Any]) -> tuple[tuple[int, int] | None, dict[str, Any]]:
    """Tokens (input, output), where both can be believed, and the facts that are worth keeping."""
    usage = body["usage"] if isinstance(body.get("usage"), dict) else {}
    n_in, n_out = (count(usage.get(f"{side}_tokens")) for side in ("prompt", "completion"))
    own = {name: body.get(name) for name in ("model", "system_fingerprint")}
    facts = {name: v[:REASON] if isinstance(v, str) else None for name, v in own.items()}
    return None if n_in is None or n_out is None else (n_in, n_out), facts


LEAST, ROUNDING = -1e4, 1e-3  # nats of a token; a little above 0 for rounding


def finite(value: Any, least: float = LEAST) -> float:
    """A log-probability of a token; UnusableError where it is none."""
    if type(value) not in (int, float) or not least <= value <= ROUNDING:
        raise UnusableError("it reports log-probabilities that are not numbers of at most 0")
    return float(value)


AGAIN = frozenset({408, 409, 429, *range(500, 600)})
UNBOUNDED = 500  # output tokens expected of a request without a limit, for pacing and estimates
BYTES_PER_TOKEN = 4  # of English, roughly; only for pacing and for estimates, never in a result
KEY = "the environment variable that evaluation_lm.api_key_env names"
SETTINGS = {
    401: KEY,
    403: KEY,
    404: "evaluation_lm.model and evaluation_lm.base_url",
    3: "evaluation_lm.base_url",
}
"""Status (3: any redirect) -> what is wrong where an endpoint that never answered says this."""
LOST = ("timeout", "unreached", "broken")  # attempts that the server sent no answer to
UNTRUSTED = "its certificate is self-signed, expired or of an unknown authority"
REASON = 200  # characters of a server's message that are kept
READ = 4096  # bytes of an error that is not JSON
FARTHEST = 400 * 86400.0  # seconds: to wait for longer is no sensible demand
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
        text = json.dumps([self.verb, self.body], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


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
        completions = client.completions.with_streaming_response
        try:
            async with asyncio.timeout(self.timeout), completions.create(**call.body) as response:
                body = parse(response.http_response.extensions[BODY], self._clean)
        except (TimeoutError, APITimeoutError):
            return Answer(None, f"no answer in {self.timeout:g} s", "timeout", again=True)
        except UnusableError as cause:
            return Answer(None, f"malformed answer ({cause})", "malformed")
        except RefusedError as cause:
            return self._status(cause)
        except APIConnectionError as cause:
            what = type(cause.__cause__ or cause).__name__
            if "CERTIFICATE_VERIFY_FAILED" in str(cause.__cause__):
                return Answer(None, UNTRUSTED, "unreached", again=True)
            status = "unreached" if what == "ConnectError" else "broken"
            return Answer(None, f"broken connection ({what})", status, again=True)
        self._proven = True
        return Answer(body)

    def _status(self, error: RefusedError) -> Answer:
        status, (message, code) = error.status, self._message(error)
        reason, retry_after = f"HTTP {status}: {message}", _retry_after(error.headers)
        if status == 429 and code == "insufficient_quota":
            return Answer(None, reason, "429", fatal=EndpointError(f"{self.where}: {reason}."))
        wrong = SETTINGS.get(3 if status // 100 == 3 else status)
        if wrong is None:
            return Answer(None, reason, str(status), status in AGAIN, retry_after)
        if self._proven:  # it has answered before: a stray one, or an outage
            return Answer(None, reason, str(status), status != 403, retry_after)
        advice = f"{self.where} answers {reason}: check {wrong}."
        return Answer(None, reason, str(status), fatal=ConfigError(advice))

    def _message(self, error: RefusedError) -> tuple[str, str | None]:
        """The message of an error body, and the error's code."""
        if error.status // 100 == 3:
            return "a redirect, which is not followed", None
        try:
            body: Any = parse(error.body, self._clean)
            body = body["error"] if isinstance(body.get("error"), dict) else body
            message, code = body.get("message") or body.get("error") or body, body.get("code")
        except UnusableError:
            message, code = self._clean(error.body[:READ].decode(errors="replace")), None
        return " ".join(str(message).split())[:REASON] or "no message", str(code)


def estimate(texts: Sequence[str]) -> int:
    """About how many tokens the texts are."""
    return 1 + sum(len(text.encode(errors="surrogatepass")) for text in texts) // BYTES_PER_TOKEN


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: a number, or until a date (RFC 9110, 10.2.3); None: not said, or odd."""
    value = headers.get("retry-after", "")
    try:
        number = NUMBER.fullmatch(value) is not None
        wait = float(value) if number else parsedate_to_datetime(value).timestamp() - time()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return max(0.0, wait) if wait <= FARTHEST else None


TokenLimit = Literal["max_tokens", "max_completion_tokens"]
LOWEST = -1e300  # nats of an alternative, which may be all but impossible


def chat_call(
    request: ChatRequest, model: str, extra: Mapping[str, Any], limit: TokenLimit
) -> Call:
    """The request for /chat/completions."""
    messages = [{"role": m.role, "content": m.content} for m in request.messages]
    body: dict[str, Any] = {"model": model, "messages": messages}
    body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body[limit] = request.max_tokens
    if request.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if request.schema:
        form = {"name": "verdict", "strict": True, "schema": json.loads(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    if extra:
        body["extra_body"] = dict(extra)
    tokens = estimate([m.content for m in request.messages])
    return Call("chat", body, request.key, (tokens, request.max_tokens or UNBOUNDED))


def refuses_format(answer: Answer) -> bool:
    """Whether a server says that it takes no ``response_format``, or none of this kind."""
    match = re.search(r"response_?format|json_?schema|structured.output", answer.reason or "", re.I)
    return answer.status in ("400", "422") and match is not None


def reply_of(answer: Answer, request: ChatRequest) -> Reply:
    """The reply, or the reason why there is none."""
    if (body := answer.body) is None:
        return Reply(None, answer.reason, settled=answer.settled)
    tokens, facts = accounts(body)
    input_tokens, output_tokens = tokens or (None, None)
    reply = Reply(None, None, input_tokens, output_tokens, model=facts["model"])
    try:
        text, alternatives = _content(body, request)
    except UnusableError as cause:
        return replace(reply, reason=str(cause), settled=True)
    return replace(reply, text=text, top_logprobs=alternatives)


def _content(
    body: Mapping[str, Any], request: ChatRequest
) -> tuple[str, tuple[tuple[tuple[str, float], ...], ...]]:
    """A reply's text and the alternatives of its tokens; UnusableError, saying why, without."""
    if body.get("choices") == []:
        raise UnusableError("empty answer (no choice)")
    try:
        choice = body["choices"][0]
        refusal, finish = choice["message"].get("refusal"), choice.get("finish_reason")
        text = choice["message"].get("content")
        blank = not text or not text.strip()
    except (KeyError, TypeError, AttributeError, IndexError):
        raise UnusableError("malformed answer (not a chat completion)") from None
    if refusal:
        raise UnusableError(f"refused: {' '.join(str(refusal).split())[:REASON]}")
    if finish == "content_filter":
        raise UnusableError("content filter")
    if finish == "length":
        raise UnusableError(f"cut at {request.max_tokens or 'the longest'} tokens")
    if blank:
        raise UnusableError("empty answer")
    if not request.top_logprobs:
        return text, ()
    try:
        return text, tuple(
            tuple((str(a["token"]), finite(a["logprob"], LOWEST)) for a in token["top_logprobs"])
            for token in choice["logprobs"]["content"]
        )
    except (KeyError, TypeError, AttributeError):
        raise UnusableError(WITHOUT_PROBABILITIES) from None
    except UnusableError as cause:
        raise UnusableError(f"malformed answer ({cause})") from None
