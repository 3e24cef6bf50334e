"""Limits, claims and progress: what surrounds a paid call."""

from __future__ import annotations

import asyncio
import io
import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from openai import AsyncOpenAI

from judgelab.calls.cache import CallCache
from judgelab.calls.cached import CachedLM, Claims
from judgelab.calls.caller import Breaker, Caller, stamp
from judgelab.calls.meter import Meter
from judgelab.calls.pace import Limits
from judgelab.calls.sending import Answer, Call, EndpointError
from judgelab.core.errors import DataError
from judgelab.core.lm import ChatRequest, Message, Reply
from judgelab.engine.models import calls_file
from judgelab.evaluation_lm.openai import OpenAI
from judgelab.report.progress import Progress
from tests.servers.process import scripted


def test_every_role_keeps_a_file_of_its_own() -> None:
    names = ["gpt-4.1", "llama-3.1", "a/b", "a_b", "gpt4o"]
    roles = ["evaluation_lm", "writer_lm", *(f"agents.models.{name}" for name in names)]
    files = [calls_file(role) for role in roles]
    assert files[:4] == [
        "calls.jsonl",
        "calls_writer_lm.jsonl",
        "calls_gpt-4.1.jsonl",
        "calls_llama-3.1.jsonl",
    ]
    assert len(set(files)) == len(files) and not any("/" in file for file in files)


def test_a_claim_is_held_by_one_and_inherited_from_the_dead(tmp_path: Path) -> None:
    caches = [CallCache(tmp_path / "c.sqlite") for _ in range(2)]
    a, b = (Claims(cache) for cache in caches)
    assert a.take([b"1", b"2"]) == [b"1", b"2"]
    assert b.take([b"2", b"3"]) == [b"3"]
    a.drop([b"2"])
    assert b.take([b"1", b"2"]) == [b"2"]
    os.close(a._mark._handle)  # what the system does when a process is killed
    assert b.take([b"1", b"2"]) == [b"1", b"2"]
    b.close()
    for cache in caches:
        cache.close()


def test_two_jobs_at_once_ask_each_question_once(tmp_path: Path) -> None:
    requests = [ChatRequest((Message("user", f"judge {k}"),)) for k in range(60)]
    answers: list[list[Reply]] = []

    def job(url: str) -> None:
        lm = CachedLM(OpenAI("m", url, Limits(concurrency=4)), CallCache(tmp_path / "c.sqlite"))
        answers.append(lm.chat(requests))
        lm.close()

    with scripted(tmp_path / "server", delay=0.02) as server:
        jobs = [threading.Thread(target=job, args=(server.url,)) for _ in range(3)]
        for thread in jobs:
            thread.start()
        for thread in jobs:
            thread.join()
        assert sum(server.seen().values()) == 60
    assert answers[0] == answers[1] == answers[2]


def test_only_a_wait_that_an_attempt_follows_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    limits = Limits(retries=1, longest_wait=60)
    caller = Caller(AsyncOpenAI(api_key="k"), limits, Meter(), None, "It", told.append, None)

    async def busy(call: Call) -> Answer:
        return Answer(None, "HTTP 503: busy", "503", again=True, retry_after=6.0)

    async def at_once(seconds: float) -> None:
        pass

    monkeypatch.setattr(caller._sender, "send", busy)
    monkeypatch.setattr(Breaker, "sleep", lambda breaker, seconds: at_once(seconds))
    answer = asyncio.run(caller.call(Call("chat", {"model": "m"}, ("k",), (1, 1))))
    assert answer.reason == "HTTP 503: busy after 2 attempts"
    assert len(told) == 1 and told[0].startswith("It: HTTP 503: busy; again in 6")


def test_progress_is_a_line_at_times_or_live_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    progress = Progress(lambda: "0.01 USD", stream, first=0.0, every=3600)
    progress.stage("judge", 3)
    progress.begin_batch(100, 40, one_item=True)  # the other two items are taken to be as large
    progress.advance(30)
    progress.close()
    waiting = Progress(str, stream)
    for _ in range(3):
        waiting.tell("again in 40 s")
    line = "judge: 40 of 300 calls, 40 from the cache, 0.01 USD\n"
    assert stream.getvalue() == f"{line}again in 40 s\n"
    monkeypatch.setattr(stream := io.StringIO(), "isatty", lambda: True)
    progress = Progress(str, stream)
    progress.stage("judge", 300)
    progress.begin_batch(300, 0)  # all items in one batch
    progress.advance(30)
    progress.close()
    assert "judge: 30 of 300 calls" in stream.getvalue() and "/s" in stream.getvalue()


