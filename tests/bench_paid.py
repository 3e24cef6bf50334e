"""Rate and overshoot of paid calls, measured by the server: ``python -m tests.bench_paid``.

Accepted requests a second under stray 429s, against a server whose limit is lower than the one
declared, and of two jobs at once; and what a budget of .05 lets through, at the prices of
gpt-4o-mini, where replies are 20 times as long as expected. Exit code 1 where a target is missed.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.command import run_benchmark
from judgelab.calls.budget import BudgetReachedError, Ledger
from judgelab.calls.cache import CallCache
from judgelab.calls.cached import Cached
from judgelab.calls.meter import Meter
from judgelab.calls.models import price_of
from judgelab.calls.pace import Limits
from judgelab.config.settings import Budget
from judgelab.core.lm import ChatRequest, Message
from judgelab.evaluation_lm.openai import OpenAI
from tests.servers.process import scripted

MOST = 0.05  # the budget
MODEL = "gpt-4o-mini"


@dataclass(frozen=True)
class Setting:
    """Size: seconds that a rate is measured over, requests a second, attempts at once."""

    seconds: int = 15
    rate: int = 40
    concurrency: int = 32


def job(number: int, url: str, folder: Path, calls: int, setting: Setting, most: float) -> None:
    """One process's calls; without a budget (0) at the declared rate, else as fast as it can."""
    limits = Limits(
        concurrency=setting.concurrency,
        requests_per_minute=None if most else 60.0 * setting.rate,
        backoff=0.1,
        longest_wait=1.0,
        retries=12,
    )
    lm = OpenAI(MODEL, url, limits, api_key_env=None)
    ledger, price = Ledger(folder / "budget.sqlite"), price_of(MODEL)
    budget = Budget(max_cost=most or None)
    lm.attach(Meter(folder / f"{number}.jsonl", price, budget, ledger, str(number), MODEL))
    cached = Cached(lm, CallCache(folder / "calls.sqlite"))
    asked = [f"Judge {number}, question {k}" for k in range(calls)]
    with suppress(BudgetReachedError):
        cached.chat([ChatRequest((Message("user", text),), max_tokens=100) for text in asked])
    cached.close()
    ledger.close()


def trial(setting: Setting, jobs: int = 1, most: float = 0.0, **settings: Any) -> dict[str, float]:
    """The server's account of some jobs at once."""
    calls = 2000 if most else setting.seconds * setting.rate // jobs
    with tempfile.TemporaryDirectory() as name, scripted(Path(name), **settings) as server:
        asked = (server.url, Path(name), calls, setting, most)
        started = multiprocessing.get_context("spawn")
        processes = [started.Process(target=job, args=(n, *asked)) for n in range(jobs)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        account = server.account()
        answered = sorted(e["at"] for e in server.events("answered") if e["status"] == 200)
    price = price_of(MODEL)
    assert price is not None
    return {
        "accepted": _rate(answered),
        "sent": _rate(account.times),
        "cost": account.cost(price.input, price.output),
        "failed": sum(process.exitcode != 0 for process in processes),
    }


def _rate(times: Sequence[float]) -> float:
    """Per second, without start and stragglers."""
    inner = times[len(times) // 10 : len(times) * 9 // 10]
    return (len(inner) - 1) / (inner[-1] - inner[0])


def measure(setting: Setting) -> dict[str, Any]:
    """All trials by name."""
    lower = 0.4 * setting.rate
    return {
        "stray 0 %": trial(setting),
        "stray 5 %": trial(setting, faults=["429@0.05/requests"]),
        "stray 20 %": trial(setting, faults=["429@0.2/requests"]),
        "real limit 40 %": trial(setting, per_second=lower),
        "two jobs": trial(setting, jobs=2),
        "20 times": trial(setting, most=MOST, delay=0.2, faults=["long=20@1"]),
        "20 times, two jobs": trial(setting, jobs=2, most=MOST, delay=0.2, faults=["long=20@1"]),
        "every tenth 20 times": trial(setting, most=MOST, delay=0.05, faults=["long=20@0.1"]),
    }


LEAST = {"stray 0 %": 0.97, "stray 5 %": 0.9, "stray 20 %": 0.75, "real limit 40 %": 0.32}


def show(report: dict[str, Any], setting: Setting) -> bool:
    """Print the table; whether targets are met."""
    met = True
    print(f"{'':24}{'sent/s':>9}{'accepted/s':>12}{'of declared':>13}{'target':>10}")
    for name, row in report.items():
        if "times" in name:
            continue
        share, least = row["accepted"] / setting.rate, LEAST.get(name)
        good = row["sent"] <= 1.05 * setting.rate and (least is None or share >= least)
        target = "<= 1.05" if least is None else f">= {least}"
        met &= good and not row["failed"]
        print(f"{name:24}{row['sent']:9.1f}{row['accepted']:12.1f}{share:13.1%}{target:>10}")
    print(f"\n{'':24}{'max_cost':>9}{'true cost':>12}{'of max_cost':>13}{'target':>10}")
    for name, row in report.items():
        if "times" in name:
            met &= row["cost"] <= 1.02 * MOST and not row["failed"]
            share = row["cost"] / MOST
            print(f"{name:24}{MOST:9.3f}{row['cost']:12.5f}{share:13.1%}{'<= 1.02':>10}")
    return met


def main(argv: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    words = "Rate and overshoot of paid calls, measured by the server."
    return run_benchmark(argv, words, "outputs/bench/paid.json", Setting, measure, show)


if __name__ == "__main__":
    sys.exit(main())
