"""What paid calls cost, and the budget that one run, or all jobs of a sweep, may spend."""

from __future__ import annotations

import asyncio
import json
import math
import multiprocessing
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgelab.calls.budget import Account, BudgetReachedError, Ledger, Price
from judgelab.calls.meter import Meter, OrphanedError, spending
from judgelab.calls.sending import accounts
from judgelab.config import Budget
from judgelab.core.errors import DataError

EACH = Price(1e6, 1e6)  # a token costs 1


def start(meter: Meter, *tokens: int) -> int:
    """An attempt's ticket; asyncio.TimeoutError while it has to wait for others."""
    return asyncio.run(
        asyncio.wait_for(meter.note_start(("k",), 1, (tokens[0], tokens[1])), timeout=0.05)
    )


@pytest.mark.parametrize("status", ["answered", "timeout", "broken", "malformed"])
def test_a_cost_nobody_knows_counts_against_the_budget(tmp_path: Path, status: str) -> None:
    """Also those of an earlier execution, of calls under way at a kill, and of the other LM."""
    budget = Budget(max_cost=10.0)
    meter = Meter(tmp_path / "a.jsonl", EACH, budget)
    for _ in range(2):
        meter.note_end(start(meter, 2, 1), status)
    assert (meter.account.cost, meter.account.unknown_cost) == (0.0, 2)
    with pytest.raises(BudgetReachedError, match=r"0\.0000 spent so far, and up to 6\.0000"):
        start(meter, 5, 0)
    meter.note_end(start(meter, 3, 0), "answered", (1, 0))
    start(meter, 2, 0)  # killed: its end is never written
    ledger = Ledger()
    again = Meter(tmp_path / "a.jsonl", EACH, budget, ledger, "a")
    other = Meter(None, EACH, budget, ledger, "b")
    for side in (again, other):
        with pytest.raises(BudgetReachedError, match=r"1\.0000 spent so far, and up to 8\.0000"):
            start(side, 2, 0)
    summary = again.summary()
    assert (summary["lost"], summary["cost"], summary["reserved"]) == (1, 1.0, 8.0)
    for free in ("429", "unreached"):
        again.note_end(start(again, 1, 0), free)
    start(again, 1, 0)
    again.close()


ODD: list[Any] = [
    (-(10**6), 5), (5, -1), (True, True), (1.0, 2), ("5", 5), (10**10, 1), (1, 10**400),
    (math.nan, 1), (None, None), (1, None),
]  # fmt: skip


@pytest.mark.parametrize("said", ODD, ids=lambda said: repr(said)[:20])
def test_usage_that_cannot_be_is_unknown_and_held_against_the_budget(said: Any) -> None:
    """Negative usage lowered what counted as spent: 17,249 calls passed max_cost=.001."""
    usage = {"prompt_tokens": said[0], "completion_tokens": said[1]}
    tokens, _ = accounts({"usage": usage})
    assert tokens is None and accounts({"usage": said})[0] is None
    meter = Meter(None, EACH, Budget(max_cost=10.0))
    with pytest.raises(BudgetReachedError, match="up to 9"):
        for _ in range(20):
            meter.note_end(start(meter, 2, 1), "answered", tokens)
    assert (meter.account.sent, meter.account.cost, meter.account.reserved) == (3, 0.0, 9.0)


def test_what_earlier_executions_wrote_counts_but_for_a_torn_line(tmp_path: Path) -> None:
    path, head = tmp_path / "a.jsonl", '"attempt": 1, "key": [], "at": "", "call": "",'
    lines = [
        f'{{"sent": 1, {head} "expected": [0, 4]}}',
        '{"ended": 1, "status": "timeout", "cost": null}',
        f'{{"sent": 2, {head} "expected": [2, 1]}}',
        '{"ended": 2, "status": "answered", "input_tokens": 2, "output_tokens": 3, "cost": null}',
        f'{{"sent": 3, {head} "expected": [2, 1]}}',
        '{"ended": 3, "sta',
    ]
    path.write_text("\n".join(lines))
    meter = Meter(path, EACH)
    assert meter.account.cost == 5.0, "what is known of a run that had no price"
    assert meter.account.reserved == 3 * 4 + (2 + 3 * 1), "the second showed replies thrice as long"
    assert (meter.account.sent, meter.account.lost) == (3, 1)
    start(meter, 1, 1)
    meter.close()
    torn, last = path.read_text().splitlines()[-2:]
    assert torn.endswith("sta") and json.loads(last)["sent"] == 4, "no number is used twice"


@pytest.mark.parametrize("longer", [0.2, 1, 20, 60])
def test_replies_of_any_length_stay_within_the_budget(longer: float) -> None:
    """32 at once, whose lengths nobody expected."""
    meter, true = Meter(None, EACH, Budget(max_cost=20_000.0)), 0.0

    async def call() -> None:
        nonlocal true
        while True:
            ticket = await meter.note_start(("k",), 1, (5, 5))
            true += 5 + 5 * longer
            await asyncio.sleep(0.002)
            meter.note_end(ticket, "answered", (5, round(5 * longer)))

    async def calls() -> list[BaseException | None]:
        return await asyncio.gather(*(call() for _ in range(32)), return_exceptions=True)

    if longer < 1:
        meter.budget = Budget(max_cost=2000.0)
    assert {type(end) for end in asyncio.run(calls())} == {BudgetReachedError}
    assert meter.account.under_way == 0, "those under way were waited for"
    most = meter.budget.max_cost or 0
    assert 0.95 * most < true <= 1.02 * most


