"""Jobs beside each other: one rate, one budget, and an end with the process that started them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_endpoint import CONCURRENCY, overrides, panel
from tests.killed_sweep import count, kill_parent, start
from tests.servers.process import Running, scripted

__all__ = ["panel"]
JOBS = ("mechanism=judge,tvd_mi", "attack=none", "tracker=none")  # no question in common


def job(server: Running, panel: Path, *more: str) -> list[str]:
    return overrides(server, panel, *JOBS, *more)


@pytest.mark.slow
def test_a_sweeps_jobs_share_budget_and_rate_and_end_with_their_parent(
    tmp_path: Path, panel: Path
) -> None:
    """A sweep of two jobs ran at twice the declared rate; 188 requests came after a kill."""
    with scripted(tmp_path / "server", delay=0.02) as server:
        per_second = 40
        limited = f"evaluation_lm.limits.requests_per_minute={60 * per_second}"
        command = job(server, panel, limited, "budget.max_calls=150")
        killed = kill_parent(tmp_path, server, command, at=100)
        times = sorted(e["at"] for e in server.events("seen"))[:100]
        rate = 50 / (times[99] - times[49])
        print(f"{rate:.1f} a second of {per_second}; {killed}")
        assert rate <= 1.15 * per_second, "and 1.05 over more than a second: make bench"
        assert len(list(tmp_path.glob("runs/*/calls.jsonl"))) > 1, "both jobs were at work"
        assert killed.after <= 2 * CONCURRENCY
        assert killed.living == 0
        assert start(tmp_path, command).wait(timeout=120) != 0
        lost = sum(_lost(path) for path in tmp_path.glob("runs/*/calls.jsonl"))
        assert 150 - lost <= count(server) <= 150, "the same sweep has the same budget"


def _lost(path: Path) -> int:
    lines: list[dict[str, Any]] = [json.loads(line) for line in path.read_text().splitlines()]
    return sum("sent" in e for e in lines) - sum("ended" in e for e in lines)
