"""What is made of what a server sends: reasons, and whether the call is settled."""

from __future__ import annotations

import asyncio
import json
import math
import re
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from openai import APIConnectionError, APITimeoutError

from judgelab.calls.batch import digest
from judgelab.calls.cache import CallCache
from judgelab.calls.pace import Limits
from judgelab.calls.prompts import RawPrompts, ScoredPrompt, is_of
from judgelab.calls.sending import (
    BODY,
    FARTHEST,
    Answer,
    RefusedError,
    Sender,
    _retry_after,
    chat_call,
    reply_of,
)
from judgelab.evaluation_lm.openai import OpenAI
from tests.odd_replies import WAITS, trial
from tests.scripted import ask
from tests.servers.process import scripted

HASTY = Limits(timeout=2.0, backoff=0.01, longest_wait=0.05, retries=1, concurrency=4, breaker=None)
TARGETS = [f"word {k}" for k in range(12)]
NO_NUMBERS = "it reports log-probabilities that are not numbers of at most 0"
PAIRS = [(0, t) for t in range(len(TARGETS))]


@pytest.mark.parametrize("mode", ["echo", "prompt"])
@pytest.mark.parametrize(
    ("fault", "reason", "settled"),
    [
        ("500xall", "HTTP 500: trouble with Bearer *** after 2 attempts", False),
        ("400", "HTTP 400: trouble with Bearer ***", True),
        ("malformed", "malformed answer (not JSON)", True),
        ("tokens", "malformed answer (the tokens that it reports are not the prompt's)", True),
        ("logprob=-1e308", f"malformed answer ({NO_NUMBERS})", True),
        ("logprob=nan", f"malformed answer ({NO_NUMBERS})", True),
        ("logprob=1", f"malformed answer ({NO_NUMBERS})", True),
        ("logprob=word", f"malformed answer ({NO_NUMBERS})", True),
        ("empty", "malformed answer (it answers without the field that ", True),
    ],
)
def test_a_pair_without_a_score_says_why_and_whether_it_is_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, fault: str, reason: str,
    settled: bool,
) -> None:  # fmt: skip
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
    with scripted(tmp_path) as server:
        lm = OpenAI("m", server.url, HASTY, logprobs=mode)  # type: ignore[arg-type]
        assert not math.isnan(lm.logprob(["x "], ["y"], [(0, 0)]).total[0])
        server.change(faults=[fault], share=1)
        rows = lm.logprob(["So then: "], TARGETS, PAIRS).rows
        lm.close()
    missing = [row for row in rows if math.isnan(row.total)]
    assert len(missing) == len(rows)
    assert {row.settled for row in missing} == {settled}
    assert all(str(row.reason).startswith(reason) for row in missing), missing[0]


def test_no_reply_that_a_server_can_send_ends_a_run(tmp_path: Path) -> None:
    found = trial(300, 7, tmp_path)
    assert not found.wrong
    assert found.counts.total() == 300
    assert {state for _, _, state in found.counts} == {"read", "settled", "unsettled"}


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2", 2.0),
        ("0.5", 0.5),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        *((odd, None) for odd in (*WAITS[:9], str(FARTHEST + 1))),
    ],
)
def test_a_retry_after_that_is_no_time_is_ignored(value: str, seconds: float | None) -> None:
    assert _retry_after({"retry-after": value}) == seconds


B = "\ufffd"


@pytest.mark.parametrize(
    ("text", "tokens", "spelt"),
    [
        ("The cat sat", ["The", " cat", " sat"], True),
        ("The cat sat", ["<s>", "The", " cat", " sat"], True),
        ("The cat sat", ["<s>", "<user>", "The", " cat", " sat"], True),
        ("The cat sat", ["zzz", " yyy", " qqq"], False),
        ("The cat sat", ["The", " cat", " sat", "."], False),
        ("Zu \u65e5\u672c!", ["Zu", f" {B}", B, B, "\u672c", "!"], True),
        ("\u65e5\u65e5\u65e5", [B, B, "\u65e5", B], True),
        ("Zu \u65e5\u672c!", ["Zu", f" {B}", "\u672c", "?"], False),
        ("Zu \u65e5\u672c!", [B, B, B, B, B, B], False),
        ("cafe\u0301", ["caf", "\u00e9"], True),
    ],
)
def test_tokens_spell_a_text(text: str, tokens: list[str], spelt: bool) -> None:
    assert is_of(ScoredPrompt(tuple(tokens), (-1.0,) * len(tokens)), text) is spelt


def test_a_prompt_with_a_gap_is_not_kept(tmp_path: Path) -> None:
    """Else a server that is mended since is asked in vain."""
    raw = RawPrompts("m", "echo", "an LM")
    raw.cache = CallCache(tmp_path / "c.sqlite")
    answers = [[None, None], [None, -1.0]]

    class Healing:
        async def call(self, call: object) -> Answer:
            values = {"tokens": ["a", "b"], "token_logprobs": answers.pop(0)}
            return Answer({"usage": {"prompt_tokens": 2}, "choices": [{"logprobs": values}]})

    healed = ScoredPrompt(("a", "b"), (None, -1.0))
    found = [asyncio.run(raw._ask_text(Healing(), "ab", keep=True)) for _ in range(3)]  # type: ignore[arg-type]
    assert found == [ScoredPrompt(("a", "b"), (None, None)), healed, healed] and not answers
    earlier = {"tokens": ["c", "d"], "logprobs": [None, -2.0]}  # as earlier releases keep it
    raw.cache.add({digest(json.dumps(["prompt", "an LM", "cd"])): json.dumps(earlier)})
    known = asyncio.run(raw._ask_text(Healing(), "cd"))  # type: ignore[arg-type]
    assert known == ScoredPrompt(("c", "d"), (None, -2.0))
    raw.cache.close()


REQUEST = ask("?", max_tokens=5)
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
