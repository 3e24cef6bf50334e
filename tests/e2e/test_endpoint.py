"""Paid calls end to end: faults, kills, budgets, dry runs, and a key that stays secret."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from judgelab.evaluation_lm.openai import AHEAD
from tests.check_faults.__main__ import main as check_faults
from tests.check_faults.kills import count, one_kill
from tests.check_faults.trial import asking, write_panel
from tests.e2e.conftest import command_line, environment, inside, process, started
from tests.fresh import Fresh
from tests.servers.process import Running, scripted

CONCURRENCY = 8
ITEMS, AGENTS = 4, 5
PAIRS = ITEMS * AGENTS * (AGENTS - 1)


@pytest.fixture
def panel(tmp_path: Path) -> Path:
    """Four items, five agents: 80 ordered pairs."""
    return write_panel(tmp_path, ITEMS, AGENTS)


def overrides(server: Running, panel: Path, *more: str) -> list[str]:
    limits = (f"concurrency={CONCURRENCY}", "backoff=0.05")
    return [*asking(server.url, panel), *(f"evaluation_lm.limits.{one}" for one in limits), *more]


def results(root: Path) -> dict[str, bytes]:
    """Run name without its fingerprint -> result.json."""
    found = sorted((root / "runs").glob("*/result.json"))
    return {path.parent.name.rsplit("-", 1)[0]: path.read_bytes() for path in found}


def meters(root: Path) -> list[dict[str, Any]]:
    found = (root / "runs").glob("*/manifest.json")
    return [json.loads(path.read_text())["meter"] for path in found]


def test_faults_and_outages_leave_nothing_open_and_nothing_other(tmp_path: Path) -> None:
    """A small ``make check-faults``: its claims are the test."""
    assert check_faults(["--small", "--folder", str(tmp_path)]) == 0


JOBS = ("mechanism=judge", "attack=padding"), ("mechanism=tvd_mi", "attack=none")
DISTINCT = 2 * PAIRS + 2 * PAIRS  # judge: clean and attacked; tvd_mi: P and Q


def test_kill_9_loses_only_calls_under_way(tmp_path: Path, panel: Path) -> None:
    """At twenty random moments: make check-faults."""
    with scripted(tmp_path / "calm") as server:
        for job in JOBS:
            inside(tmp_path / "undisturbed", overrides(server, panel, *job))
        assert sum(server.seen().values()) == DISTINCT
    root = tmp_path / "disturbed"
    with scripted(tmp_path / "stormy", delay=0.05) as server:
        commands = [overrides(server, panel, *job) for job in JOBS]
        victim, other = (started(root, command) for command in commands)
        while count(server) < DISTINCT // 6 and victim.poll() is None:
            time.sleep(0.01)
        victim.send_signal(signal.SIGKILL)
        assert victim.wait() == -signal.SIGKILL
        victim = started(root, commands[0])
        assert victim.wait() == other.wait() == 0
        seen = server.seen()

    assert results(root) == results(tmp_path / "undisturbed")
    assert len(seen) == DISTINCT
    arrived = sum(seen.values())
    lost, sent = (sum(account[name] for account in meters(root)) for name in ("lost", "sent"))
    assert lost <= CONCURRENCY
    assert arrived - DISTINCT <= AHEAD * CONCURRENCY  # replies that were read and not yet kept, too
    assert arrived <= sent <= arrived + lost


def test_a_budget_stops_a_run_and_a_larger_one_continues_it(tmp_path: Path, panel: Path) -> None:
    with scripted(tmp_path / "server") as server:
        job = overrides(server, panel, "mechanism=judge")
        stopped = command_line(tmp_path, *job, "budget.max_calls=50")
        assert stopped.returncode == 3
        said = f"PARTIAL: {PAIRS - 50} of {PAIRS} calls are open (not sent: budget"
        assert said in stopped.stderr
        assert sum(server.seen().values()) == 50
        assert not list((tmp_path / "runs").glob("*/DONE"))
        inside(tmp_path, [*job, "budget.max_cost=1"])
        assert sum(server.seen().values()) == PAIRS
        assert max(server.paid().values()) == 1
    (account,) = (a for a in meters(tmp_path) if a)
    tokens = account["input_tokens"] * 0.15 + account["output_tokens"] * 0.60
    assert account["cost"] == pytest.approx(tokens / 1e6, abs=1e-6)


def test_a_dry_run_counts_what_the_run_will_ask_and_asks_nothing(
    tmp_path: Path, panel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def counted(job: list[str]) -> tuple[list[str], str]:
        capsys.readouterr()
        inside(tmp_path / "out", [*job, "dry_run=true"])
        shown = capsys.readouterr().out
        row = next(line for line in shown.splitlines() if line.startswith("all"))
        return row.split()[1:4], shown

    with scripted(tmp_path / "server") as server:
        server.log.touch()
        job = overrides(server, panel, "mechanism=judge", "attack=padding")
        both = str(2 * PAIRS)
        assert counted(job)[0] == [both, "0", both]
        assert not server.log.read_bytes()
        assert not (tmp_path / "out").exists()
        inside(tmp_path / "out", job)
        assert sum(server.seen().values()) == 2 * PAIRS
        assert counted(job)[0] == [both, both, "0"]
        staged = counted([*job, "agents=prompted", "agents.taxonomy=summarization"])[1]
        assert "texts are not written yet" in staged
        assert sum(server.seen().values()) == 2 * PAIRS


def test_a_key_is_nowhere_but_in_the_environment(tmp_path: Path, panel: Path) -> None:
    """The server even repeats it in its errors, replies and names."""
    canary = "sk-canary-0123456789"
    root = tmp_path / "out"
    faults = ["400", "key", "key=model", "key=refusal", "control_reply"]
    with scripted(tmp_path / "server", key=canary, faults=faults, share=0.5) as server:
        job = overrides(server, panel, "mechanism=judge", "tracker=wandb")
        done = process(root, ["python", "run.py", *job], OPENAI_API_KEY=canary, OPENAI_LOG="debug")
        assert done.returncode == 0, done.stderr
        refused = started(tmp_path / "no", [*job, "debug=true"], OPENAI_API_KEY=f"{canary}-old")
        assert refused.wait() == 1
    assert "Traceback" in (tmp_path / "no/log").read_text()
    assert canary not in done.stdout + done.stderr
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("wandb" in path.parts for path in written)
    assert not any(c in done.stdout + done.stderr for c in "\x1b\x07\u202e")
    assert any("trouble with Bearer ***" in path.read_text() for path in root.rglob("calls.jsonl"))
    for path in written:
        assert canary.encode() not in path.read_bytes(), path
    said = "another model answered than gpt-4o-mini, which was asked for: model of ***"
    (result,), (page,) = root.rglob("result.json"), root.rglob("report.html")
    assert said in json.loads(result.read_text())["notes"][0]
    assert said in page.read_text() and said in " ".join(done.stdout.split())
    (meter,) = meters(root)
    assert set(meter["answered_by"]) == {"gpt-4o-mini", "model of ***"}


SWEEP = ("-m", "hydra/launcher=cores", "hydra.launcher.n_jobs=2", "tracker=none")
SWEPT = ("mechanism=judge,tvd_mi", "attack=none")  # no question in common
PER_SECOND, CALLS = 40, 150


def test_a_sweeps_jobs_share_budget_and_rate_and_end_with_it(tmp_path: Path, panel: Path) -> None:
    """They ran at 80 a second, and 200 requests came after the kill, for a budget of 150."""
    with scripted(tmp_path / "server", delay=0.02) as server:
        limit = f"evaluation_lm.limits.requests_per_minute={60 * PER_SECOND}"
        command = [*SWEEP, *overrides(server, panel, *SWEPT, limit, f"budget.max_calls={CALLS}")]
        assert one_kill(tmp_path, command, server, 100, 0, grace=1.5) == (0, 0), "late, alive"
        assert len(list(tmp_path.glob("runs/*/calls.jsonl"))) == 2, "both jobs were at work"
        times = server.account().times
        rate = 50 / (times[99] - times[49])
        assert rate <= 1.15 * PER_SECOND, "1.05 over more than a second: make bench"
        alone = [word for word in command if "launcher" not in word]  # spares two starts
        Fresh(alone, environment(tmp_path), tmp_path / "said.txt").wait()
        noted = "".join(path.read_text() for path in tmp_path.glob("runs/*/calls.jsonl"))
        lost = noted.count('{"sent"') - noted.count('{"ended"')  # under way at the kill: they count
        assert CALLS - lost <= count(server) <= CALLS, "the same sweep has the same budget"
