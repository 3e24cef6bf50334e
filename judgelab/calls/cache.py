"""Every model call, kept once: a content-addressed SQLite file that parallel jobs can share.

``python -m judgelab.calls.cache check|stats|prune FILE`` looks after such a file.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from judgelab.core.errors import DataError, disk_fault
from judgelab.core.lm import LogProb
from judgelab.store.private import private_file, private_folder

APPLICATION_ID = 0x6A6C6162  # "jlab": marks our files
LAYOUT = 1  # PRAGMA user_version
SCHEMA = {
    "logprob": "(key BLOB PRIMARY KEY, total REAL, tokens INTEGER, sum BLOB) WITHOUT ROWID",
    "chat": "(key BLOB PRIMARY KEY, reply TEXT NOT NULL, sum BLOB) WITHOUT ROWID",
    "lm": "(identity TEXT, verb TEXT, sum BLOB, PRIMARY KEY (identity, verb)) WITHOUT ROWID",
    "claim": "(key BLOB PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID",
}
CHECKED = {
    "logprob": ("key", "total", "tokens"),
    "chat": ("key", "reply"),
    "lm": ("identity", "verb"),
}
"""Table -> the columns that its ``sum`` is over; a claim does not outlive its run."""
PATIENCE = 60.0  # seconds to wait for another job that is opening the file
NO_SUM = b"none"  # of what judgelab never writes: no checksum is as short

_STATES = {table: hashlib.blake2b(digest_size=8, person=table.encode()) for table in CHECKED}
_LENGTH, _NUMBERS = struct.Struct("<q"), struct.Struct("<qdq")

log = logging.getLogger("judgelab")
T = TypeVar("T")


class UnusableFileError(sqlite3.DatabaseError):
    """The file is no call cache that this judgelab can use."""


def row_sum(table: str, key: Any, *values: Any) -> bytes:
    """Eight bytes over a row as it is read, its table and key included."""
    state = _STATES[table].copy()
    try:
        if table == "logprob":
            state.update(_NUMBERS.pack(len(key), *values) + key)
        else:
            for value in (key, *values):
                text = value.encode() if isinstance(value, str) else value
                state.update(_LENGTH.pack(len(text)))
                state.update(text)
    except (struct.error, TypeError, ValueError):
        return NO_SUM
    return state.digest()


def summed(table: str) -> str:
    """The SQL of a row's checksum; text goes into it as the bytes that are in the file."""
    return f"row_sum('{table}', {_columns(table)})"


def _columns(table: str) -> str:
    return ", ".join(
        f"CAST({table}.{name} AS BLOB)" if f"{name} TEXT" in SCHEMA[table] else f"{table}.{name}"
        for name in CHECKED[table]
    )


def connect(path: Path, read_only: bool) -> sqlite3.Connection:
    """A connection to a cache of this layout.

    An absent file is made by whichever of several jobs comes first; a kill in the middle leaves
    it empty.

    Raises:
        sqlite3.Error: it cannot be opened, or cannot be used.
    """
    if not read_only:
        private_folder(path.parent)
        private_file(path)

    def opened() -> sqlite3.Connection:
        db = _connect(path, read_only)
        try:
            _enter(db, read_only)
        except BaseException as cause:
            db.close()  # with whatever lock it holds
            if isinstance(cause, UnicodeDecodeError):  # SQLite's words on a schema that is no text
                raise UnusableFileError("it is damaged") from cause
            raise
        return db

    return when_unlocked(opened)


