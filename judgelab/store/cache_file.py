"""The file of a call cache: its tables, its layout, and the checksum that every row carries."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import struct
import time
from pathlib import Path
from typing import Any

from judgelab.store.private import private_file, private_folder

APPLICATION_ID = 0x6A6C6162  # "jlab": marks our files
LAYOUT = 1  # PRAGMA user_version; 0 is what was written before rows had checksums
SCHEMA = {
    "logprob": "(key BLOB PRIMARY KEY, total REAL, tokens INTEGER, sum BLOB) WITHOUT ROWID",
    "chat": "(key BLOB PRIMARY KEY, reply TEXT NOT NULL, sum BLOB) WITHOUT ROWID",
    "earlier": "(key BLOB, at TEXT, reply TEXT NOT NULL, sum BLOB, PRIMARY KEY (key, at)) "
    "WITHOUT ROWID",
    "lm": "(identity TEXT, verb TEXT, sum BLOB, PRIMARY KEY (identity, verb))",
    "claim": "(key BLOB PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID",
}
CHECKED = {
    "logprob": ("key", "total", "tokens"),
    "chat": ("key", "reply"),
    "earlier": ("key", "at", "reply"),
    "lm": ("identity", "verb"),
}
"""Table -> the columns that its ``sum`` is over; a claim does not outlive its run."""
PATIENCE = 60.0  # seconds to wait for another job that is opening the file
NO_SUM = b"none"  # of what judgelab never writes: no checksum is as short

_STATES = {table: hashlib.blake2b(digest_size=8, person=table.encode()) for table in CHECKED}
_LENGTH, _NUMBERS = struct.Struct("<q"), struct.Struct("<qdq")

log = logging.getLogger("judgelab")


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


def readable(table: str, key: Any, *values: Any) -> bool:
    """Whether judgelab may have written this row, as far as one without a checksum can tell."""
    if row_sum(table, key, *values) == NO_SUM:
        return False
    try:
        return table != "chat" or isinstance(json.loads(values[0]), dict)
    except (ValueError, RecursionError):
        return False


def summed(table: str) -> str:
    """The SQL of a row's checksum; text goes into it as the bytes that are in the file."""
    return f"row_sum('{table}', {_columns(table)})"


def _columns(table: str) -> str:
    return ", ".join(
        f"CAST({table}.{name} AS BLOB)" if f"{name} TEXT" in SCHEMA[table] else f"{table}.{name}"
        for name in CHECKED[table]
    )


def connect(path: Path, read_only: bool) -> sqlite3.Connection:
    """A connection to a cache of this layout or, where it is only read, of an older one.

    An absent file is made, and an older one brought to this layout, by whichever of several jobs
    comes first; a kill in the middle leaves it as it was.

    Raises:
        sqlite3.Error: it cannot be opened, or cannot be used.
    """
    if not read_only:
        private_folder(path.parent)
        private_file(path)
    until = time.monotonic() + PATIENCE
    while True:  # SQLite does not wait for the lock that a change of journal needs: so we do
        db = _connect(path, read_only)
        try:
            _enter(db, path, read_only)
            return db
        except sqlite3.Error as cause:
            db.close()  # with whatever lock it holds
            busy = isinstance(cause, sqlite3.OperationalError) and "locked" in str(cause)
            if not busy or time.monotonic() > until:
                raise
            time.sleep(0.05)
        except UnicodeDecodeError as cause:  # in SQLite's message on a schema that is no text
            db.close()
            raise UnusableFileError("it is damaged") from cause


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
    db.create_function("readable", -1, readable, deterministic=True)
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


def _enter(db: sqlite3.Connection, path: Path, read_only: bool) -> None:
    db.execute("PRAGMA cell_size_check=ON")
    if not read_only:
        # Look and claim in one transaction: jobs of a sweep may all find that it is not there.
        db.execute("BEGIN IMMEDIATE")
    older = _older(db, read_only)
    if read_only:
        return
    dropped = _bring_up(db) if older else 0
    db.execute("COMMIT")
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    if dropped:
        log.warning(
            f"{dropped} answers in the call cache {path} could not be read: they are asked again."
        )


def _older(db: sqlite3.Connection, read_only: bool) -> bool:
    """Whether the file is to be brought to this layout (a new one too)."""
    owner, version, pages, objects = (
        db.execute(question).fetchone()[0]
        for question in (
            *(f"PRAGMA {name}" for name in ("application_id", "user_version", "page_count")),
            "SELECT count(*) FROM sqlite_master",
        )
    )
    if owner != APPLICATION_ID and (objects or pages > 1):  # empty: of a run that did not come far
        raise UnusableFileError("it was not written by judgelab")
    if version not in range(LAYOUT + 1):
        raise UnusableFileError(
            f"a newer judgelab wrote it: its layout is {version}, this one knows {LAYOUT}"
        )
    found = tables(db)
    if all(found.get(table, set()) >= {*names, "sum"} for table, names in CHECKED.items()):
        return bool(version < LAYOUT)  # by a header's bit alone it is not older: its checksums hold
    if version == LAYOUT or (pages > 1 and not found):
        raise UnusableFileError("it is damaged: tables are missing")
    return True


def _bring_up(db: sqlite3.Connection) -> int:
    """Make what is missing, give all rows a checksum; returns how many were unreadable, and went.

    Within the caller's transaction: all of it happens, or nothing.
    """
    dropped = 0
    found = tables(db)
    if found and db.execute("PRAGMA integrity_check(1)").fetchone()[0] != b"ok":
        raise UnusableFileError("it is damaged")
    for table, definition in SCHEMA.items():
        if table not in found:
            db.execute(f"CREATE TABLE {table} {definition}")
        elif table in CHECKED and "sum" not in found[table]:
            db.execute(f"ALTER TABLE {table} ADD COLUMN sum BLOB")
            unreadable = f"DELETE FROM {table} WHERE NOT readable('{table}', {_columns(table)})"
            dropped += db.execute(unreadable).rowcount
            db.execute(f"UPDATE {table} SET sum = {summed(table)}")
    db.execute(f"PRAGMA application_id={APPLICATION_ID}")
    db.execute(f"PRAGMA user_version={LAYOUT}")
    return dropped
