"""The server that misbehaves: what it is told, it does, and its account is right."""

from __future__ import annotations

import re
import time
from pathlib import Path

import httpx

from tests.check_faults.__main__ import TRIALS
from tests.e2e.conftest import ROOT
from tests.servers.modes import check
from tests.servers.process import Running, scripted
from tests.servers.schedule import Fault


def post(server: Running, text: str) -> int:
    """The HTTP status that the question gets; 0 for none."""
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    try:
        return httpx.post(f"{server.url}/chat/completions", json=body, timeout=5).status_code
    except httpx.TransportError:
        return 0


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
