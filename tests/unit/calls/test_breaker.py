"""When an endpoint is given up, and when it is asked once more."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from judgelab.calls.cache import CallCache
from judgelab.calls.cached import Cached
from judgelab.calls.caller import stamp
from judgelab.calls.meter import Meter
from judgelab.calls.pace import Limits
from judgelab.calls.sending import EndpointError
from judgelab.core.lm import ChatRequest, Message
from judgelab.evaluation_lm.openai import OpenAI
from tests.servers.process import scripted

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
            replies = Cached(lm, CallCache(tmp_path / "c.sqlite")).chat(requests)
            lm.close()
            left = [str(reply.reason) for reply in replies if reply.text is None]
            if not any("not sent" in reason for reason in left):
                break
        assert max(server.paid().values()) == 1
    assert len(server.seen()) == 36 and 0 < len(left) < 36
    assert all("HTTP 500" in reason for reason in left)
