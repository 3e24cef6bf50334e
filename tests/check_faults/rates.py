"""Rate and overshoot of paid calls, by the server's account."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from judgelab.calls.budget import BudgetReachedError, Ledger, price_of
from judgelab.calls.cache import CallCache
from judgelab.calls.cached import CachedLM
from judgelab.calls.meter import Meter
from judgelab.calls.pace import Limits
from judgelab.config import Budget
from judgelab.evaluation_lm.openai import OpenAI
from tests.check_faults.trial import PRICES, Findings, Place
from tests.scripted import ask
from tests.servers.account import Account
from tests.servers.process import scripted

MODEL, MOST = "gpt-4o-mini", 0.05  # the budget, at that model's prices
RATE, SECONDS = 100, 10  # declared requests a second, and how long they are counted
LONG = {"delay": 0.2, "faults": ["long=20@1"]}
RATES: dict[str, tuple[int, float, dict[str, Any]]] = {  # jobs, least share accepted, the server
    "stray 0 %": (1, 0.97, {}),
    "stray 5 %": (1, 0.9, {"faults": ["429@0.05/requests"]}),
    "stray 20 %": (1, 0.75, {"faults": ["429@0.2/requests"]}),
    "real limit 40 %": (1, 0.32, {"per_second": 0.4 * RATE}),
    "two jobs": (2, 0.0, {}),
}
BUDGETS: dict[str, tuple[int, dict[str, Any]]] = {  # replies longer than expected
    "20 times": (1, LONG),
    "20 times, two jobs": (2, LONG),
    "every tenth 20 times": (1, {"delay": 0.05, "faults": ["long=20@0.1"]}),
}


def rates(place: Place) -> Findings:
    """Rates with stray 429s and of two jobs at once, and what a budget lets through."""
    found = Findings()
    for name, (jobs, least, settings) in RATES.items():
        account, answered, failed = trial(place.folder / name, jobs, 0.0, settings)
        sent, accepted = _rate(account.times) / RATE, _rate(answered) / RATE
        shares = {"sent": f"{sent:.1%}", "accepted": f"{accepted:.1%}", "cost": ""}
        found.rows.append({"server": name} | shares)
        found.claim(f"{name}: {sent:.3f} of the declared rate is sent, at most 1.05", sent <= 1.05)
        found.claim(f"{name}: {accepted:.3f} accepted, at least {least}", accepted >= least)
        found.claim(f"{name}: every job ends well", not failed)
    for name, (jobs, settings) in BUDGETS.items():
        account, _, failed = trial(place.folder / name, jobs, MOST, settings)
        share = account.cost(*PRICES) / MOST
        cost = f"{share:.1%} of max_cost"
        found.rows.append({"server": name, "sent": "", "accepted": "", "cost": cost})
        found.claim(f"{name}: true cost {share:.3f} of max_cost, at most 1.02", share <= 1.02)
        found.claim(f"{name}: every job ends well", not failed)
    return found


def trial(
    folder: Path, jobs: int, most: float, settings: dict[str, Any]
) -> tuple[Account, list[float], int]:
    """The server's account of some jobs at once, when it answered, and how many jobs failed."""
    calls = 2000 if most else SECONDS * RATE // jobs
    with scripted(folder, **settings) as server:
        asked = (server.url, folder, calls, most)
        started = multiprocessing.get_context("spawn")
        processes = [started.Process(target=job, args=(n, *asked)) for n in range(jobs)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        answered = sorted(e["at"] for e in server.events("answered") if e["status"] == 200)
        return server.account(), answered, sum(process.exitcode != 0 for process in processes)


def job(index: int, url: str, folder: Path, calls: int, most: float) -> None:
    """One process's calls; without a budget (0) at the declared rate, else as fast as it can."""
    pace = None if most else 60.0 * RATE
    limits = Limits(
        concurrency=32, requests_per_minute=pace, backoff=0.1, longest_wait=1.0, retries=12
    )
    lm = OpenAI(MODEL, url, limits, api_key_env=None)
    ledger, budget = Ledger(folder / "budget.sqlite"), Budget(max_cost=most or None)
    lm.attach(Meter(folder / f"{index}.jsonl", price_of(MODEL), budget, ledger, f"{index}", MODEL))
    cached = CachedLM(lm, CallCache(folder / "calls.sqlite"))
    asked = [f"Judge {index}, question {k}" for k in range(calls)]
    with suppress(BudgetReachedError):
        cached.chat([ask(text, max_tokens=100) for text in asked])
    cached.close()
    ledger.close()


def _rate(times: Sequence[float]) -> float:
    """Per second, without start and stragglers."""
    inner = times[len(times) // 10 : len(times) * 9 // 10]
    return (len(inner) - 1) / (inner[-1] - inner[0])
