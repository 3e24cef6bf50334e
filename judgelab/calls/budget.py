"""What tokens cost, and what several meters have spent together: those of one run, or of all jobs
of a sweep."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter

from judgelab.calls.cache import connect, immediate
from judgelab.config import Budget
from judgelab.core.errors import DataError, JudgelabError
from judgelab.core.resources import conf
from judgelab.store.fingerprint import VOLATILE
from judgelab.store.private import Owner

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
    path = Path(file).expanduser() if file else LIST
    try:
        prices = yaml.safe_load(path.read_text(encoding="utf-8"))
        entry = prices["models"].get(model)
        if entry is None or entry["input"] is None or entry["output"] is None:
            return None
        assert isinstance(entry, Mapping)
        return Price(float(entry["input"]), float(entry["output"]), str(prices["currency"]))
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as cause:
        raise DataError(
            f"The price list {path} cannot be read ({type(cause).__name__}: {cause}): it needs "
            "currency, and models with input and output per million tokens."
        ) from cause


Both = tuple[float, float]
"""Of input and of output: tokens, what they cost, or a ratio."""
LONGER: Both = (4.0, 20.0)
"""Times the tokens expected, that attempts under way are held to beside others.

As input one byte may be a token; a reply has no bound where a server ignores ``max_tokens``.
"""


class BudgetReachedError(JudgelabError):
    """The next call would go beyond the budget; everything answered so far is kept."""


@dataclass
class Account:
    """One meter's sums over its attempts. Costs are in the currency of its price list."""

    model: str  # ratios are those of a model, whichever meter has seen them
    owner: str = ""  # the process that keeps it; under way is only what a living one sent
    sent: int = 0  # attempts, retries included
    ended: int = 0  # attempts whose end was seen; the others are, or were at a kill, under way
    answered: int = 0  # attempts that brought an answer, even a refusal
    retried: int = 0  # attempts beyond a call's first
    input_tokens: int = 0  # as the server counted them
    output_tokens: int = 0
    cost: float = 0.0  # sum of the known costs
    unknown_cost: int = 0  # ended attempts that may have cost something, not known how much
    statuses: Counter[str] = field(default_factory=Counter)  # how attempts ended
    open: Both = (0.0, 0.0)  # expected cost of attempts whose cost stays unknown
    under_way: int = 0
    way: Both = (0.0, 0.0)  # expected cost of attempts under way
    ratios: Both = (1.0, 1.0)  # the largest ones of real to expected tokens seen, at least 1

    @property
    def charged(self) -> Counter[str]:
        """Statuses of attempts that a provider may charge for."""
        return Counter({s: n for s, n in self.statuses.items() if not free(s)})

    @property
    def reserved(self) -> float:
        """The most that attempts of unknown cost have cost; those under way are not among them."""
        return dot(self.open, self.ratios)

    @property
    def lost(self) -> int:
        """Attempts of earlier executions whose end was never seen."""
        return max(0, self.sent - self.ended - self.under_way)


ACCOUNT = TypeAdapter(Account)
TABLE = "CREATE TABLE IF NOT EXISTS account (name PRIMARY KEY, sums)"


def free(status: str) -> bool:
    """Whether no provider charges for an attempt: an HTTP error, or never arrived."""
    return status.isdigit() or status == "unreached"


