"""Bodies within bounds, redirects that are not followed, keys that are blotted out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgelab.calls.pace import Limits
from judgelab.calls.sending import DEEPEST, UnusableError, cleaner, parse
from judgelab.core.errors import ConfigError
from judgelab.core.lm import ChatRequest, Message, Reply
from judgelab.evaluation_lm.openai import OpenAI
from tests.servers.process import Running, scripted

QUICK = Limits(timeout=5.0, backoff=0.01, longest_wait=0.05, retries=0, concurrency=4)
KEY = 'sk-canary/"0123456789'


def ask(server: Running, text: str = "judge this", limits: Limits = QUICK) -> Reply:
    lm = OpenAI("m", server.url, limits)
    try:
        return lm.chat([ChatRequest((Message("user", text),))])[0]
    finally:
        lm.close()


def peak() -> int:
    """Most memory of this process since the last call, in MB."""
    status = Path("/proc/self/status").read_text()
    Path("/proc/self/clear_refs").write_text("5")
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


@pytest.mark.parametrize("fault", ["big=50", "bomb=200"])
def test_a_body_without_bounds_is_not_read(tmp_path: Path, fault: str) -> None:
    with scripted(tmp_path) as server:
        assert ask(server).text
        server.change(faults=[fault], share=1)
        peak()
        before = peak()
        reply = ask(server)
        assert peak() - before < 100
    assert reply == Reply(None, "malformed answer (more than 16 MiB)", settled=True)


@pytest.mark.parametrize("status", ["301", "302", "307", "308"])
def test_a_redirect_is_not_followed_and_says_where_it_leads(tmp_path: Path, status: str) -> None:
    with scripted(tmp_path, faults=[f"redirect={status}"], share=1) as server:
        with pytest.raises(
            ConfigError, match=r"a redirect, which is not followed: check evaluation_lm.base_url"
        ):
            ask(server)
        assert not server.events("leaked")


def test_a_stray_redirect_or_refusal_of_the_key_ends_no_run(tmp_path: Path) -> None:
    with scripted(tmp_path) as server:
        lm = OpenAI("m", server.url, QUICK)
        requests = [ChatRequest((Message("user", f"judge {k}"),)) for k in range(5)]
        assert lm.chat(requests[:1])[0].text
        found = []
        for request, fault in zip(requests[1:], ("401", "404", "403", "redirect"), strict=True):
            server.change(faults=[fault], share=1)
            found += lm.chat([request])
        lm.close()
    assert [reply.settled for reply in found] == [False, False, True, False]
    assert [reply.text for reply in found] == [None] * 4


def test_a_body_that_drips_ends_by_the_timeout(tmp_path: Path) -> None:
    with scripted(tmp_path, faults=["drip=.02"], share=1) as server:
        reply = ask(server, limits=Limits(timeout=0.5, retries=0))
    assert (reply.text, reply.reason, reply.settled) == (None, "no answer in 0.5 s", False)


def test_a_proxy_of_environment_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with scripted(tmp_path) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url.removesuffix("/v1"))
        lm = OpenAI("m", "http://models.invalid/v1", QUICK)
        assert lm.chat([ChatRequest((Message("user", "a"),))])[0].text
        lm.close()


def test_secrets_are_blotted_out_verbatim_and_escaped_and_short_ones_are_left() -> None:
    clean = cleaner(KEY)
    assert clean(f"a {KEY} b {json.dumps(KEY)} c") == 'a *** b "***" c'
    assert clean(json.dumps(KEY).replace("/", "\\/")) == '"***"'
    assert cleaner("one")("one of them") == "one of them"
    assert cleaner(None)("half \ud800 \U0001f600") == "half \ufffd \U0001f600"


def test_json_beyond_reason_is_malformed() -> None:
    clean = cleaner(None)
    odd = b'{"a": 1, "a": NaN, "b": ["\\ud83d\\ude00\\u0000"]}'
    assert parse(odd, clean)["b"] == ["\U0001f600\x00"]
    deep = b'{"a": ' + b"[" * DEEPEST + b"]" * DEEPEST + b"}"
    for bad in (deep, deep.replace(b"[", b"[" * 9999), b"\xff", b"[]", b"", b"9" * 5000):
        with pytest.raises(UnusableError):
            parse(bad, clean)
