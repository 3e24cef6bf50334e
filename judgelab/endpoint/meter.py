"""What was sent and what it cost: one line when an attempt starts and one when it ends."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

from judgelab.config.settings import Budget
from judgelab.core.errors import ConfigError, DataError, JudgelabError
from judgelab.core.resources import conf

LIST = conf() / "prices.yaml"
PER = 1_000_000


@dataclass(frozen=True)
class Price:
    """Currency units per million tokens."""

    input: float
    output: float
    currency: str = "USD"

    def cost(self, input_tokens: float, output_tokens: float) -> float:
        """What so many tokens cost."""
        return (input_tokens * self.input + output_tokens * self.output) / PER


def price_of(model: str, file: str | None = None) -> Price | None:
    """The model's price; None where the list has none, which means unknown and never free."""
    path = Path(file) if file else LIST
    try:
        listed = yaml.safe_load(path.read_text(encoding="utf-8"))
        entry = listed["models"].get(model)
        if entry is None or entry["input"] is None or entry["output"] is None:
            return None
        assert isinstance(entry, Mapping)
        return Price(float(entry["input"]), float(entry["output"]), str(listed["currency"]))
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as cause:
        raise DataError(
            f"The price list {path} cannot be read ({type(cause).__name__}: {cause}): it needs "
            "currency, and models with input and output per million tokens."
        ) from cause


class BudgetReachedError(JudgelabError):
    """The next call would go beyond the budget; everything answered so far is kept."""


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


@dataclass(frozen=True)
class Ticket:
    """One attempt under way."""

    number: int
    started: float = field(default_factory=time.monotonic)


class Meter:
    """An append-only JSONL file of attempts, and the budget they are held against.

    What earlier executions of the run wrote counts; without a path no file is kept, without a price
    no cost is claimed (ConfigError with ``max_cost``).
    """

    def __init__(
        self, path: Path | None = None, price: Price | None = None, budget: Budget | None = None
    ) -> None:
        self.price, self.budget = price, budget or Budget()
        if self.budget.max_cost is not None and price is None:
            raise ConfigError(
                "budget.max_cost needs the model's price: add it to the price list "
                "(budget.prices=FILE), or use budget.max_calls."
            )
        self.totals, self._handle = Totals(), -1
        self._reserved: dict[int, float] = {}  # of attempts that may have cost so much
        self.models: set[str] = set()  # as the server calls what answered
        self.beside: list[Meter] = []  # of the run's other LMs: one budget holds for all
        if path is not None:
            torn = self._read(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            if torn:
                os.write(self._handle, b"\n")

    def sent(self, key: Sequence[str], attempt: int, tokens: tuple[int, int]) -> Ticket:
        """Note that an attempt starts, which may take so many tokens (input, output) at most.

        Raises:
            BudgetReachedError: it must not start.
        """
        reserved = self.price.cost(*tokens) if self.price else 0.0
        self._check(reserved)
        self.totals.sent += 1
        self.totals.retried += attempt > 1
        ticket = Ticket(self.totals.sent)
        self._reserved[ticket.number] = reserved
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        entry = {"sent": ticket.number, "attempt": attempt, "key": list(key), "at": at}
        self._write(entry | ({"reserved": reserved} if self.price else {}))
        return ticket

    def ended(
        self, ticket: Ticket, status: str, tokens: tuple[int, int] | None = None, **facts: Any
    ) -> None:
        """Note how it ended: status of ``attempts.Answer``, tokens as the server counted them."""
        entry: dict[str, Any] = {"ended": ticket.number, "status": status}
        entry["seconds"] = round(time.monotonic() - ticket.started, 3)
        if tokens is not None:
            entry["input_tokens"], entry["output_tokens"] = tokens
        if status.isdigit() or status == "unreached":  # an HTTP error: no provider charges for it
            entry["cost"] = 0.0
        else:
            entry["cost"] = self.price.cost(*tokens) if self.price and tokens else None
        entry |= {name: value for name, value in facts.items() if value is not None}
        self._count(entry)
        self._write(entry)

    def words(self) -> str:
        """What has been spent, for people."""
        if self.price is None:
            return f"{self.totals.sent} sent, cost unknown"
        more = f" + {self.totals.unknown_cost} calls of unknown cost"
        spent = f"{self.totals.cost:.4f} {self.price.currency}"
        return f"{spent}{more if self.totals.unknown_cost else ''}"

    def summary(self) -> dict[str, Any]:
        """The totals, for the manifest; an unknown cost is null."""
        totals = self.totals
        return asdict(totals) | {
            "lost": totals.sent - totals.ended,
            "models": sorted(self.models),
            "cost": None if self.price is None else round(totals.cost, 6),
            "currency": None if self.price is None else self.price.currency,
        }

    def close(self) -> None:
        """Close the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _check(self, reserved: float) -> None:
        calls, cost = self.budget.max_calls, self.budget.max_cost
        meters = [self, *self.beside]
        if calls is not None and sum(m.totals.sent for m in meters) >= calls:
            raise BudgetReachedError(
                f"budget.max_calls={calls} is used up: what was answered is kept, and the same "
                "command with a larger budget continues."
            )
        spent = sum(m.totals.cost for m in meters)
        perhaps = sum(sum(m._reserved.values()) for m in meters)
        if cost is not None and spent + perhaps + reserved > cost:
            raise BudgetReachedError(
                f"budget.max_cost={cost} would be exceeded ({spent:.4f} spent so far, and up to "
                f"{perhaps:.4f} for calls under way or of unknown cost): what was answered is "
                "kept, and the same command with a larger budget continues."
            )

    def _count(self, entry: dict[str, Any]) -> None:
        totals = self.totals
        totals.ended += 1
        totals.answered += entry["status"] == "answered"
        totals.input_tokens += entry.get("input_tokens", 0)
        totals.output_tokens += entry.get("output_tokens", 0)
        totals.cost += entry["cost"] or 0.0
        totals.unknown_cost += entry["cost"] is None
        if entry["cost"] is not None:  # else it may have cost as much as was reserved
            self._reserved.pop(entry["ended"], None)
        if "model" in entry:
            self.models.add(str(entry["model"]))

    def _read(self, path: Path) -> bool:
        """Count what is there; whether the last line is torn."""
        if not path.is_file():
            return False
        data = path.read_bytes()
        for line in data.splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # torn by a kill: its attempt counts as never ended
            if "sent" in entry:
                self.totals.sent += 1
                self.totals.retried += entry["attempt"] > 1
                self._reserved[entry["sent"]] = entry.get("reserved", 0.0)
            else:
                self._count(entry)
        return bool(data) and not data.endswith(b"\n")

    def _write(self, entry: dict[str, Any]) -> None:
        if self._handle >= 0:
            line = json.dumps(entry, ensure_ascii=False) + "\n"
            os.write(self._handle, line.encode())  # one write: whole, or torn by a kill
