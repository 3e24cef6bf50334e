"""The account that meters of several processes share."""

from __future__ import annotations

import multiprocessing
import time
from dataclasses import replace
from pathlib import Path

import pytest

from judgelab.calls.ledger import Account, SharedLedger, ratios_by_model
from judgelab.core.errors import DataError

TURNS = 200


def spend(path: Path, name: str) -> None:
    ledger = SharedLedger(path)
    for _ in range(TURNS):
        with ledger.turn() as accounts:
            known = accounts.get(name, Account(name, "m"))
            accounts[name] = replace(known, sent=known.sent + 1, cost=known.cost + 0.5)
            total = accounts.get("all", Account("all", "m"))
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
    ledger = SharedLedger(path)
    with ledger.turn() as accounts:
        assert accounts["all"].sent == 2 * TURNS
        assert accounts["a"].cost == accounts["b"].cost == TURNS / 2
    with pytest.raises(ZeroDivisionError), ledger.turn() as accounts:
        accounts["a"] = Account("a", "m")
        _ = 1 / 0
    with ledger.turn() as accounts:
        assert accounts["a"].sent == TURNS, "a turn that fails changes nothing"
    ledger.close()
    assert path.stat().st_mode & 0o77 == 0


def test_ratios_are_those_of_a_model() -> None:
    one, two = Account("a", "m", ratio_output=3.0), Account("b", "m", ratio_input=2.0)
    found = ratios_by_model([one, two, Account("c", "n")])
    assert found == {"m": (2.0, 3.0), "n": (1.0, 1.0)}


@pytest.mark.parametrize("text", [b"no database" * 100, b"\0" * 4096])
def test_a_damaged_file_is_named(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(text)
    with pytest.raises(DataError, match=r"account of the sweep.*x\.sqlite cannot be used.*move it"):
        SharedLedger(path)
