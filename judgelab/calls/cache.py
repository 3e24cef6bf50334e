"""Every model call, kept once: a content-addressed SQLite file that parallel jobs can share.

``python -m judgelab.calls.cache FILE`` says what is in such a file, and whether it is sound.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from judgelab.core.errors import DataError, JudgelabError, disk_fault
from judgelab.core.lm import LogProb
from judgelab.store.private import private_file, private_folder

APPLICATION_ID = 0x6A6C6162  # "jlab": marks our files
LAYOUT = 2  # PRAGMA user_version
COLUMNS = {"logprob": ("key", "total", "tokens"), "chat": ("key", "reply"), "lm": ("key",)}
"""Table -> what a row's ``sum`` is over; ``lm`` names whose answers these are: keys are hashes."""
SCHEMA = {
    "logprob": "(key BLOB PRIMARY KEY, total REAL, tokens INTEGER, sum BLOB) WITHOUT ROWID",
    "chat": "(key BLOB PRIMARY KEY, reply BLOB, sum BLOB) WITHOUT ROWID",
    "lm": "(key BLOB PRIMARY KEY, sum BLOB) WITHOUT ROWID",
    "claim": "(key BLOB PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID",
}
PATIENCE = 60.0  # seconds to wait for another job that is opening the file
BATCH = 500  # keys in one statement

log = logging.getLogger("judgelab")
T = TypeVar("T")


class UnusableFileError(sqlite3.DatabaseError):
    """The file is no call cache that this judgelab can use."""


def row_sum(table: str, *values: Any) -> bytes:
    """Eight bytes over a row, the name of its table included."""
    return hashlib.blake2b(repr((table, *values)).encode(), digest_size=8).digest()


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


def connect(path: Path, read_only: bool) -> sqlite3.Connection:
    """A connection to a cache of this layout.

    An absent file is made by whichever of several jobs comes first; a kill in the middle leaves
    it empty.

    Raises:
        sqlite3.Error: it cannot be opened, or cannot be used.
    """
    if read_only:
        # A file that no process is writing to can be read where no file can be made beside it.
        beside = path.with_name(f"{path.name}-wal")
        mode = "mode=ro" if beside.exists() and beside.stat().st_size else "immutable=1"
        place = f"{path.absolute().as_uri()}?{mode}"
    else:
        private_folder(path.parent)
        private_file(path)
        place = path.absolute().as_uri()

    def opened() -> sqlite3.Connection:
        db = sqlite3.connect(
            place, PATIENCE, isolation_level=None, check_same_thread=False, uri=True
        )
        db.text_factory = bytes  # a damaged text need not be one
        try:
            _enter(db, read_only)
        except BaseException as cause:
            db.close()  # with whatever lock it holds
            if isinstance(cause, UnicodeDecodeError):  # SQLite's words on a schema that is no text
                raise UnusableFileError("it is damaged") from cause
            raise
        return db

    return when_unlocked(opened)


def _enter(db: sqlite3.Connection, read_only: bool) -> None:
    db.execute("PRAGMA cell_size_check=ON")
    if not read_only:
        # Look and claim in one transaction: jobs of a sweep may all find that it is not there.
        db.execute("BEGIN IMMEDIATE")
    empty = _empty(db)
    if empty:
        for table, definition in SCHEMA.items():
            db.execute(f"CREATE {'TEMP ' * read_only}TABLE {table} {definition}")
    if read_only:
        return
    if empty:
        db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        db.execute(f"PRAGMA user_version={LAYOUT}")
    db.execute("COMMIT")
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")


def _empty(db: sqlite3.Connection) -> bool:
    """Whether nothing was ever written to the file; an error where it is no cache of ours."""
    names = ("application_id", "user_version", "page_count")
    owner, version, pages = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not (owner or version or tables) and pages <= 1:  # a run may not have come further
        return True
    if owner != APPLICATION_ID:
        raise UnusableFileError("it was not written by judgelab")
    if version != LAYOUT:
        raise UnusableFileError(f"its layout is {version}, and this judgelab reads {LAYOUT} alone")
    return False


