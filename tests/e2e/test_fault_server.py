"""The server that misbehaves: what it is told, it does, and its account is right."""

from __future__ import annotations

import re

import httpx

from tests.check_faults.__main__ import TRIALS
from tests.e2e.conftest import ROOT
from tests.servers.modes import check
from tests.servers.process import Running
from tests.servers.schedule import Fault


def post(server: Running, text: str) -> int:
    """The HTTP status that the question gets; 0 for none."""
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    try:
        return httpx.post(f"{server.url}/chat/completions", json=body, timeout=5).status_code
    except httpx.TransportError:
        return 0


def test_what_the_docs_name_exists() -> None:
    words = (ROOT / "docs/faults.md").read_text()
    [trials] = re.findall(r"python -m tests.check_faults ((?:\w+ ?)+)`", words)
    assert set(trials.split()) <= set(TRIALS)
    spelt = [s for s in re.findall(r"`([^`\s]+)`", words) if "@" in s and "MODE" not in s]
    assert spelt
    for one in spelt:
        check(Fault.of(one))
