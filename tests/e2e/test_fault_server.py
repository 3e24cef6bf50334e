"""The server that misbehaves: what it is told, it does, and its account is right."""

from __future__ import annotations

import re
import time
from pathlib import Path

import httpx
import pytest

from tests.check_faults.__main__ import TRIALS
from tests.e2e.conftest import ROOT
from tests.servers.modes import check
from tests.servers.process import Running, scripted
from tests.servers.schedule import Fault, Schedule


def post(server: Running, text: str) -> int:
    """The HTTP status that the question gets; 0 for none."""
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    try:
        return httpx.post(f"{server.url}/chat/completions", json=body, timeout=5).status_code
    except httpx.TransportError:
        return 0


def test_a_fault_is_spelt_in_one_word() -> None:
    assert Fault.of("retry_after=inf@.05/requests") == Fault("retry_after", "inf", 0.05, True)
    assert Fault.of("500") == Fault("500", times=1)
    assert Fault.of("dropx3") == Fault("drop", times=3)
    assert Fault.of("usage=-1@.2x3") == Fault("usage", "-1", 0.2, times=3)
    with pytest.raises(ValueError, match="is not MODE"):
        Fault.of("500@many")


def test_shares_are_of_calls_or_of_requests_and_an_outage_has_an_end() -> None:
    schedule = Schedule({"faults": ["429@.1/requests", "500@.2xall", "cut@.1"]})
    met = [schedule.strike(f"{k % 500}") for k in range(2000)]
    found = {mode: [f is not None and f.mode == mode for f in met] for mode in ("429", "500")}
    assert sum(found["429"]) == pytest.approx(200, abs=60)
    assert sum(found["500"]) == pytest.approx(360, abs=80)
    assert sum(f is not None and f.mode == "cut" for f in met) <= 60, "first attempts alone"
    outage = Schedule({"outage": {"after": 5, "requests": 3, "mode": "drop"}})
    assert [outage.strike("k") is None for _ in range(10)] == [True] * 5 + [False] * 3 + [True] * 2


def test_its_account_is_what_a_provider_would_charge(tmp_path: Path) -> None:
    with scripted(tmp_path, faults=["cut@1"]) as server:
        assert [post(server, "judge 1"), post(server, "judge 1")] == [0, 200]
        server.change(faults=["500@1xall"])
        assert post(server, "judge 2") == 500
        server.change(faults=[], outage={"mode": "drop"})
        assert post(server, "judge 3") == 0
        server.change(outage=None)
        assert post(server, "judge 3") == 200
        until = time.monotonic() + 5  # an answer is noted once it has left
        while (account := server.account()).answered < 2 and time.monotonic() < until:
            time.sleep(0.01)
    assert (account.requests, account.calls, account.answered) == (5, 3, 2)
    assert (account.charged, account.charged_again, account.output_tokens) == (3, 1, 24)
    assert account.cost(0.0, 1e6) == 24
    assert account.faults == {"cut": 1, "500": 1, "drop": 1}


def test_what_the_docs_name_exists() -> None:
    words = (ROOT / "docs/faults.md").read_text()
    [trials] = re.findall(r"python -m tests.check_faults ((?:\w+ ?)+)`", words)
    assert set(trials.split()) <= set(TRIALS)
    spelt = [s for s in re.findall(r"`([^`\s]+)`", words) if "@" in s and "MODE" not in s]
    assert spelt
    for one in spelt:
        check(Fault.of(one))
