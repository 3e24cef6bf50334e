"""Every model call, kept once: a content-addressed SQLite file that parallel jobs can share."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from judgelab.core.errors import DataError
from judgelab.store.disk import disk_fault
from judgelab.store.private import private_file, private_folder

APPLICATION_ID = 0x6A6C6162  # "jlab": marks our files
LAYOUT = 2  # PRAGMA user_version
SCHEMA = {
    "answer": "(key BLOB PRIMARY KEY, answer BLOB, sum BLOB) WITHOUT ROWID",
    "claim": "(key BLOB PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID",
}
PATIENCE = 60.0  # seconds to wait for another job that is opening the file
BATCH = 500  # keys in one statement

log = logging.getLogger("judgelab")


class UnusableFileError(sqlite3.DatabaseError):
    """The file is no call cache that this judgelab can use."""


def row_sum(key: Any, answer: Any) -> bytes:
    """Eight bytes over a row as it is read."""
    return hashlib.blake2b(repr((key, answer)).encode(), digest_size=8).digest()


def connect(path: Path, begin: Callable[[sqlite3.Connection], object]) -> sqlite3.Connection:
    """A connection to a file that processes of one machine share; an absent one is made.

    ``begin`` looks at it and makes what it lacks, in one transaction: several jobs may meet an
    absent one, and a kill in the middle leaves it empty. sqlite3.Error: it cannot be used.
    """
    private_folder(path.parent)
    private_file(path)
    until = time.monotonic() + PATIENCE
    while True:
        db = sqlite3.connect(path, PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            with immediate(db):
                begin(db)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            return db
        except BaseException as cause:
            db.close()  # with whatever lock it holds
            if isinstance(cause, UnicodeDecodeError):  # SQLite's words on a schema that is no text
                raise UnusableFileError("it is damaged") from cause
            # SQLite does not wait for the lock that a change of journal needs: so we do
            locked = isinstance(cause, sqlite3.OperationalError) and "locked" in str(cause)
            if not locked or time.monotonic() > until:
                raise
            time.sleep(0.05)


def _begin(db: sqlite3.Connection) -> None:
    """Make the tables where nothing was ever written; an error where it is no cache of ours."""
    db.text_factory = bytes  # a damaged text need not be one
    db.execute("PRAGMA cell_size_check=ON")
    names = ("application_id", "user_version", "page_count")
    owner, version, pages = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not (owner or version or tables) and pages <= 1:  # a run may not have come further
        for table, definition in SCHEMA.items():
            db.execute(f"CREATE TABLE {table} {definition}")
        db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        db.execute(f"PRAGMA user_version={LAYOUT}")
    elif owner != APPLICATION_ID:
        raise UnusableFileError("it was not written by judgelab")
    elif version != LAYOUT:
        raise UnusableFileError(f"its layout is {version}, and this judgelab reads {LAYOUT} alone")


class CallCache:
    """Key -> what the LM answered. Keys are made by the caller from all that changes an answer.

    File and folder are created. A row whose checksum is wrong is never served: it counts as absent
    until a new answer replaces it.

    Raises:
        DataError: the file is damaged, of another program or of another layout, here or when
            something is read or written; it is left as it is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged = set[object]()  # keys of rows that were met whose checksum is wrong
        with self._guard():
            self._db = connect(path, _begin)

    def get(self, keys: Iterable[bytes]) -> dict[bytes, str]:
        """The answers (JSON) to those keys that are known."""
        with self._guard():
            rows = rows_of(self._db, "SELECT key, answer, sum FROM answer", keys)
        sound = {key: answer for key, answer, checksum in rows if checksum == row_sum(key, answer)}
        damaged = {key for key, *_ in rows if key not in sound}
        if damaged and not self.damaged:
            log.warning(
                f"The call cache {self.path} holds damaged rows: none is used, and what they "
                "answered is asked again."
            )
        self.damaged |= damaged
        return {key: answer.decode() for key, answer in sound.items()}

    def add(self, answers: Mapping[bytes, str], replaced: Collection[bytes] = ()) -> None:
        """Store answers (JSON), all or none.

        What is known stays, unless its checksum is wrong or it is to be ``replaced``.
        """
        with self.transaction() as db:
            before = self.get(answers)
            new = [
                (key, answer.encode(), row_sum(key, answer.encode()))
                for key, answer in answers.items()
                if key not in before or key in replaced
            ]
            db.executemany("INSERT OR REPLACE INTO answer VALUES (?, ?, ?)", new)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of the block is written, or nothing."""
        with self._guard(), immediate(self._db):
            yield self._db

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError:  # our mistake, not the file's
            raise
        except sqlite3.OperationalError as cause:
            raise DataError(
                disk_fault(cause, self.path)
                or f"The call cache {self.path} cannot be opened, read or written now ({cause}): "
                "check its folder, its disk and the jobs beside this one, or give another file "
                "with paths.cache=FILE."
            ) from cause
        except (sqlite3.DatabaseError, UnicodeDecodeError) as cause:  # its messages may be no text
            raise DataError(
                f"The call cache {self.path} cannot be used ({cause}): move it away (of a damaged "
                "one, sqlite3's .recover may save most answers), or give another file with "
                "paths.cache=FILE."
            ) from cause


@contextmanager
def immediate(db: sqlite3.Connection) -> Iterator[None]:
    """All of the block is written, or nothing; others who write wait."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # some faults end it themselves
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def rows_of(db: sqlite3.Connection, statement: str, keys: Iterable[bytes]) -> list[Any]:
    """The rows of these keys."""
    rows: list[Any] = []
    rest = iter(dict.fromkeys(keys))
    while batch := list(islice(rest, BATCH)):
        rows += db.execute(f"{statement} WHERE key IN ({','.join('?' * len(batch))})", batch)
    return rows
