"""Start a scripted server, and read what it saw."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers.account import Account, entries

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Running:
    """A server process and its log."""

    url: str
    log: Path

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [e for e in entries(self.log) if e["event"] == kind]

    def account(self) -> Account:
        """What it saw so far."""
        return Account.read(self.log)

    def change(self, **settings: Any) -> None:
        """Other settings from now on: ``change(outage=None, faults=[])`` heals it."""
        address = self.url.replace("/v1", "/control")
        body = urllib.request.Request(address, json.dumps(settings).encode(), method="POST")
        urllib.request.urlopen(body, timeout=10).close()

    def seen(self) -> Counter[str]:
        """How often each request arrived."""
        return Counter(e["key"] for e in self.events("seen"))

    def paid(self) -> Counter[str]:
        """How often each request was answered in full with 200."""
        return Counter(e["key"] for e in self.events("answered") if e["status"] == 200)


@contextmanager
def scripted(folder: Path, **settings: Any) -> Iterator[Running]:
    """A server with these settings (tests/servers/scripted.py) for as long as the block lasts."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "server.jsonl"
    command = [sys.executable, "-m", "tests.servers.scripted", json.dumps(settings), str(log)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline())
        yield Running(f"http://127.0.0.1:{port}/v1", log)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