def test_jobs_of_a_sweep_have_one_budget_and_a_killed_one_keeps_nothing(tmp_path: Path) -> None:
    budget, path = Budget(max_cost=1000.0), tmp_path / "budget.sqlite"
    stores = [Ledger(path) for _ in range(2)]
    a, b = (Meter(tmp_path / n, EACH, budget, s, n, "m") for n, s in zip("ab", stores, strict=True))
    a.note_end(start(a, 0, 5), "answered", (0, 5))
    b.note_end(start(b, 0, 5), "answered", (0, 50))
    with pytest.raises(BudgetReachedError, match=r"55\.0000 spent"):
        start(a, 0, 95)  # 55 + 10 * 95, as b has seen
    start(a, 0, 10)
    with pytest.raises(TimeoutError):
        start(b, 0, 75)  # beside the other's 10 and its own, 20 times as long
    os.close(stores[0]._mark._handle)  # what the system does when a process is killed
    with pytest.raises(BudgetReachedError, match=r"55\.0000 spent so far, and up to 100\.0000"):
        start(b, 0, 85)
    b.note_end(start(b, 0, 75), "answered", (0, 75))
    stores[1].close()
    resumed = Ledger(path)  # the same sweep again; b is finished and never opened
    a = Meter(tmp_path / "a", EACH, budget, resumed, "a", "m")
    with pytest.raises(BudgetReachedError, match=r"130\.0000 spent so far, and up to 100\.0000"):
        start(a, 0, 80)
    resumed.close()


def test_what_was_paid_again_is_told(tmp_path: Path) -> None:
    """Replies that are cut mid-body: 18 attempts, perhaps paid, for 6 calls."""
    meter = Meter(tmp_path / "a.jsonl", EACH)
    for _ in range(6):
        for attempt, status in enumerate(("broken", "timeout", "answered"), 1):
            ticket = asyncio.run(meter.note_start(("k",), attempt, (1, 1)))
            meter.note_end(ticket, status, (1, 1) if status == "answered" else None)
    meter.close()
    meter = Meter(tmp_path / "a.jsonl", EACH)
    told = "12.0000 USD + up to 24.0000 for 12 attempts of unknown cost, "
    assert spending([meter]) == told + "18 attempts perhaps paid for 6 calls"
    summary = meter.summary()
    assert summary["statuses"] == {"answered": 6, "broken": 6, "timeout": 6}
    assert (summary["calls"], summary["perhaps_paid"]) == (6, 18)
    meter.close()


def test_nothing_is_sent_for_a_process_that_is_gone(tmp_path: Path) -> None:
    gone = [False]
    meter = Meter(tmp_path / "a.jsonl")
    meter.orphaned = lambda: gone[0]
    start(meter, 1, 1)
    gone[0] = True
    with pytest.raises(OrphanedError, match="nothing more is asked"):
        start(meter, 1, 1)
    meter.close()
    (line,) = (tmp_path / "a.jsonl").read_text().splitlines()
    assert json.loads(line)["sent"] == 1


TURNS = 200


def spend(path: Path, name: str) -> None:
    ledger = Ledger(path)
    for _ in range(TURNS):
        with ledger.turn() as accounts:
            known = accounts.get(name, Account("m"))
            accounts[name] = replace(known, sent=known.sent + 1, cost=known.cost + 0.5)
            total = accounts.get("all", Account("m"))
            accounts["all"] = replace(total, sent=total.sent + 1)
    ledger.close()


def test_turns_of_two_processes_are_taken_one_after_the_other(tmp_path: Path) -> None:
    path, spawn = tmp_path / "b" / "x.sqlite", multiprocessing.get_context("fork")
    other = spawn.Process(target=spend, args=(path, "b"))
    other.start()
    begun = time.process_time()
    spend(path, "a")
    took = (time.process_time() - begun) / TURNS
    other.join()
    assert took < 0.002, "about a tenth of a millisecond"
    ledger = Ledger(path)
    with ledger.turn() as accounts:
        assert accounts["all"].sent == 2 * TURNS
        assert accounts["a"].cost == accounts["b"].cost == TURNS / 2
    with pytest.raises(ZeroDivisionError), ledger.turn() as accounts:
        accounts["a"] = Account("m")
        _ = 1 / 0
    with ledger.turn() as accounts:
        assert accounts["a"].sent == TURNS, "a turn that fails changes nothing"
    ledger.close()
    assert path.stat().st_mode & 0o77 == 0


@pytest.mark.parametrize("text", [b"no database" * 100, b"\0" * 4096])
def test_a_damaged_file_is_named(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(text)
    with pytest.raises(DataError, match=r"account of the sweep.*x\.sqlite cannot be used.*move it"):
        Ledger(path)


@pytest.mark.parametrize("sums", ["{", "[]", '{"cost": 1}', '{"way": 3}'])
def test_a_damaged_account_is_one_sentence(tmp_path: Path, sums: str) -> None:
    path = tmp_path / "budget.sqlite"
    ledger = Ledger(path)
    ledger._db.execute("INSERT INTO account VALUES ('a', ?)", [sums])
    with pytest.raises(DataError, match="cannot be used.*damaged.*move it away"), ledger.turn():
        pass
    ledger.close()
