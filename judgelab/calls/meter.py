"""What was sent and what it cost: one line when an attempt starts and one when it ends."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from judgelab.calls.ledger import Account, Ledger, Ratios, ratios_by_model
from judgelab.calls.models import Price
from judgelab.config.settings import Budget
from judgelab.core.errors import ConfigError, JudgelabError
from judgelab.store.private import private_folder

MOST = 10**9  # tokens that an attempt can have used; a server that says more is not believed
LONGER = (4.0, 20.0)
"""Times the tokens expected, input and output, that attempts under way are held to beside others.

As input one byte may be a token; a reply has no bound where a server ignores ``max_tokens``.
"""
NAMES = 20  # of models that answered, in the manifest
LOOK = 0.01  # seconds between looks whether attempts under way have left room in the budget


class BudgetReachedError(JudgelabError):
    """The next call would go beyond the budget; everything answered so far is kept."""


class OrphanedError(JudgelabError):
    """The process that this one works for is gone: nothing more is sent."""


@dataclass
class Totals:
    """Counts over the file."""

    sent: int = 0  # attempts, retries included
    ended: int = 0  # attempts whose end was seen; the others were under way at a kill
    answered: int = 0  # attempts that brought an answer, even a refusal
    retried: int = 0  # attempts beyond a call's first
    input_tokens: int = 0  # as the server counted them
    output_tokens: int = 0
    cost: float = 0.0  # sum of the known costs
    unknown_cost: int = 0  # ended attempts that may have cost something, not known how much
    statuses: Counter[str] = field(default_factory=Counter)  # how attempts ended


@dataclass(frozen=True)
class Ticket:
    """One attempt under way."""

    number: int
    expected: tuple[float, float]  # tokens, input and output
    started: float = field(default_factory=time.monotonic)


class Meter:
    """An append-only JSONL file of attempts, and the budget they are held against.

    What earlier executions of the run wrote counts; without a path no file is kept, without a price
    no cost is claimed (ConfigError with ``max_cost``).

    ``budget.max_cost`` bounds what may have been spent, by all meters of the ledger: known costs,
    the most that attempts of unknown usage cost, and of those under way. The most is what was
    expected, times the largest ratio of real to expected tokens seen so far. An attempt
    beside others needs room for ``LONGER`` replies of all of them, and until replies are seen few
    are sent at once: so replies of an unexpected length are noticed while there is money left. Near
    the end attempts therefore wait for those under way; the last ones are sent one at a time.

    Args:
        ledger: of all meters that share the budget; None: this one has it alone.
        name: in the ledger.
        orphaned: whether the process that this one works for is gone.
    """

    def __init__(
        self,
        path: Path | None = None,
        price: Price | None = None,
        budget: Budget | None = None,
        ledger: Ledger | None = None,
        name: str = "calls",
        model: str = "",
        orphaned: Callable[[], bool] = lambda: False,
    ) -> None:
        self.price, self.budget = price, budget or Budget()
        if self.budget.max_cost is not None and price is None:
            raise ConfigError(
                "budget.max_cost needs the model's price: add it to the price list "
                "(budget.prices=FILE), or use budget.max_calls."
            )
        self.totals, self._handle, self._number = Totals(), -1, 0
        self.model, self.models = model, Counter[str]()  # asked for; as the server calls it
        self.fingerprints = Counter[str]()
        self._way: dict[int, tuple[float, float]] = {}  # expected tokens of attempts under way
        self.troubled: set[str] = set()  # calls whose last attempt in earlier executions failed
        self._marks: dict[int, str] = {}  # of attempts, while the file is read
        self._ledger, self._orphaned = ledger or Ledger(), orphaned
        self._account = Account(name, model, self._ledger.owner)
        self._first = asyncio.Lock()  # of those that wait for room
        torn = path is not None and self._read(path)
        with self._ledger.turn() as accounts:
            self._settle(accounts)
        if path is not None:
            private_folder(path.parent)
            self._handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            if torn:
                os.write(self._handle, b"\n")

    @property
    def under_way(self) -> int:
        """Attempts that have started and not ended."""
        return len(self._way)

    async def sent(
        self, key: Sequence[str], attempt: int, tokens: tuple[int, int], mark: str = ""
    ) -> Ticket:
        """Note that an attempt starts, once the budget has room for it.

        Args:
            tokens: what it is expected to take, input and output.
            mark: of the call, for ``troubled``.

        Raises:
            BudgetReachedError: it must not start, whatever attempts under way turn out to cost.
            OrphanedError: nobody waits for its answer any more.
        """
        async with self._first:
            while (reserved := self._start(tokens)) is None:
                await asyncio.sleep(LOOK)
        ticket = Ticket(self._number, _expected(tokens))
        self.totals.retried += attempt > 1
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        entry = {"sent": ticket.number, "attempt": attempt, "key": list(key), "at": at}
        entry |= {"expected": ticket.expected, **({"call": mark} if mark else {})}
        self._write(entry | ({"reserved": reserved} if self.price else {}))
        return ticket

    def ended(
        self, ticket: Ticket, status: str, tokens: tuple[int, int] | None = None, **facts: Any
    ) -> None:
        """Note how it ended: status of ``attempts.Answer``, tokens as the server counted them."""
        entry: dict[str, Any] = {"ended": ticket.number, "status": status}
        entry["seconds"] = round(time.monotonic() - ticket.started, 3)
        tokens = _believed(tokens)
        if tokens is not None:
            entry["input_tokens"], entry["output_tokens"] = tokens
        if _free(status):
            entry["cost"] = 0.0
        else:
            entry["cost"] = self.price.cost(*tokens) if self.price and tokens else None
        entry |= {name: value for name, value in facts.items() if value is not None}
        self._write(entry)
        with self._ledger.turn() as accounts:
            self._count(entry, self._way.pop(ticket.number, ticket.expected))
            self._settle(accounts)

    def words(self) -> str:
        """What has been spent, for people."""
        return together([self])

    @property
    def reserved(self) -> float:
        """The most that attempts of unknown cost have cost; those under way are not among them."""
        return self._account.perhaps(self._account.ratios)

    def summary(self) -> dict[str, Any]:
        """The totals, for the manifest; an unknown cost is null."""
        totals, paid = self.totals, self.price is not None
        return asdict(totals) | {
            "statuses": dict(sorted(totals.statuses.items())),
            "calls": totals.sent - totals.retried,
            "perhaps_paid": totals.sent - sum(n for s, n in totals.statuses.items() if _free(s)),
            "lost": self._lost,
            "asked": self.model or None,
            "answered_by": dict(self.models.most_common(NAMES)),
            "system_fingerprints": dict(sorted(self.fingerprints.items())),
            "cost": round(totals.cost, 6) if paid else None,
            "reserved": round(self.reserved, 6) if paid else None,
            "currency": self.price.currency if self.price else None,
        }

    def close(self) -> None:
        """Close the file; what is under way counts as of unknown cost."""
        if self._way:
            with self._ledger.turn() as accounts:
                for expected in self._way.values():
                    self._open(expected)
                self._way.clear()
                self._settle(accounts)
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    @property
    def _lost(self) -> int:
        return max(0, self.totals.sent - self.totals.ended - self.under_way)

    def _start(self, tokens: tuple[int, int]) -> float | None:
        """Take the next number and what it may cost from the budget; None: look again later."""
        if self._orphaned():
            raise OrphanedError(
                "The process that started this job is gone, so nothing more is asked: what was "
                "answered is kept, and the same command continues."
            )
        expected = _expected(tokens)
        with self._ledger.turn() as accounts:
            accounts[self._account.name] = self._account
            if not self._room(list(accounts.values()), expected):
                return None
            self.totals.sent += 1
            self._number += 1
            self._way[self._number] = expected
            self._settle(accounts)
        return self._cost(expected, self._account.ratios)

    def _room(self, accounts: Sequence[Account], expected: tuple[float, float]) -> bool:
        """Whether an attempt may start beside those under way; BudgetReachedError: never."""
        calls, most = self.budget.max_calls, self.budget.max_cost
        if calls is not None and sum(a.sent for a in accounts) >= calls:
            raise BudgetReachedError(
                f"budget.max_calls={calls} is used up: what was answered is kept, and the same "
                "command with a larger budget continues."
            )
        if most is None:
            return True
        assert self.price is not None
        ratios = ratios_by_model(accounts)
        spent = sum(a.cost for a in accounts)
        perhaps = sum(a.perhaps(ratios[a.model]) for a in accounts)
        mine, beside = ratios[self._account.model], sum(a.under_way for a in accounts)
        if beside:
            held = sum(a.held(_longer(ratios[a.model])) for a in accounts)
            new = self._cost(expected, _longer(mine))
            few = beside > sum(a.seen for a in accounts)
            return not few and spent + perhaps + held + new <= most
        if spent + perhaps + self._cost(expected, mine) > most:
            raise BudgetReachedError(
                f"budget.max_cost={most} would be exceeded ({spent:.4f} spent so far, and up to "
                f"{perhaps:.4f} for attempts of unknown cost): what was answered is kept, and the "
                "same command with a larger budget continues."
            )
        return True

    def _cost(self, tokens: tuple[float, float], ratios: Ratios) -> float:
        if self.price is None:
            return 0.0
        return self.price.cost(tokens[0] * ratios[0], tokens[1] * ratios[1])

    def _settle(self, accounts: dict[str, Account]) -> None:
        """Show the ledger what there is now."""
        totals, price = self.totals, self.price or Price(0.0, 0.0)
        self._account = accounts[self._account.name] = replace(
            self._account,
            sent=totals.sent,
            seen=sum(n for status, n in totals.statuses.items() if not _free(status)),
            cost=totals.cost,
            under_way=len(self._way),
            way_input=price.cost(sum(tokens[0] for tokens in self._way.values()), 0),
            way_output=price.cost(0, sum(tokens[1] for tokens in self._way.values())),
        )

    def _count(self, entry: dict[str, Any], expected: tuple[float, float]) -> None:
        """Add an attempt's end to the totals and to the account."""
        totals, account, status = self.totals, self._account, str(entry.get("status", "unknown"))
        tokens = _believed((entry.get("input_tokens"), entry.get("output_tokens")))
        totals.ended += 1
        totals.answered += status == "answered"
        totals.statuses[status] += 1
        if tokens is not None:
            totals.input_tokens += tokens[0]
            totals.output_tokens += tokens[1]
            pairs = zip(tokens, expected, account.ratios, strict=True)
            ratios = [max(seen, real / e) if e else seen for real, e, seen in pairs]
            self._account = replace(account, ratio_input=ratios[0], ratio_output=ratios[1])
        cost: Any = entry.get("cost")
        if cost is None and self.price is not None and tokens is not None:
            cost = self.price.cost(*tokens)  # an earlier execution had no price
        if _amount(cost):
            totals.cost += cost
        else:  # it may have cost as much as was reserved
            totals.unknown_cost += 1
            self._open(expected)
        for name, counts in (("model", self.models), ("system_fingerprint", self.fingerprints)):
            if isinstance(entry.get(name), str):
                counts[entry[name]] += 1

    def _open(self, expected: tuple[float, float]) -> None:
        price, account = self.price or Price(0.0, 0.0), self._account
        self._account = replace(
            account,
            open_input=account.open_input + price.cost(expected[0], 0),
            open_output=account.open_output + price.cost(0, expected[1]),
        )

    def _read(self, path: Path) -> bool:
        """Count what is there; whether the last line is torn."""
        if not path.is_file():
            return False
        data, way = path.read_bytes(), dict[int, tuple[float, float]]()
        for line in data.splitlines():
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue  # torn by a kill: its attempt counts as never ended
            if isinstance(entry, dict):
                self._recall(entry, way)
        for expected in way.values():  # under way at a kill
            self._open(expected)
        return bool(data) and not data.endswith(b"\n")

    def _recall(self, entry: dict[str, Any], way: dict[int, tuple[float, float]]) -> None:
        """Count one line; ``way`` holds what was expected of attempts that have not ended."""
        if "sent" in entry:
            self.totals.sent += 1
            self.totals.retried += _whole(entry.get("attempt")) and entry["attempt"] > 1
            number = entry["sent"] if _whole(entry["sent"]) else self._number + 1
            self._number = max(self._number, number)
            expected: Any = entry.get("expected")
            known = (
                isinstance(expected, list) and len(expected) == 2 and all(map(_amount, expected))
            )
            way[number] = (float(expected[0]), float(expected[1])) if known else (0.0, 0.0)
            self._marks[number] = str(entry.get("call", ""))
        elif "ended" in entry:
            number = entry["ended"] if _whole(entry["ended"]) else 0
            lost = str(entry.get("status")) not in ("answered", "malformed")
            (self.troubled.add if lost else self.troubled.discard)(self._marks.pop(number, ""))
            self._count(entry, way.pop(number, (0.0, 0.0)))

    def _write(self, entry: dict[str, Any]) -> None:
        if self._handle >= 0:
            line = json.dumps(entry, ensure_ascii=False) + "\n"
            os.write(self._handle, line.encode())  # one write: whole, or torn by a kill