class Ledger:
    """Accounts by name, looked at and changed in turns, one meter at a time.

    Processes of one machine share the file ``path`` (DataError: it cannot be used); without one
    they are this process's own.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path, self.owner = path, ""
        self._lock = threading.Lock()  # each LM has a thread of its own
        self._accounts: dict[str, Account] = {}
        if path is None:
            return
        self._mark = Owner(path.with_name(f"{path.name}.owners"))
        self.owner = self._mark.name
        with self._sound():
            self._db = connect(path, lambda db: db.execute(TABLE))

    @contextmanager
    def turn(self) -> Iterator[dict[str, Account]]:
        """All accounts by name; those set in the block are kept when it ends well."""
        with self._lock, self._sound():
            if self.path is None:
                accounts = dict(self._accounts)
                yield accounts
                self._accounts = accounts
                return
            with immediate(self._db):
                accounts = self._load()
                before = dict(accounts)
                yield accounts
                new = [(name, a) for name, a in accounts.items() if before.get(name) is not a]
                self._db.executemany(
                    "INSERT OR REPLACE INTO account VALUES (?, ?)",
                    [(name, ACCOUNT.dump_json(account).decode()) for name, account in new],
                )

    def close(self) -> None:
        """Close the file; what this process had under way counts as of unknown cost."""
        if self.path is not None:
            with self._lock:
                self._db.close()
                self._mark.close()

    def _load(self) -> dict[str, Account]:
        rows = self._db.execute("SELECT name, sums FROM account").fetchall()
        try:
            accounts = {name: ACCOUNT.validate_json(sums) for name, sums in rows}
        except ValueError as cause:  # no account of ours
            raise sqlite3.DatabaseError("an account in it is damaged") from cause
        for one in accounts.values():
            # What a process that is gone had under way may have cost something.
            if one.under_way and not self._mark.lives(one.owner):
                one.open = one.open[0] + one.way[0], one.open[1] + one.way[1]
                one.under_way, one.way = 0, (0.0, 0.0)
        return accounts

    @contextmanager
    def _sound(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as cause:
            raise DataError(
                f"The account of the sweep's budget {self.path} cannot be used ({cause}): move it "
                "away. Each job then brings what it has spent back into a new one as it starts."
            ) from cause


def budget_file(cache: Path, sweep: Path) -> Path:
    """The account of a sweep, beside the call cache.

    The same command continues the same account: sweeps are told apart by the overrides that Hydra
    notes in their folder and that change what is asked; where it noted none, by the folder.
    """
    identity: Any = str(sweep.absolute())
    try:
        notes = yaml.safe_load((sweep / "multirun.yaml").read_text(encoding="utf-8"))["hydra"]
        overrides = ((re.split("[./@=]", w.lstrip("+~"))[0], w) for w in notes["overrides"]["task"])
        words = [word for key, word in overrides if key not in {*VOLATILE, "hydra"}]
        identity = [sorted(words), (notes.get("sweeper") or {}).get("params")]
    except (OSError, yaml.YAMLError, LookupError, TypeError, AttributeError):
        pass
    name = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]
    return cache.with_name(f"{cache.name}.budgets") / f"{name}.sqlite"


def has_room(accounts: Sequence[Account], model: str, costs: Both, budget: Budget) -> bool:
    """Whether an attempt of these expected costs may start beside those under way;
    BudgetReachedError where it must not, whatever those turn out to cost."""
    calls, most = budget.max_calls, budget.max_cost
    if calls is not None and sum(a.sent for a in accounts) >= calls:
        raise BudgetReachedError(
            f"budget.max_calls={calls} is used up: what was answered is kept, and the same "
            "command with a larger budget continues."
        )
    if most is None:
        return True
    ratios: dict[str, Both] = {}
    for a in accounts:
        ratios[a.model] = larger(a.ratios, ratios.get(a.model, (1.0, 1.0)))
    cost = sum(a.cost for a in accounts)
    perhaps = sum(dot(a.open, ratios[a.model]) for a in accounts)
    if beside := sum(a.under_way for a in accounts):
        reserve = sum(dot(a.way, larger(LONGER, ratios[a.model])) for a in accounts)
        new = dot(costs, larger(LONGER, ratios[model]))
        # until replies show how long they get, few are sent at once
        few = beside > sum(a.charged.total() for a in accounts)
        return not few and cost + perhaps + reserve + new <= most
    if cost + perhaps + dot(costs, ratios[model]) > most:
        raise BudgetReachedError(
            f"budget.max_cost={most} would be exceeded ({cost:.4f} spent so far, and up to "
            f"{perhaps:.4f} for attempts of unknown cost): what was answered is kept, and the "
            "same command with a larger budget continues."
        )
    return True


def dot(one: Both, other: Both) -> float:
    """Input and output together."""
    return one[0] * other[0] + one[1] * other[1]


def larger(one: Both, other: Both) -> Both:
    """The larger of each."""
    return max(one[0], other[0]), max(one[1], other[1])
