"""Claims on the keys of a call cache, so that of jobs beside each other one alone asks."""

from __future__ import annotations

import fcntl
import os
import re
import sqlite3
import uuid
from collections.abc import Sequence

from judgelab.store.cache import CallCache, rows_of
from judgelab.store.private import private_folder

NAME = re.compile("[0-9a-f]{32}")


class Claims:
    """Claims on the keys of a call cache, held by processes of one machine.

    A claim lasts until it is dropped or its owner is gone. Whether an owner lives shows in a file
    that it keeps locked: the system unlocks it however the owner ends, kill -9 included.
    """

    def __init__(self, cache: CallCache) -> None:
        self._cache = cache
        self._folder = cache.path.with_name(f"{cache.path.name}.owners")
        private_folder(self._folder)
        self._owner = uuid.uuid4().hex
        self._lock = os.open(self._folder / self._owner, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def take(self, keys: Sequence[bytes]) -> list[bytes]:
        """Claim what no living process has claimed; returns those of ``keys`` that are ours now."""
        with self._cache.transaction() as db:
            db.executemany(
                "INSERT OR IGNORE INTO claim VALUES (?, ?)", [(key, self._owner) for key in keys]
            )
            owners = _owners(db, keys)
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
        if not NAME.fullmatch(owner):  # damaged; and no path to be followed
            return False
        path = self._folder / owner
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


def _owners(db: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, str]:
    rows = rows_of(db, "SELECT key, CAST(owner AS BLOB) FROM claim WHERE key IN", keys)
    return {key: owner.decode(errors="replace") for key, owner in rows}