def test_a_disk_that_fills_up_ends_a_run_before_what_is_paid_finds_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30 of 36 paid calls were asked again: nobody looked at the disk before SQLite met its end."""
    requests = [ChatRequest((Message("user", f"judge {k}"),)) for k in range(36)]
    with scripted(tmp_path / "server", delay=0.05) as server:
        for room in (9, 0, 1000):

            def left(near: Path, room: int = room) -> int:
                """As much, until the server has seen calls."""
                return (room << 20) if room != 9 or not server.seen() else 1 << 20

            monkeypatch.setattr("judgelab.store.disk._room", left)
            lm = CachedLM(
                OpenAI("m", server.url, Limits(concurrency=8), server="s"),
                CallCache(tmp_path / "c.sqlite"),
            )
            if room < 1000:
                with pytest.raises(DataError, match="has .* MB left, so nothing more is asked"):
                    lm.chat(requests)
                assert len(server.seen()) <= 16
            else:
                assert all(reply.text for reply in lm.chat(requests))
            lm.close()
        assert set(server.seen().values()) == {1} and len(server.seen()) == 36


LIMITS = Limits(concurrency=4, retries=1, backoff=0.01, longest_wait=0.6, timeout=2.0, breaker=3)


def ask(lm: OpenAI, count: int) -> list[str | None]:
    replies = lm.chat([ChatRequest((Message("user", f"judge {k}"),)) for k in range(count)])
    assert not any(reply.settled for reply in replies if reply.text is None)
    return [reply.reason for reply in replies]


def test_one_look_after_a_wait_finds_an_endpoint_that_came_back(tmp_path: Path) -> None:
    with scripted(tmp_path, outage={"after": 20}) as server:
        lm = OpenAI("m", server.url, replace(LIMITS, longest_wait=2.0))
        ask(lm, 1)  # imports take their time
        heals = threading.Timer(1.0, server.change, kwargs={"outage": None})
        start = time.monotonic()
        heals.start()
        reasons = ask(lm, 80)
        lm.close()
    lost = [reason for reason in reasons if reason]
    assert 3 <= len(lost) <= 6 and all("HTTP 503" in reason for reason in lost)
    assert time.monotonic() - start > 2.0


@pytest.mark.parametrize(
    ("mode", "knocked", "said", "least"),
    [
        ("503", 2 * 8 * 2, "not sent: the endpoint stopped answering", 150),
        ("quota", 2 * LIMITS.concurrency, "exceeded your quota", 180),
    ],
)
def test_one_look_that_finds_nothing_or_an_empty_account_leaves_calls_open(
    tmp_path: Path, mode: str, knocked: int, said: str, least: int
) -> None:
    with scripted(tmp_path, outage={"mode": mode, "after": 20}) as server:
        lm = OpenAI("m", server.url, LIMITS)
        reasons = ask(lm, 200)
        lm.close()
        assert sum(server.seen().values()) <= 20 + knocked
    assert reasons.count(None) == 20
    assert sum(said in str(reason) for reason in reasons) >= least


@pytest.mark.parametrize(("breaker", "knocked"), [(3, 40), (None, 101)])
def test_a_wait_that_is_too_long_stops_with_its_end(
    tmp_path: Path, breaker: int | None, knocked: int
) -> None:
    with scripted(tmp_path) as server:
        lm = OpenAI("m", server.url, replace(LIMITS, breaker=breaker))
        ask(lm, 1)
        server.change(faults=["retry_after=7200"], share=1)
        reasons = ask(lm, 101)[1:]
        until = lm.until
        lm.close()
        assert (sum(server.seen().values()) > 100) is (breaker is None)
        assert sum(server.seen().values()) <= 1 + knocked
    assert until is not None and 7100 < until - time.time() <= 7200
    assert all(stamp(until)[:13] in str(reason) for reason in reasons)


def test_what_was_paid_before_an_endpoint_is_given_up_is_handed_over(tmp_path: Path) -> None:
    requests = [ChatRequest((Message("user", f"judge {k}"),)) for k in range(100)]
    got = []
    with scripted(tmp_path, faults=["malformed@1"]) as server:
        lm = OpenAI("m", server.url, replace(LIMITS, concurrency=8))
        with pytest.raises(EndpointError, match="none of the first 20 calls"):
            for _, reply in lm.stream_chat(requests):
                got.append(reply)
        lm.close()
        sent = sum(server.seen().values())
    assert sum(reply.settled for reply in got) == sent


def test_calls_that_always_fail_do_not_keep_the_others_from_their_turn(tmp_path: Path) -> None:
    """The same command ended in an error from its second start on, with calls never tried."""
    limits = replace(LIMITS, concurrency=1, longest_wait=0.1)
    requests = [ChatRequest((Message("user", f"judge {k}"),)) for k in range(36)]
    with scripted(tmp_path / "server", faults=["500@.5xall"]) as server:
        for _start in range(12):
            lm = OpenAI("m", server.url, limits, server="s")
            lm.attach(Meter(tmp_path / "calls.jsonl"))
            replies = CachedLM(lm, CallCache(tmp_path / "c.sqlite")).chat(requests)
            lm.close()
            left = [str(reply.reason) for reply in replies if reply.text is None]
            if not any("not sent" in reason for reason in left):
                break
        assert max(server.paid().values()) == 1
    assert len(server.seen()) == 36 and 0 < len(left) < 36
    assert all("HTTP 500" in reason for reason in left)
