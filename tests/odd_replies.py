"""Replies that no server should send, over real HTTP: none may end a run, or pass for a result.

``python -m tests.check_faults odd`` asks for 5,000.
"""

# ruff: noqa: E501
from __future__ import annotations

import asyncio
import copy
import gzip
import json
import math
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgelab.calls.cache import CallCache
from judgelab.calls.cached import CachedLM
from judgelab.calls.meter import Meter
from judgelab.calls.pace import Limits
from judgelab.core.lm import LogProb, Reply
from judgelab.evaluation_lm.openai import OpenAI
from tests.scripted import ask
from tests.servers.answers import Body, answer

DEEP = 200_000
QUICK = Limits(timeout=10, retries=0, backoff=0.001, longest_wait=0.01, concurrency=8, breaker=None)
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1.5, 10**400, 1e308, -1e308, math.inf, math.nan, "", "word", "\ud800", "\x00",
    "\x1b]0;pwned\x07\x1b[2J", "x" * 9999, [], {}, [[]], [None], ["x"], {"": None}, {"a": {"b": []}},
    [{"type": "text", "text": "[[A]]"}],
)  # fmt: skip
STATUSES = (100, 101, 102, 201, 203, 204, 205, 206, 226, 300, 301, 302, 303, 304, 307, 308, 400, 402,
            403, 405, 408, 409, 413, 418, 422, 425, 451, 500, 501, 502, 503, 504, 529, 599, 600, 777,
            999, 0, -1, 1000)  # fmt: skip
