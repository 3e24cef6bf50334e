"""Runs whose calls are not all settled: what is written, the exit code, and the next start."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from judgelab.calls.sending import EndpointError
from judgelab.core.errors import JudgelabError, PartialRunError
from tests.check_faults.trial import write_panel
from tests.e2e.conftest import command_line, inside, result, started
from tests.e2e.test_endpoint import overrides, results
from tests.servers.process import scripted

PAIRS = 4 * 7 * 6
LIMITS = ("retries=1", "backoff=0.01", "longest_wait=0.1", "timeout=1")
HASTY = (*(f"evaluation_lm.limits.{limit}" for limit in LIMITS), "mechanism=judge")


@pytest.fixture
def panel(tmp_path: Path) -> Path:
    """Four items, seven agents."""
    return write_panel(tmp_path, 4, 7)


def done(root: Path) -> bool:
    return any((root / "runs").glob("*/DONE"))


def test_after_an_outage_the_same_command_completes_the_run(tmp_path: Path, panel: Path) -> None:
    with scripted(tmp_path / "calm") as calm:
        inside(tmp_path / "calm", overrides(calm, panel, *HASTY))
    with scripted(tmp_path / "server", outage={"mode": "500", "after": 60}) as server:
        job = overrides(server, panel, *HASTY)
        stopped = command_line(tmp_path, *job)
        assert stopped.returncode == 3, stopped.stderr
        knocked = sum(server.seen().values())
        assert knocked <= 60 + 2 * (2 * 8 + 8), "the breaker stopped the rest"
        mark = result(tmp_path)["partial"]
        assert mark["calls"] == PAIRS and mark["open"] == PAIRS - 60
        said = f"PARTIAL: {PAIRS - 60} of {PAIRS} calls are open"
        (page,) = (tmp_path / "runs").glob("*/report.html")
        assert said in page.read_text() and said in stopped.stdout and said in stopped.stderr
        assert not done(tmp_path)
        server.change(outage=None)
        before = sum(server.paid().values())
        inside(tmp_path, job)
        assert sum(server.paid().values()) - before == PAIRS - 60
        assert max(server.paid().values()) == 1
    assert done(tmp_path)
    assert results(tmp_path) == results(tmp_path / "calm")


@pytest.mark.parametrize(
    ("fault", "most", "error", "said"),
    [
        ("500xall", 60, EndpointError, "none of the first 10 calls of 2 attempts each .HTTP 500"),
        ("400", 40, EndpointError, "none of the first 20 calls .HTTP 400: trouble"),
        ("retry_after=86400", 40, JudgelabError, r"None of 168 calls .* not before 20\d\d-"),
        ("retry_after=infxall", 60, EndpointError, "none of the first 10 calls"),
    ],
)
def test_a_server_that_answers_nothing_ends_the_run_at_once(
    tmp_path: Path, panel: Path, fault: str, most: int, error: type[Exception], said: str
) -> None:
    with scripted(tmp_path / "server", faults=[fault], share=1) as server:
        start = time.monotonic()
        with pytest.raises(error, match=said) as caught:
            inside(tmp_path, overrides(server, panel, *HASTY))
        assert not isinstance(caught.value, PartialRunError)
        assert time.monotonic() - start < 30 and sum(server.seen().values()) <= most
    assert not done(tmp_path)


def test_unscored_calls_are_asked_again_on_demand(tmp_path: Path, panel: Path) -> None:
    faults = ["400@.1", "unreadable@.1", "refusal@.1", "malformed@.1"]
    with scripted(tmp_path / "server", faults=faults) as server:
        job = overrides(server, panel, *HASTY)
        inside(tmp_path, job)
        lost = int(result(tmp_path)["summary"]["unscored_calls"])
        assert done(tmp_path) and 30 < lost < 110
        server.change(faults=[])
        inside(tmp_path, job)
        assert sum(server.seen().values()) == PAIRS, "nothing is asked without retry"
        inside(tmp_path, [*job, "retry=unscored"])
        assert sum(server.seen().values()) == PAIRS + lost
        assert result(tmp_path)["summary"]["unscored_calls"] == 0 and done(tmp_path)
        inside(tmp_path, [*job, "force=true"])
        assert sum(server.seen().values()) == PAIRS + lost, "the newer reply is the one used"


def test_an_interrupted_run_keeps_what_was_answered(tmp_path: Path, panel: Path) -> None:
    with scripted(tmp_path / "server", delay=0.3) as server:
        job = overrides(server, panel, *HASTY)
        process, limit = started(tmp_path, job), time.monotonic() + 60
        while len(server.events("answered")) < 20 and time.monotonic() < limit:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
        said = (tmp_path / "log").read_text()
        assert process.returncode == 143, said
        assert "the same command continues" in said and not done(tmp_path)
        assert sum(server.seen().values()) < PAIRS
        server.change(delay=0)
        inside(tmp_path, job)
        assert max(server.seen().values()) == 1, "what was under way was kept, too"
    assert done(tmp_path)
