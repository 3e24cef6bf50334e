"""What several meters have spent together: those of one run, or of all jobs of a sweep."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any

import yaml

from judgelab.calls.cache import PATIENCE, when_unlocked
from judgelab.core.errors import DataError
from judgelab.store.private import Owner, private_file, private_folder

Ratios = tuple[float, float]  # of input and of output


@dataclass(frozen=True)
class Account:
    """One meter's sums. Costs are in the currency of its price list.

    Attributes:
        name: of the meter within its budget: run and role.
        owner: the process that keeps it; under way is only what a living one sent.
        sent: attempts, retries included.
        seen: those that ended, but for errors that cost nothing.
        cost: what is known to be spent.
        open_input, open_output: expected cost of attempts whose cost stays unknown.
        under_way, way_input, way_output: attempts under way, and their expected cost.
        ratio_input, ratio_output: the largest ratio of real to expected tokens seen, at least 1.
    """

    name: str
    model: str
    owner: str = ""
    sent: int = 0
    seen: int = 0
    cost: float = 0.0
    open_input: float = 0.0
    open_output: float = 0.0
    under_way: int = 0
    way_input: float = 0.0
    way_output: float = 0.0
    ratio_input: float = 1.0
    ratio_output: float = 1.0

    @property
    def ratios(self) -> Ratios:
        """Of real to expected tokens, input and output."""
        return self.ratio_input, self.ratio_output

    def perhaps(self, ratios: Ratios) -> float:
        """The most that attempts of unknown cost have cost."""
        return self.open_input * ratios[0] + self.open_output * ratios[1]

    def held(self, ratios: Ratios) -> float:
        """The most that attempts under way will cost."""
        return self.way_input * ratios[0] + self.way_output * ratios[1]

    def left(self) -> Account:
        """The same after its owner is gone: what was under way may have cost something."""
        return replace(
            self,
            open_input=self.open_input + self.way_input,
            open_output=self.open_output + self.way_output,
            under_way=0,
            way_input=0.0,
            way_output=0.0,
        )


COLUMNS = [field.name for field in fields(Account)]


def ratios_by_model(accounts: Sequence[Account]) -> dict[str, Ratios]:
    """The largest ratios of each model, whichever meter has seen them."""
    found: dict[str, Ratios] = {}
    for account in accounts:
        known = found.get(account.model, (1.0, 1.0))
        found[account.model] = (
            max(known[0], account.ratio_input),
            max(known[1], account.ratio_output),
        )
    return found


class Ledger:
    """Accounts by name, of this process. Looked at and changed in turns, one meter at a time."""

    owner = ""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # each LM has a thread of its own
        self._accounts: dict[str, Account] = {}

    @contextmanager
    def turn(self) -> Iterator[dict[str, Account]]:
        """All accounts by name; those set in the block are kept when it ends well."""
        with self._lock:
            found = dict(self._accounts)
            yield found
            self._accounts = found

    def close(self) -> None:
        """Give it back."""


class SharedLedger(Ledger):
    """The same in an SQLite file that processes of one machine share.

    Raises:
        DataError: the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        private_folder(path.parent)
        private_file(path)
        self._mark = Owner(path.with_name(f"{path.name}.owners"))
        self.owner = self._mark.name
        with self._sound():
            self._db = sqlite3.connect(
                path, PATIENCE, isolation_level=None, check_same_thread=False
            )
            when_unlocked(lambda: self._db.execute("PRAGMA journal_mode=WAL"))
            self._db.execute("PRAGMA synchronous=NORMAL")
            columns = ", ".join(f"{c}{' PRIMARY KEY' if c == 'name' else ''}" for c in COLUMNS)
            self._db.execute(f"CREATE TABLE IF NOT EXISTS account ({columns})")

    @contextmanager
    def turn(self) -> Iterator[dict[str, Account]]:
        """All accounts by name; those set in the block are kept when it ends well."""
        with self._lock, self._sound():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                rows = self._db.execute(f"SELECT {', '.join(COLUMNS)} FROM account")
                found = {row[0]: self._known(Account(*row)) for row in rows}
                before = dict(found)
                yield found
                changed = [a for name, a in found.items() if before.get(name) is not a]
                marks = ", ".join("?" * len(COLUMNS))
                self._db.executemany(
                    f"INSERT OR REPLACE INTO account VALUES ({marks})", map(astuple, changed)
                )
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the file; what this process had under way counts as of unknown cost."""
        with self._lock:
            self._db.close()
            self._mark.close()

    def _known(self, account: Account) -> Account:
        """As it is to be counted now."""
        alive = not account.under_way or self._mark.lives(account.owner)
        return account if alive else account.left()

    @contextmanager
    def _sound(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as cause:
            raise DataError(
                f"The account of the sweep's budget {self.path} cannot be used ({cause}): move it "
                "away. Each job then brings what it has spent back into a new one as it starts."
            ) from cause


ASIDE = re.compile(
    r"[+~]*(budget|hydra|tracker|force|retry|on_error|scale|debug|dry_run|paths|trusted_packages)\b[./@=]?"
)
"""Overrides that say how a sweep is run and not what it is."""


def budget_file(cache: Path, sweep: Path) -> Path:
    """The account of a sweep, beside the call cache.

    The same command continues the same account: sweeps are told apart by the overrides that Hydra
    notes in their folder, but for those that change nothing that is asked. Where it noted none,
    by the folder.
    """
    asked: Any = str(sweep.absolute())
    try:
        noted = yaml.safe_load((sweep / "multirun.yaml").read_text(encoding="utf-8"))["hydra"]
        words = [word for word in noted["overrides"]["task"] if not ASIDE.match(word)]
        asked = [sorted(words), (noted.get("sweeper") or {}).get("params")]
    except (OSError, yaml.YAMLError, LookupError, TypeError, AttributeError):
        pass
    name = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]
    return cache.with_name(f"{cache.name}.budgets") / f"{name}.sqlite"