WAITS = ("inf", "nan", "-5", "1e999", "0x10", "soon", "", "٣", "9" * 400, "0", "0.001", "Mon, 99 Foo",
         "Fri, 31 Dec 9999999 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "Mon, 01 Jan 0000")  # fmt: skip
WORDS = (b"", b" ", b"null", b"1", b'"x"', b"[]", b"{}", b"{", b"\x00\x00\x00", b"\xff\xfe{}", b"NaN",
         b'{"choices": [{"message": ', b'{"id": "\xff"}', b"[" * DEEP, b"9" * 5000, b"data: {}\n\n",
         b'{"a":' * DEEP + b"1" + b"}" * DEEP, b"<html>sign in</html>", b"\xef\xbb\xbf{}",
         b'{"usage": {"prompt_tokens": ' + b"9" * 5000 + b"}}")  # fmt: skip


def _odd_field(rng: random.Random, whole: Body) -> bytes:
    """A sound answer in which one to three values are others, or are gone."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = list(_places(whole))
        holder, name = rng.choice(places)
        if rng.random() < 0.15:
            del holder[name]
        else:
            holder[name] = copy.deepcopy(rng.choice(ODD))
    body = json.dumps(whole).encode()
    if rng.random() < 0.05:
        body = b'{"usage": {"prompt_tokens": 3}, "choices": [],' + body[1:]  # names twice
    if rng.random() < 0.05:
        body = body.replace(b"null", b"[" * DEEP + b"]" * DEEP, 1)
    return body


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for name, held in list(entries):
        yield value, name
        if isinstance(held, dict | list):
            yield from _places(held)


def _http(status: object, body: bytes, *headers: str, length: object = None) -> bytes:
    size = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {size}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def by_field(rng: random.Random, whole: Body) -> bytes:
    return _http(200, _odd_field(rng, whole), "Content-Type: application/json")


def by_body(rng: random.Random, whole: Body) -> bytes:
    body = json.dumps(whole)
    made = (*WORDS, body[: rng.randrange(len(body))].encode(), body.encode("utf-16"),
            rng.randbytes(99), body.replace('": ', '": ["x", ', 3).encode())  # fmt: skip
    kind = rng.choice(
        ("application/json", "text/html", "text/event-stream", "image/png; x=\xff", "")
    )
    return _http(200, rng.choice(made), f"Content-Type: {kind}")


def by_status(rng: random.Random, whole: Body) -> bytes:
    error = {"error": {"message": rng.choice(ODD), "code": rng.choice(ODD), "type": "x"}}
    made = (json.dumps(error).encode(), json.dumps({"error": rng.choice(ODD)}).encode(),
            rng.choice(WORDS), _odd_field(rng, whole))  # fmt: skip
    url = rng.choice(("http://127.0.0.1:9/v1", "//[::1", "/v1/x", "ftp://u:p@h/", "\x7f", ""))
    status = 429 if rng.random() < 0.03 else rng.choice(STATUSES)
    waits = f"Retry-After: {rng.choice(WAITS)}", f"retry-after-ms: {rng.choice(WAITS)}"
    return _http(status, rng.choice(made), f"Location: {url}", *rng.sample(waits, rng.randrange(3)))


def by_wire(rng: random.Random, whole: Body) -> bytes:
    body = json.dumps(whole).encode()
    packed = gzip.compress(body)
    length = rng.choice((0, 5, len(body) + 50, -1, "many", 10**30, "7, 9", ""))
    chunked = rng.choice(
        (b"zz\r\n{}\r\n", b"5\r\n{}", b"ffffffffffffffffffff\r\n", b"0\r\n\r\n", b"\x00")
    )
    head = b"HTTP/1.1 200 OK\r\n"
    return rng.choice((
        _http(200, body, length=length),
        head + b"Transfer-Encoding: chunked\r\n\r\n" + chunked,
        head + b"Transfer-Encoding: gzip, chunked\r\nContent-Length: 3\r\n\r\n" + chunked,
        _http(200, body, "Content-Encoding: " + rng.choice(("gzip", "deflate", "br", "zstd", "x, y"))),
        _http(200, packed[: len(packed) // 2], "Content-Encoding: gzip"),
        _http(200, packed, "Content-Encoding: gzip"),
        _http(200, body, "X-Odd: " + "y" * rng.choice((9, 200_000))),
        _http(200, body, "X-Request-Id: \ud800".encode("utf-8", "surrogatepass").decode("latin-1")),
        b"HTTP/1.1 100 Continue\r\n\r\n" * rng.choice((1, 50)) + _http(200, body),
        head + b"\r\n", head[:9], b"", b"\x16\x03\x01 no HTTP\r\n\r\n", rng.randbytes(300), b"\r\n" * 20,
        head + b": nameless\r\n\r\n" + body, b"HTTP/9.9 200 OK\r\n\r\n" + body, head + b"\xff\x00: \x00\r\n\r\n",
    ))  # fmt: skip


KINDS: dict[str, Callable[[random.Random, Body], bytes]] = {
    "odd fields": by_field, "odd bodies": by_body, "odd statuses": by_status, "odd HTTP": by_wire,
}  # fmt: skip


def kind_of(number: int) -> str:
    return ("odd fields", "odd bodies", "odd fields", "odd statuses", "odd HTTP")[number % 5]


@contextmanager
def serving(seed: int) -> Iterator[str]:
    """A server in a thread: what names a number gets that number's odd reply, all else sound."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            top = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = re.search(r"content-length: (\d+)", top, re.IGNORECASE)
            raw = await reader.readexactly(int(length[1]) if length else 0)
            whole, number = answer(json.loads(raw), {}), re.search(rb"odd reply (\d+)", raw)
            if number is None:
                writer.write(_http(200, json.dumps(whole).encode()))
            else:
                k = int(number[1])
                writer.write(KINDS[kind_of(k)](random.Random(f"{seed} {k}"), whole))
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(serve, "127.0.0.1", 0, backlog=1000))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        loop.call_soon_threadsafe(server.close)
        asyncio.run_coroutine_threadsafe(server.wait_closed(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@dataclass
class Found:
    """(verb, kind of reply, what became of it) -> how often; and what must not be."""

    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def note(self, verb: str, number: int, got: Reply | LogProb) -> None:
        usable = got.text is not None if isinstance(got, Reply) else not math.isnan(got.total)
        state = "read" if usable else "settled" if got.settled else "unsettled"
        self.counts[verb, kind_of(number), state] += 1
        if not usable and not got.reason:
            self.wrong.append(f"{verb} {number}: nothing, and no reason")
        try:
            json.dumps(
                got[:] if isinstance(got, LogProb) else vars(got), ensure_ascii=False
            ).encode()
        except (ValueError, TypeError) as cause:
            self.wrong.append(f"{verb} {number}: {cause}")
        if isinstance(got, LogProb) and usable and not -1e4 * got.tokens <= got.total <= 0.01:
            self.wrong.append(f"{verb} {number}: {got}")
        counts = (got.input_tokens, got.output_tokens) if isinstance(got, Reply) else ()
        if any(c is not None and not 0 <= c <= 10**9 for c in counts):
            self.wrong.append(f"{verb} {number}: {got}")


def trial(n: int, seed: int, folder: Path, size: int = 50) -> Found:
    """Ask for ``n`` odd replies, half of them chats, and say what became of each."""
    found = Found()
    with serving(seed) as url:
        for verb, share in (("chat", 2), ("echo", 4), ("prompt", 4)):
            lm = OpenAI("m", url, QUICK, logprobs="none" if verb == "chat" else verb)  # type: ignore[arg-type]
            lm.attach(Meter(folder / f"{verb}.jsonl"))
            cached = CachedLM(lm, CallCache(folder / "calls.sqlite"))
            _ask(cached, verb, ["sound"])
            numbers = range(n // share)
            for start in range(0, len(numbers), size):
                part = numbers[start : start + size]
                _note_all(found, cached, verb, part)
            cached.close()
    return found


def _note_all(found: Found, lm: CachedLM, verb: str, part: range) -> None:
    try:
        for k, got in zip(part, _ask(lm, verb, [f"odd reply {k}" for k in part]), strict=True):
            found.note(verb, k, got)
    except Exception as cause:
        if len(part) == 1:
            found.counts[verb, kind_of(part[0]), "raised"] += 1
            found.wrong.append(f"{verb} {part[0]}: {type(cause).__name__}: {str(cause)[:300]}")
            return
        for k in part:
            _note_all(found, lm, verb, range(k, k + 1))


def _ask(lm: CachedLM, verb: str, texts: list[str]) -> Sequence[Any]:
    if verb == "chat":
        return lm.chat([ask(t, top_logprobs=2 * (len(t) % 2)) for t in texts])
    return lm.logprob(
        [f"{t}:" for t in texts], [" the fog"], [(k, 0) for k in range(len(texts))]
    ).rows
