"""Every kind of ending is settled, or open, as the one table of them says."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from openai import APIConnectionError, APITimeoutError

from judgelab.calls.sending import BODY, Answer, RefusedError, Sender, chat_call, reply_of
from judgelab.core.lm import ChatRequest, Message

REQUEST = ChatRequest((Message("user", "?"),), max_tokens=5)
HTTP = httpx.Request("POST", "http://h")


def choice(finish: str = "stop", **message: Any) -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}]}).encode()


def refused(status: int) -> RefusedError:
    return RefusedError(status, {}, b"{}")


def no_connection(cause: Exception) -> APIConnectionError:
    fault = APIConnectionError(request=HTTP)
    fault.__cause__ = cause
    return fault


KEPT, RETRY, OPEN = "nothing: it is kept", "`retry=unscored`", "the same command"
ROW = re.compile(r"^\| (.*) \| (nothing: it is kept|`retry=unscored`|the same command) \|$", re.M)
CASES: list[list[bytes | Exception]] = [  # as the rows of docs/faults.md
    [choice(content="A"), choice(content="hard to say")],
    [choice(refusal="no", content=None), choice("content_filter", content="")],
    [choice(content=""), b'{"choices": []}'],
    [choice("length", content="A")],
    [b'{"error": {"message": "overloaded"}}', b'{"choices": [{"message": 5}]}'],
    [b'{"choices": [', b"[1]"],
    [refused(400), refused(422)],
    [refused(403)],
    [refused(status) for status in (401, 403, 404, 307)],
    [refused(status) for status in (401, 404, 307)],
    [refused(status) for status in (408, 409, 429, 500, 503)],
    [APITimeoutError(request=HTTP), TimeoutError()],
    [no_connection(httpx.ReadError("")), no_connection(httpx.ConnectError(""))],
    [],
]
TABLE = ROW.findall(Path("docs/faults.md").read_text(encoding="utf-8"))


def answer(end: bytes | Exception, proven: bool) -> Answer:
    """What comes of an attempt that ends so."""

    @asynccontextmanager
    async def create(**body: Any) -> Any:
        if isinstance(end, Exception):
            raise end
        yield SimpleNamespace(http_response=SimpleNamespace(extensions={BODY: end}))

    chat = SimpleNamespace(
        completions=SimpleNamespace(with_streaming_response=SimpleNamespace(create=create))
    )
    client: Any = SimpleNamespace(chat=chat)
    sender = Sender(client, 5.0, None, "there")
    sender._proven = proven
    return asyncio.run(sender.send(chat_call(REQUEST, "m", {}, "max_tokens")))


@pytest.mark.parametrize(
    ("what", "again", "ends"),
    [(*row, ends) for row, ends in zip(TABLE, CASES, strict=True)],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_asks_a_call_again_is_what_the_page_says(
    what: str, again: str, ends: list[bytes | Exception]
) -> None:
    """What ``retry=unscored`` asks again is settled; what the same command does leaves it open."""
    came = [answer(end, proven="before the first" not in what) for end in ends]
    for one in came or [Answer(None, "not sent", "unsent", again=True)]:
        if one.fatal is not None:  # ends the run before anything is kept
            assert "exit code 1" in what and again == OPEN
            continue
        reply = reply_of(one, REQUEST)
        assert again == (KEPT if reply.text is not None else RETRY if reply.settled else OPEN), one


def test_a_certificate_that_is_not_trusted_is_called_that() -> None:
    """It was "broken connection (ConnectError)"."""
    fault = httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate")
    came = answer(no_connection(fault), proven=False)
    assert came.status == "unreached"
    assert came.reason == "its certificate is self-signed, expired or of an unknown authority"