def when_unlocked(attempt: Callable[[], T]) -> T:
    """SQLite does not wait for the lock that a change of journal needs: so we do."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as cause:
            if "locked" not in str(cause) or time.monotonic() > until:
                raise
            time.sleep(0.05)


def _connect(path: Path, read_only: bool) -> sqlite3.Connection:
    if read_only:
        # A file that no process is writing to can be read where no file can be made beside it.
        beside = path.with_name(f"{path.name}-wal")
        mode = "mode=ro" if beside.exists() and beside.stat().st_size else "immutable=1"
        uri = f"{path.absolute().as_uri()}?{mode}"
        db = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)
    else:
        db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    db.text_factory = bytes  # a damaged text need not be one
    db.create_function("row_sum", -1, row_sum, deterministic=True)
    return db


def tables(db: sqlite3.Connection) -> dict[str, set[str]]:
    """The tables that are there, and the names of their columns."""
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return {
        table: {
            row[1].decode(errors="replace") for row in db.execute(f"PRAGMA table_info({table})")
        }
        for table in SCHEMA
        if table.encode() in there
    }


def _enter(db: sqlite3.Connection, read_only: bool) -> None:
    db.execute("PRAGMA cell_size_check=ON")
    if not read_only:
        # Look and claim in one transaction: jobs of a sweep may all find that it is not there.
        db.execute("BEGIN IMMEDIATE")
    empty = _empty(db)
    if read_only:
        return
    if empty:
        for table, definition in SCHEMA.items():
            db.execute(f"CREATE TABLE {table} {definition}")
        db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        db.execute(f"PRAGMA user_version={LAYOUT}")
    db.execute("COMMIT")
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")


def _empty(db: sqlite3.Connection) -> bool:
    """Whether nothing was ever written to the file; an error where it is no cache of ours."""
    owner, version, pages, objects = (
        db.execute(question).fetchone()[0]
        for question in (
            *(f"PRAGMA {name}" for name in ("application_id", "user_version", "page_count")),
            "SELECT count(*) FROM sqlite_master",
        )
    )
    if not (owner or version or objects) and pages <= 1:  # a run may not have come further
        return True
    if owner != APPLICATION_ID:
        raise UnusableFileError("it was not written by judgelab")
    if version != LAYOUT:
        raise UnusableFileError(f"its layout is {version}, and this judgelab reads {LAYOUT} alone")
    there = tables(db)
    if not all(there.get(table, set()) >= {*names, "sum"} for table, names in CHECKED.items()):
        raise UnusableFileError("it is damaged: tables are missing")
    return False


BATCH = 500  # below SQLite's limit on variables in one statement
UPSERT = {
    table: f"INSERT INTO {table} VALUES ({', '.join('?' * (len(names) + 1))}) "
    f"ON CONFLICT DO UPDATE SET {', '.join(f'{n} = excluded.{n}' for n in (*names, 'sum'))} "
    f"WHERE {table}.sum IS NOT {summed(table)}"
    for table, names in CHECKED.items()
}
"""What is there stays, unless its checksum is wrong."""


class CallCache:
    """Key -> what the LM answered. Keys are made by the caller from all that changes an answer.

    File and folder are created; with ``read_only`` the file must exist, and stays as it is. A row
    whose checksum is wrong is never served: it counts as absent until a new answer replaces it.

    Raises:
        DataError: the file is damaged, absent, of another program or of another layout, here or
            when something is read or written; it is left as it is.
    """

    def __init__(self, path: Path, read_only: bool = False) -> None:
        self.path, self.read_only = path, read_only
        self._damaged: set[tuple[str, object]] = set()
        try:
            self._db = connect(path, read_only)
            self._empty = read_only and not tables(self._db)
        except sqlite3.OperationalError as cause:
            raise DataError(
                disk_fault(cause, path)
                or f"The call cache {path} cannot be opened ({cause}): check that the folder can "
                "be written, or give another file with paths.cache=FILE."
            ) from cause
        except sqlite3.DatabaseError as cause:
            raise DataError(
                f"The call cache {path} cannot be used ({cause}): move it away, or give another "
                "with paths.cache=FILE."
            ) from cause

    @property
    def damaged(self) -> int:
        """How many different rows were met whose checksum is wrong."""
        return len(self._damaged)

    def lms(self) -> list[tuple[str, str]]:
        """(identity, verb) of whose answers are here."""
        rows = self._sound("lm", "")
        return sorted((identity.decode(), verb.decode()) for identity, verb in rows)

    def note_lm(self, identity: str, verb: str) -> None:
        """Remember whose answers are here: keys are hashes and do not tell."""
        self._insert("lm", [(identity, verb)])

    def logprobs(self, keys: Sequence[bytes]) -> dict[bytes, LogProb]:
        """The (total nats, tokens) of those keys that are known."""
        rows = self._sound("logprob", "WHERE key IN", keys)
        return {key: LogProb(float(total), int(tokens)) for key, total, tokens in rows}

    def chats(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """The stored replies (JSON) of those keys that are known."""
        return {key: reply.decode() for key, reply in self._sound("chat", "WHERE key IN", keys)}

    def replies(self) -> Iterator[str]:
        """All stored replies and scored prompts (JSON)."""
        return (reply.decode() for _, reply in self._sound("chat", ""))

    def count(self, table: str) -> int:
        """How many sound rows a table has."""
        return len(self._sound(table, ""))

    def compact(self) -> None:
        """Give the space of removed rows back to the disk."""
        with self._guarded():
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def add_logprobs(self, rows: Mapping[bytes, LogProb], replace: bool = False) -> None:
        """Store sums and counts, all or none; a reply in the place of one that is replaced goes."""
        # SQLite knows no negative zero
        values = ((key, row.total + 0.0, row.tokens) for key, row in rows.items())
        self._insert("logprob", values, list(rows) if replace else [])

    def add_chats(self, rows: Mapping[bytes, str], replace: bool = False) -> None:
        """Store replies (JSON), all or none.

        What is known already stays, and the new one is dropped; with ``replace`` the new one stays.
        """
        self._insert("chat", rows.items(), list(rows) if replace else [])

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _sound(self, table: str, where: str, keys: Sequence[bytes] | None = None) -> list[Any]:
        """The rows whose checksum is right, without it; the others are counted."""
        if self._empty:
            return []
        statement = f"SELECT sum, {', '.join(CHECKED[table])} FROM {table} {where}"
        with self._guarded():
            found = rows_of(self._db, statement, keys)
        good = []
        for given, *values in found:
            if given == row_sum(table, *values):
                good.append(values)
            else:
                self._note_damaged(table, values[0])
        return good

    def _note_damaged(self, table: str, key: object) -> None:
        if not self._damaged:
            log.warning(
                f"The call cache {self.path} holds damaged rows: none is used, and what they "
                f"answered is asked again (python -m judgelab.calls.cache check {self.path})."
            )
        self._damaged.add((table, key))

    def _insert(self, table: str, rows: Iterable[Any], replaced: Sequence[bytes] = ()) -> None:
        with self.transaction() as db:
            db.executemany("DELETE FROM chat WHERE key = ?", [(key,) for key in replaced])
            values = ((*row, row_sum(table, *row)) for row in rows)
            db.executemany(UPSERT[table], values)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of the block is written, or nothing."""
        with self._guarded():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                if self._db.in_transaction:  # some faults end it themselves
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError:  # our mistake, not the file's
            raise
        except sqlite3.OperationalError as cause:
            raise DataError(
                disk_fault(cause, self.path)
                or f"The call cache {self.path} cannot be read or written now ({cause}): check its "
                "disk and the jobs beside this one, or give another file with paths.cache=FILE."
            ) from cause
        except (sqlite3.DatabaseError, UnicodeDecodeError) as cause:  # its messages may be no text
            raise DataError(
                f"The call cache {self.path} is damaged ({cause}): move it away (sqlite3's "
                ".recover may save most answers), or give another file with paths.cache=FILE."
            ) from cause


def rows_of(
    db: sqlite3.Connection, statement: str, keys: Iterable[bytes] | None = None
) -> list[Any]:
    """The rows of a statement; with keys it ends in IN, and they are given to it."""
    if keys is None:
        return list(db.execute(statement))
    found: list[Any] = []
    left = iter(dict.fromkeys(keys))
    while batch := list(islice(left, BATCH)):
        found += db.execute(f"{statement} ({','.join('?' * len(batch))})", batch)
    return found


if __name__ == "__main__":
    from judgelab.calls.cache_care import main

    main()
