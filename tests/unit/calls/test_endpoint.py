"""Limits, claims and progress: what surrounds a paid call."""

from __future__ import annotations

import asyncio
import io
import os
import threading
from pathlib import Path

import pytest

from judgelab.calls.cache import CallCache
from judgelab.calls.cached import Cached, Claims
from judgelab.calls.pace import Limits
from judgelab.calls.remote import CallPool
from judgelab.config import build
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.lm import ChatRequest, Message, Reply
from judgelab.engine.models import calls_file
from judgelab.evaluation_lm.openai import OpenAI
from judgelab.report.progress import Progress
from tests.servers.process import scripted


@pytest.mark.parametrize(
    "wrong", [{"concurrency": 0}, {"retries": -1}, {"timeout": 0.0}, {"requests_per_minute": 0}]
)
def test_limits_that_make_no_sense_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=r"evaluation_lm\.limits"):
        build({"_target_": "judgelab.calls.pace.Limits", **wrong}, "evaluation_lm.limits")


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


def test_a_pool_hands_over_what_is_there_before_it_raises() -> None:
    async def good() -> int:
        await asyncio.sleep(0.05)
        return 1

    async def bad() -> int:
        raise ConfigError("no")

    pool, got = CallPool(), []
    with pytest.raises(ConfigError):
        for item in pool.stream([good, good, bad, good, good], window=3):
            got.append(item)
    assert got == [(0, 1), (1, 1)]
    pool.close()


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


@pytest.mark.slow
def test_two_jobs_at_once_ask_each_question_once(tmp_path: Path) -> None:
    requests = [ChatRequest((Message("user", f"judge {k}"),)) for k in range(60)]
    answers: list[list[Reply]] = []

    def job(url: str) -> None:
        lm = Cached(OpenAI("m", url, Limits(concurrency=4)), CallCache(tmp_path / "c.sqlite"))
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


def test_progress_is_a_line_now_and_then_or_live_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.StringIO()
    progress = Progress(lambda: "0.01 USD", stream, first=0.0, every=3600)
    progress.stage("judge", 3)
    progress.asked(100, 40, one_item=True)  # the other two items are taken to be as large
    progress.answered(30)
    progress.close()
    waiting = Progress(str, stream)
    for _ in range(3):
        waiting.tell("again in 40 s")
    line = "judge: 40 of 300 calls, 40 from the cache, 0.01 USD\n"
    assert stream.getvalue() == f"{line}again in 40 s\n"
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    progress = Progress(str, stream)
    progress.stage("judge", 300)
    progress.asked(300, 0)  # all items in one batch
    progress.answered(30)
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

            monkeypatch.setattr("judgelab.core.errors._room", left)
            lm = Cached(
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