class CallCache:
    """Key -> what the LM answered. Keys are made by the caller from all that changes an answer.

    File and folder are created; with ``read_only`` the file must exist, and stays as it is. A row
    whose checksum is wrong is never served: it counts as absent until a new answer replaces it.

    Raises:
        DataError: the file is damaged, absent, of another program or of another layout, here or
            when something is read or written; it is left as it is.
    """

    def __init__(self, path: Path, read_only: bool = False) -> None:
        self.path = path
        self._damaged: set[tuple[str, object]] = set()
        try:
            self._db = connect(path, read_only)
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

    def lms(self) -> list[str]:
        """Whose answers are here, and what they were asked for."""
        return sorted(key.decode() for (key,) in self.sound("lm"))

    def note_lm(self, identity: str, verb: str) -> None:
        """Remember whose answers are here."""
        self._insert("lm", [(f"{verb} of {identity}".encode(),)])

    def logprobs(self, keys: Sequence[bytes]) -> dict[bytes, LogProb]:
        """The (total nats, tokens) of those keys that are known."""
        return {key: LogProb(nats, tokens) for key, nats, tokens in self.sound("logprob", keys)}

    def chats(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """The stored replies (JSON) of those keys that are known."""
        return {key: reply.decode() for key, reply in self.sound("chat", keys)}

    def add_logprobs(self, rows: Mapping[bytes, LogProb], replaced: Collection[bytes] = ()) -> None:
        """Store sums and counts, all or none; replies in the place of ``replaced`` ones go."""
        # SQLite knows no negative zero
        values = [(key, float(row.total) + 0.0, int(row.tokens)) for key, row in rows.items()]
        self._insert("logprob", values, replaced)

    def add_chats(self, rows: Mapping[bytes, str], replaced: Collection[bytes] = ()) -> None:
        """Store replies (JSON), all or none; what is known stays, unless it is ``replaced``."""
        self._insert("chat", [(key, reply.encode()) for key, reply in rows.items()], replaced)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def sound(self, table: str, keys: Iterable[bytes] | None = None) -> list[Any]:
        """The rows (of these keys) whose checksum is right, without it; the others are counted."""
        statement = f"SELECT sum, {', '.join(COLUMNS[table])} FROM {table}"
        with self._guarded():
            rows = rows_of(self._db, statement, keys)
        good = []
        for given, *values in rows:
            if given == row_sum(table, *values):
                good.append(values)
                continue
            if not self._damaged:
                log.warning(
                    f"The call cache {self.path} holds damaged rows: none is used, and what they "
                    f"answered is asked again (python -m judgelab.calls.cache {self.path})."
                )
            self._damaged.add((table, values[0]))
        return good

    def _insert(self, table: str, rows: Sequence[Any], replaced: Collection[bytes] = ()) -> None:
        """What is there stays, unless its checksum is wrong or it is to be replaced."""
        keys = [row[0] for row in rows]
        marks = ", ".join("?" * (len(COLUMNS[table]) + 1))
        with self.transaction() as db:
            gone = [(key,) for key in keys if key in replaced]
            db.executemany("DELETE FROM chat WHERE key = ?", gone)
            known = {row[0] for row in self.sound(table, keys)}
            values = [(*row, row_sum(table, *row)) for row in rows if row[0] not in known]
            db.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", values)

    def faults(self) -> list[str]:
        """What SQLite finds wrong with the pages of the file."""
        with self._guarded():
            lines = [line for (line,) in self._db.execute("PRAGMA integrity_check")]
        return [] if lines == [b"ok"] else [line.decode(errors="replace") for line in lines]

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
    """The rows of a statement, of these keys alone where they are given."""
    if keys is None:
        return list(db.execute(statement))
    rows: list[Any] = []
    left = iter(dict.fromkeys(keys))
    while batch := list(islice(left, BATCH)):
        rows += db.execute(f"{statement} WHERE key IN ({','.join('?' * len(batch))})", batch)
    return rows


def report(file: Path) -> bool:
    """Print whose answers a cache holds, how many, and what is damaged; whether nothing is.

    Raises:
        DataError: it is no cache of this judgelab, or cannot be read to its end.
    """
    if not file.is_file():
        raise DataError(f"There is no call cache at {file}: give the file that paths.cache names.")
    cache = CallCache(file, read_only=True)
    print(f"{file}: {file.stat().st_size / 1e6:,.1f} MB", *cache.lms(), sep="\n  ")
    print(f"log-probabilities: {len(cache.sound('logprob')):,}")
    counts, reasons = Counter[str](), Counter[str]()
    for _, stored in cache.sound("chat"):
        values = json.loads(stored)
        counts["scored prompts" if "tokens" in values else "replies"] += 1
        if "tokens" not in values and values.get("text") is None:
            reasons[str(values.get("reason") or "no reason given")] += 1
    for kind in ("scored prompts", "replies"):
        print(f"{kind}: {counts[kind]:,}")
    print(f"replies without a result: {reasons.total():,}")
    for reason, number in reasons.most_common():
        print(f"  {number:,} {reason}")
    pages = cache.faults()
    print(*(f"pages: {line}" for line in pages[:5]), sep="\n", end="\n" if pages else "")
    whole = not pages and not cache.damaged
    print("sound" if whole else f"damaged: {cache.damaged:,} rows, never used and asked again")
    cache.close()
    return whole


def main() -> None:
    """The command; exit code 1 where the file is damaged or cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m judgelab.calls.cache",
        description="What is in a call cache, and whether it is sound (exit code 1: no).",
    )
    parser.add_argument("file", type=Path, help="paths.cache of the runs")
    try:
        sys.exit(0 if report(parser.parse_args().file) else 1)
    except JudgelabError as cause:
        sys.exit(f"error: {cause}")


if __name__ == "__main__":
    main()
