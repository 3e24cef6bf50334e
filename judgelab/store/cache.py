"""Every model call, kept once: a content-addressed SQLite file that parallel jobs can share.

Jobs beside each other claim what they are asking, so that none pays for it twice.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from judgelab.core.errors import DataError
from judgelab.core.lm import LogProb

APPLICATION_ID = 0x6A6C6162  # "jlab": marks our files
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS logprob "
    "(key BLOB PRIMARY KEY, total REAL, tokens INTEGER) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS chat (key BLOB PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS claim (key BLOB PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS lm (identity TEXT, verb TEXT, PRIMARY KEY (identity, verb))",
)
PATIENCE = 60.0  # seconds to wait for another job that is opening the file
BATCH = 500  # below SQLite's limit on variables in one statement


class CallCache:
    """Key -> what the LM answered. Keys are made by the caller from all that changes an answer.

    File and folder are created; with ``read_only`` the file must exist, and stays as it is.

    Raises:
        DataError: the file is damaged, absent or of another program, here or when something is
            read or written; it is left as it is.
    """

    def __init__(self, path: Path, read_only: bool = False) -> None:
        self.path, self.read_only = path, read_only
        if not read_only:
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = self._open_when_free()
        except sqlite3.OperationalError as cause:
            raise DataError(
                f"The call cache {path} cannot be opened ({cause}): check that the folder can be "
                "written, or give another file with paths.cache=FILE."
            ) from cause
        except sqlite3.DatabaseError as cause:
            raise DataError(
                f"The call cache {path} cannot be used ({cause}): move it away, or give another "
                "with paths.cache=FILE."
            ) from cause

    def _open_when_free(self) -> sqlite3.Connection:
        """SQLite does not wait for the lock that a change of journal needs: so we do."""
        until = time.monotonic() + PATIENCE
        while True:
            db = self._connect()
            try:
                self._claim(db)
                return db
            except sqlite3.Error as cause:
                db.close()  # with whatever lock it holds
                busy = isinstance(cause, sqlite3.OperationalError) and "locked" in str(cause)
                if not busy or time.monotonic() > until:
                    raise
                time.sleep(0.05)

    def _claim(self, db: sqlite3.Connection) -> None:
        if not self.read_only:
            # Look and claim in one transaction: jobs of a sweep may all find that it is not there.
            db.execute("BEGIN IMMEDIATE")
        owner = db.execute("PRAGMA application_id").fetchone()[0]
        tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if owner != APPLICATION_ID and (tables or self.read_only):
            raise sqlite3.DatabaseError("it was not written by judgelab")
        if not self.read_only:
            db.execute(f"PRAGMA application_id={APPLICATION_ID}")
            for statement in SCHEMA:
                db.execute(statement)
            db.execute("COMMIT")
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")

    def _connect(self) -> sqlite3.Connection:
        if not self.read_only:
            return sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
        # A file that no process is writing to can be read where no file can be made beside it.
        log = self.path.with_name(f"{self.path.name}-wal")
        mode = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
        uri = f"{self.path.absolute().as_uri()}?{mode}"
        return sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)

    def lms(self) -> list[tuple[str, str]]:
        """(identity, verb) of whose answers are here."""
        with self._sound():
            known = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'lm'").fetchone()
            return sorted(self._db.execute("SELECT identity, verb FROM lm")) if known else []

    def note_lm(self, identity: str, verb: str) -> None:
        """Remember whose answers are here: keys are hashes and do not tell."""
        self._insert("INSERT OR IGNORE INTO lm VALUES (?, ?)", [(identity, verb)])

    def logprobs(self, keys: Sequence[bytes]) -> dict[bytes, LogProb]:
        """The (total nats, tokens) of those keys that are known."""
        rows = self._select("SELECT key, total, tokens FROM logprob WHERE key IN", keys)
        return {key: LogProb(float(total), int(tokens)) for key, total, tokens in rows}

    def chats(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """The stored replies (JSON) of those keys that are known."""
        return dict(self._select("SELECT key, reply FROM chat WHERE key IN", keys))

    def add_logprobs(self, rows: Mapping[bytes, LogProb]) -> None:
        """Store sums and counts, all or none."""
        self._insert(
            "INSERT OR IGNORE INTO logprob VALUES (?, ?, ?)",
            ((key, row.total, row.tokens) for key, row in rows.items()),
        )

    def add_chats(self, rows: Mapping[bytes, str]) -> None:
        """Store replies (JSON), all or none."""
        self._insert("INSERT OR IGNORE INTO chat VALUES (?, ?)", rows.items())

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _select(self, statement: str, keys: Sequence[bytes]) -> list[Any]:
        with self._sound():
            return _rows(self._db, statement, keys)

    def _insert(self, statement: str, rows: Iterable[Any]) -> None:
        with self.transaction() as db:
            db.executemany(statement, rows)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of the block is written, or nothing."""
        with self._sound():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                if self._db.in_transaction:  # some faults end it themselves
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def _sound(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError:  # our mistake, not the file's
            raise
        except sqlite3.OperationalError as cause:
            raise DataError(
                f"The call cache {self.path} cannot be read or written now ({cause}): check its "
                "disk and the jobs beside this one, or give another file with paths.cache=FILE."
            ) from cause
        except sqlite3.DatabaseError as cause:
            raise DataError(
                f"The call cache {self.path} is damaged ({cause}): move it away (sqlite3's "
                ".recover may save most answers), or give another file with paths.cache=FILE."
            ) from cause


def _rows(db: sqlite3.Connection, statement: str, keys: Iterable[bytes]) -> list[Any]:
    found: list[Any] = []
    left = iter(dict.fromkeys(keys))
    while batch := list(islice(left, BATCH)):
        found += db.execute(f"{statement} ({','.join('?' * len(batch))})", batch)
    return found


class Claims:
    """Claims on the keys of a call cache, held by processes of one machine.

    A claim lasts until it is dropped or its owner is gone. Whether an owner lives shows in a file
    that it keeps locked: the system unlocks it however the owner ends, kill -9 included.
    """

    def __init__(self, cache: CallCache) -> None:
        self._cache = cache
        self._folder = cache.path.with_name(f"{cache.path.name}.owners")
        self._folder.mkdir(parents=True, exist_ok=True)
        self._owner = uuid.uuid4().hex
        self._lock = os.open(self._folder / self._owner, os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def take(self, keys: Sequence[bytes]) -> list[bytes]:
        """Claim what no living process has claimed; returns those of ``keys`` that are ours now."""
        with self._cache.transaction() as db:
            db.executemany(
                "INSERT OR IGNORE INTO claim VALUES (?, ?)", [(key, self._owner) for key in keys]
            )
            owners = dict(_rows(db, "SELECT * FROM claim WHERE key IN", keys))
            for owner in {o for o in owners.values() if o != self._owner and not self._lives(o)}:
                orphans = [key for key, held in owners.items() if held == owner]
                db.executemany(
                    "UPDATE claim SET owner = ? WHERE key = ?", [(self._owner, k) for k in orphans]
                )
                owners |= dict.fromkeys(orphans, self._owner)
        return [key for key in keys if owners[key] == self._owner]

    def drop(self, keys: Sequence[bytes]) -> None:
        """Give up our claims on these keys."""
        with self._cache.transaction() as db:
            db.executemany(
                "DELETE FROM claim WHERE key = ? AND owner = ?", [(k, self._owner) for k in keys]
            )

    def close(self) -> None:
        """Give up all claims."""
        with self._cache.transaction() as db:
            db.execute("DELETE FROM claim WHERE owner = ?", (self._owner,))
        os.close(self._lock)
        (self._folder / self._owner).unlink(missing_ok=True)

    def _lives(self, owner: str) -> bool:
        path = Path(self._folder / owner)
        try:
            handle = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(handle)
        path.unlink(missing_ok=True)
        return False
