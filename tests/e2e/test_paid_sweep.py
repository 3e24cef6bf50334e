"""Jobs beside each other: one rate, one budget, and an end with the process that started them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check_faults.kills import count, one_kill
from tests.check_faults.trial import start
from tests.e2e.test_endpoint import overrides, panel
from tests.servers.process import scripted

__all__ = ["panel"]
SWEEP = ("-m", "hydra/launcher=cores", "hydra.launcher.n_jobs=2", "tracker=none")
JOBS = ("mechanism=judge,tvd_mi", "attack=none")  # no question in common
PER_SECOND, CALLS = 40, 150


@pytest.mark.slow
def test_a_sweeps_jobs_share_budget_and_rate_and_end_with_their_parent(
    tmp_path: Path, panel: Path
) -> None:
    """They ran at 80 a second, and 200 requests came after the kill, for a budget of 150."""
    with scripted(tmp_path / "server", delay=0.02) as server:
        limit = f"evaluation_lm.limits.requests_per_minute={60 * PER_SECOND}"
        command = [*SWEEP, *overrides(server, panel, *JOBS, limit, f"budget.max_calls={CALLS}")]
        assert one_kill(tmp_path, command, server, 100, 0, grace=1.5) == (0, 0), "late, alive"
        assert len(list(tmp_path.glob("runs/*/calls.jsonl"))) == 2, "both jobs were at work"
        times = server.account().times
        rate = 50 / (times[99] - times[49])
        assert rate <= 1.15 * PER_SECOND, "1.05 over more than a second: make bench"
        start(tmp_path, command, tmp_path / "said.txt").wait(timeout=120)
        lost = sum(_lost(path) for path in tmp_path.glob("runs/*/calls.jsonl"))
        assert CALLS - lost <= count(server) <= CALLS, "the same sweep has the same budget"


def _lost(path: Path) -> int:
    """Attempts under way at the kill: they count, whether they arrived or not."""
    text = path.read_text()
    return text.count('{"sent"') - text.count('{"ended"')
