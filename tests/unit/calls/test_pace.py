"""How fast attempts start, alone and beside other processes, and what 429s do to that."""

from __future__ import annotations

import asyncio
import random
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from judgelab.calls.pace import AHEAD, LEAST, KeptState, Limits, Pace


def admitted(limits: Limits, tokens: Sequence[float], share: float = 1.0) -> list[float]:
    """When each of several attempts that ask at once may start, in seconds."""

    async def run() -> list[float]:
        kept = KeptState()
        with kept.turn() as state:
            state.share = share
        pace, begun, times = Pace(limits, kept), time.monotonic(), []
        for amount in tokens:
            await pace.admit(amount)
            times.append(time.monotonic() - begun)
            pace.leave()
        return times

    return asyncio.run(run())


def test_attempts_are_spaced_by_the_tighter_limit() -> None:
    assert admitted(Limits(requests_per_minute=1200), [1] * 5)[-1] >= 4 * 0.05 - 0.001
    both = Limits(requests_per_minute=6000, tokens_per_minute=60_000)
    assert admitted(both, [100, 100, 100])[-1] >= 2 * 0.1 - 0.001
    assert admitted(Limits(), [1e9] * 50)[-1] < 5.0
    assert admitted(Limits(requests_per_minute=6000), [1, 1, 1], share=0.1)[-1] >= 0.199


def test_tokens_are_given_back_at_the_rate_that_they_were_taken_at() -> None:
    """After a 429 the share is below 1: else each attempt keeps a part of what it did not use."""
    clock = [100.0]
    pace = Pace(Limits(tokens_per_minute=30_000), KeptState(clock=lambda: clock[0]))
    with pace._shared.turn() as state:
        state.share, state.tokens_free = 0.2, 100.0
    for _ in range(50):
        pace._place(1000)
        pace.correct(1000, 100)
    with pace._shared.turn() as state:
        assert state.tokens_free - 100.0 == pytest.approx(50 * 100 * 60 / (30_000 * 0.2))


def against(
    rate: float, seconds: float, stray: float = 0.0, real: float | None = None
) -> tuple[float, float, float]:
    """Calls accepted, and sent, by the rate declared; and the last share.

    The server refuses a share of calls at random, and what is beyond ``real`` a second.
    """
    clock, rng = [0.0], random.Random(0)
    pace = Pace(Limits(requests_per_minute=rate * 60), KeptState(clock=lambda: clock[0]))
    accepted = sent = 0
    room, last = real or 0.0, 0.0
    while clock[0] < seconds:
        clock[0] = max(clock[0], pace._place(1))
        sent += 1
        refused = rng.random() < stray
        if real is not None and not refused:
            room = min(real / 2, room + (clock[0] - last) * real)
            refused = room < 1
            room -= not refused
        last = clock[0]
        accepted += not refused
        pace.note_answer(refused=refused)
    return accepted / seconds / rate, sent / seconds / rate, pace.share


@pytest.mark.parametrize(("stray", "least"), [(0.05, 0.90), (0.2, 0.75)])
@pytest.mark.parametrize("rate", [25, 100])
def test_stray_429s_cost_what_they_refuse_and_little_more(
    rate: float, stray: float, least: float
) -> None:
    """It was 77 % of the declared rate at 5 %, and 53 % at 17 %."""
    accepted, sent, _ = against(rate, 100, stray=stray)
    assert least <= accepted and sent <= 1.01


@pytest.mark.parametrize("stray", [0.0, 0.1])
def test_a_lower_limit_than_declared_is_found(stray: float) -> None:
    accepted, sent, _ = against(100, 100, stray=stray, real=40)
    assert accepted >= 0.85 * 0.4
    assert sent <= 1.4 * 0.4, "and most calls are not refused"


def test_a_server_that_refuses_everything_is_backed_off_from_and_found_again() -> None:
    _, sent, share = against(100, 12, stray=1.0)
    assert sent < 0.25
    assert share < 3 * LEAST
    clock = [0.0]
    pace = Pace(Limits(), KeptState(clock=lambda: clock[0]))
    for seconds, wait in ((7.0, 7.0), (float("inf"), AHEAD)):
        for _ in range(9):
            pace.note_answer(refused=True, retry_after=seconds)
        assert pace._place(1) == wait, "all wait as long as the server says, but not for ever"
    with pace._shared.turn() as state:
        state.share = LEAST
    for _ in range(60 * 40):
        clock[0] += 1 / 40
        pace.note_answer(refused=False)
    assert pace.share == 1.0


def test_tokens_that_a_server_claims_cannot_have_us_wait_for_ever() -> None:
    pace, now = Pace(Limits(tokens_per_minute=10.0)), time.time()
    pace.correct(1.0, 1e9)
    assert pace._place(1) < now + 700


SENDER = """
import asyncio, sys, time
from pathlib import Path
from judgelab.calls.pace import KeptState, Limits, Pace
async def send():
    pace = Pace(Limits(requests_per_minute=6000.0), KeptState(Path(sys.argv[1])))
    print("ready", flush=True)
    while True:
        await pace.admit(1)
        print(time.monotonic(), flush=True)
        pace.leave()
asyncio.run(send())
"""


def test_two_processes_share_one_rate_and_a_killed_one_leaves_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SENDER, str(tmp_path / "rates" / "x")]
    jobs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for job in jobs:
        assert job.stdout is not None and job.stdout.readline() == "ready\n"
    time.sleep(0.8)
    jobs[0].kill()
    killed = time.monotonic()
    time.sleep(0.8)
    jobs[1].kill()
    times = [[float(line) for line in job.communicate()[0].splitlines()[:-1]] for job in jobs]
    every = sorted(times[0] + times[1])  # from the first on: a busy machine is made up for
    assert len(every) <= 1.05 * 100 * (every[-1] - every[0]) + 2
    assert min(sum(t <= killed for t in one) for one in times) > 5, "both go on"
    assert sum(t > killed for t in times[1]) > 20, "and the other alone"


def test_a_damaged_state_is_begun_anew_and_a_turn_takes_no_time(tmp_path: Path) -> None:
    path = tmp_path / "x"
    kept = KeptState(path)
    with kept.turn() as state:
        state.share = 0.5
    size = path.stat().st_size
    for wrong in (b"", b"12", bytes(size), struct.pack("<d", float("nan")) * (size // 8)):
        path.write_bytes(wrong)
        other = KeptState(path)
        with other.turn() as state:
            assert (state.share, state.requests_free < time.time() + 700) == (1.0, True)
        other.close()
    pace, begun = Pace(Limits(), kept), time.process_time()
    for _ in range(1000):
        pace._place(1)
        pace.note_answer(refused=False)
    assert time.process_time() - begun < 1.0, "a thousandth of a second for each call"
    assert path.stat().st_mode & 0o77 == 0
    kept.close()
