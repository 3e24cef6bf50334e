"""What was sent and what it cost: one line when an attempt starts and one when it ends."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from judgelab.calls.budget import Account, Both, Ledger, Price, dot, free, has_room, larger
from judgelab.config import Budget
from judgelab.core.errors import ConfigError, JudgelabError
from judgelab.store.private import private_folder

NAMES = 20  # of models that answered, in the manifest
LOOK = 0.01  # seconds between looks whether attempts under way have left room in the budget


class OrphanedError(JudgelabError):
    """The process that this one works for is gone: nothing more is sent."""


class Meter:
    """An append-only JSONL file of attempts, and the budget they are held against.

    What earlier executions of the run wrote counts; without a path no file is kept, without a price
    no cost is claimed (ConfigError with ``max_cost``).

    ``budget.max_cost`` bounds what all meters of the ``ledger`` may have spent (None: this one has
    the budget alone): known costs, and the most that attempts of unknown usage or under way cost.
    The most is what was expected, times the largest ratio of real to expected tokens seen so far.
    An attempt beside others needs room for ``LONGER`` replies of all of them, and until replies are
    seen few are sent at once: so replies of an unexpected length are noticed while there is money
    left. Near the end attempts wait for those under way; the last ones are sent one at a time.
    """

    def __init__(
        self,
        path: Path | None = None,
        price: Price | None = None,
        budget: Budget | None = None,
        ledger: Ledger | None = None,
        name: str = "calls",
        model: str = "",
    ) -> None:
        self.price, self.budget = price, budget or Budget()
        if self.budget.max_cost is not None and price is None:
            raise ConfigError(
                "budget.max_cost needs the model's price: add it to the price list "
                "(budget.prices=FILE), or use budget.max_calls."
            )
        self._handle, self._number = -1, 0
        self.model, self.models = model, Counter[str]()  # asked for; as the server calls it
        self.fingerprints = Counter[str]()
        self.troubled = set[str]()  # calls whose last attempt in earlier executions failed
        self._way: dict[int, Both] = {}  # expected tokens of attempts under way
        self._began: dict[int, float] = {}  # when they did
        self._ledger, self._name = ledger or Ledger(), name
        self.orphaned: Callable[[], bool] = lambda: False  # is the process it works for gone?
        self.account = Account(model, self._ledger.owner)
        self._first = asyncio.Lock()  # of those that wait for room
        torn = path is not None and path.is_file() and self._load(path.read_bytes())
        with self._ledger.turn() as accounts:
            self._settle(accounts)
        if path is not None:
            private_folder(path.parent)
            self._handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            if torn:
                os.write(self._handle, b"\n")

    async def note_start(
        self, key: Sequence[str], attempt: int, tokens: tuple[int, int], mark: str = ""
    ) -> int:
        """Note that an attempt starts, once the budget has room for the tokens (input and output)
        that it is expected to take; returns its number. ``mark``: of the call, for ``troubled``.

        Raises:
            BudgetReachedError: it must not start, whatever attempts under way turn out to cost.
            OrphanedError: nobody waits for its answer any more.
        """
        async with self._first:
            while (reserve := self._start(tokens)) is None:
                await asyncio.sleep(LOOK)
        self._began[self._number] = time.monotonic()
        self.account.retried += attempt > 1
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        entry = {"sent": self._number, "attempt": attempt, "key": list(key), "at": at}
        entry |= {"expected": tokens, "call": mark}
        self._write(entry | ({"reserved": reserve} if self.price else {}))
        return self._number

    def note_end(
        self, number: int, status: str, tokens: tuple[int, int] | None = None, **facts: Any
    ) -> None:
        """Note how it ended: status of ``sending.Answer``, tokens as the server counted them."""
        entry: dict[str, Any] = {"ended": number, "status": status}
        entry["seconds"] = round(time.monotonic() - self._began.pop(number), 3)
        if tokens is not None:
            entry["input_tokens"], entry["output_tokens"] = tokens
        cost = self.price.cost(*tokens) if self.price and tokens else None
        entry["cost"] = 0.0 if free(status) else cost
        self._write(entry | {name: value for name, value in facts.items() if value is not None})
        with self._ledger.turn() as accounts:
            self._count(entry | facts, self._way.pop(number))
            self._settle(accounts)

    def summary(self) -> dict[str, Any]:
        """The totals, for the manifest; an unknown cost is null."""
        account, has_price = self.account, self.price is not None
        counts = ("sent", "ended", "answered", "retried", "input_tokens", "output_tokens")
        return {name: getattr(account, name) for name in counts} | {
            "unknown_cost": account.unknown_cost,
            "statuses": dict(sorted(account.statuses.items())),
            "calls": account.sent - account.retried,
            "perhaps_paid": account.sent - account.statuses.total() + account.charged.total(),
            "lost": account.lost,
            "asked": self.model or None,
            "answered_by": dict(self.models.most_common(NAMES)),
            "system_fingerprints": dict(sorted(self.fingerprints.items())),
            "cost": round(account.cost, 6) if has_price else None,
            "reserved": round(account.reserved, 6) if has_price else None,
            "currency": self.price.currency if self.price else None,
        }

    def close(self) -> None:
        """Close the file; what is under way counts as of unknown cost."""
        if self._way:
            with self._ledger.turn() as accounts:
                while self._way:
                    self._open(self._way.popitem()[1])
                self._settle(accounts)
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _start(self, tokens: Both) -> float | None:
        """Take the next number and what it may cost from the budget; None: look again later."""
        if self.orphaned():
            raise OrphanedError(
                "The process that started this job is gone, so nothing more is asked: what was "
                "answered is kept, and the same command continues."
            )
        with self._ledger.turn() as accounts:
            accounts[self._name] = self.account
            costs = self._costs(tokens)
            if not has_room(list(accounts.values()), self.model, costs, self.budget):
                return None
            self.account.sent += 1
            self._number += 1
            self._way[self._number] = tokens
            self._settle(accounts)
        return dot(costs, self.account.ratios)

    def _costs(self, tokens: Both) -> Both:
        if self.price is None:
            return 0.0, 0.0
        return self.price.cost(tokens[0], 0), self.price.cost(0, tokens[1])

    def _settle(self, accounts: dict[str, Account]) -> None:
        way, account = self._way.values(), self.account
        account.under_way = len(way)
        account.way = self._costs((sum(one[0] for one in way), sum(one[1] for one in way)))
        accounts[self._name] = account

    def _count(self, entry: dict[str, Any], expected: Both) -> None:
        """Add an attempt's end to the account."""
        account, status, cost = self.account, entry["status"], entry["cost"]
        account.ended += 1
        account.answered += status == "answered"
        account.statuses[status] += 1
        if "input_tokens" in entry:
            tokens = entry["input_tokens"], entry["output_tokens"]
            account.input_tokens += tokens[0]
            account.output_tokens += tokens[1]
            ratios = [real / e if e else 1.0 for real, e in zip(tokens, expected, strict=True)]
            account.ratios = larger(account.ratios, (ratios[0], ratios[1]))
            if cost is None and self.price is not None:  # an earlier execution had no price
                cost = self.price.cost(*tokens)
        if cost is not None:
            account.cost += cost
        else:  # it may have cost as much as was reserved
            account.unknown_cost += 1
            self._open(expected)
        for name, counts in (("model", self.models), ("system_fingerprint", self.fingerprints)):
            if isinstance(entry.get(name), str):
                counts[entry[name]] += 1

    def _open(self, expected: Both) -> None:
        before, more = self.account.open, self._costs(expected)
        self.account.open = before[0] + more[0], before[1] + more[1]

    def _load(self, data: bytes) -> bool:
        """Count what earlier executions wrote; whether the last line is torn."""
        marks: dict[int, str] = {}
        for line in data.splitlines():
            try:
                entry = json.loads(line)
            except ValueError:  # torn by a kill: its attempt counts as never ended
                continue
            if number := entry.get("sent"):
                self.account.sent += 1
                self.account.retried += entry["attempt"] > 1
                self._number = max(self._number, number)
                self._way[number] = (entry["expected"][0], entry["expected"][1])
                marks[number] = entry["call"]
            else:
                failed = entry["status"] not in ("answered", "malformed")
                (self.troubled.add if failed else self.troubled.discard)(marks[entry["ended"]])
                self._count(entry, self._way.pop(entry["ended"]))
        while self._way:  # under way at a kill
            self._open(self._way.popitem()[1])
        return bool(data) and not data.endswith(b"\n")

    def _write(self, entry: dict[str, Any]) -> None:
        if self._handle >= 0:
            line = json.dumps(entry, ensure_ascii=False) + "\n"
            os.write(self._handle, line.encode())  # one write: whole, or torn by a kill


def spending(meters: Sequence[Meter]) -> str:
    """What has been spent through all of them, for people."""
    parts, accounts = list[str](), [one.account for one in meters]
    if prices := [one.price for one in meters if one.price]:  # of one list, in one currency
        own = [one.account for one in meters if one.price]
        cost = f"{sum(one.cost for one in own):.4f} {prices[0].currency}"
        if number := sum(one.unknown_cost + one.lost for one in own):
            most = sum(one.reserved for one in own)
            cost += f" + up to {most:.4f} for {number} attempts of unknown cost"
        parts.append(cost)
    if unpriced := [one.account.sent for one in meters if one.price is None]:
        parts.append(f"{sum(unpriced)} sent{' besides' if parts else ''}, cost unknown")
    statuses = sum((one.charged for one in accounts), Counter[str]())
    if failures := statuses.total() - statuses["answered"] - statuses["malformed"]:
        attempts = sum(one.answered for one in accounts) + failures
        calls = sum(one.sent - one.retried for one in accounts)
        parts.append(f"{attempts} attempts perhaps paid for {calls} calls")
    return ", ".join(parts)