def together(meters: Sequence[Meter]) -> str:
    """What has been spent through all of them, for people: one sum for each currency."""
    said = []
    priced = {one.price.currency: one.price for one in meters if one.price is not None}
    for currency in priced:
        own = [one for one in meters if one.price is not None and one.price.currency == currency]
        spent = f"{sum(one.totals.cost for one in own):.4f} {currency}"
        number = sum(one.totals.unknown_cost + one._lost for one in own)
        if (most := sum(one.reserved for one in own)) or any(x.totals.unknown_cost for x in own):
            spent += f" + up to {most:.4f} for {number} attempts of unknown cost"
        said.append(spent)
    if unpriced := [one.totals.sent for one in meters if one.price is None]:
        said.append(f"{sum(unpriced)} sent{' besides' if said else ''}, cost unknown")
    lost = sum(n for one in meters for status, n in one.totals.statuses.items() if _unseen(status))
    if lost:
        answered = sum(one.totals.answered for one in meters)
        calls = sum(one.totals.sent - one.totals.retried for one in meters)
        said.append(f"{answered + lost} attempts perhaps paid for {calls} calls")
    return ", ".join(said)


def _free(status: str) -> bool:
    """Whether no provider charges for it: an HTTP error, or never arrived."""
    return status.isdigit() or status == "unreached"


def _unseen(status: str) -> bool:
    """Whether a reply may have been paid for that never arrived whole."""
    return not _free(status) and status not in ("answered", "malformed")


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def _amount(value: object) -> bool:
    """Whether it can be a cost or a number of tokens, whatever wrote it."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value <= 1e15  # type: ignore[operator]  # false for NaN


def _believed(tokens: Sequence[Any] | None) -> tuple[int, int] | None:
    """Tokens that a server can have counted, or None."""
    if tokens is None or len(tokens) != 2 or not all(map(_whole, tokens)):
        return None
    return tokens[0], tokens[1]


def _longer(ratios: Ratios) -> Ratios:
    return max(LONGER[0], ratios[0]), max(LONGER[1], ratios[1])


def _expected(tokens: tuple[int, int]) -> tuple[float, float]:
    return max(0.0, float(tokens[0])), max(0.0, float(tokens[1]))
