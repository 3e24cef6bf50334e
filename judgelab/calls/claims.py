"""Claims on the keys of a call cache, so that of jobs beside each other one alone asks."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from judgelab.calls.cache import CallCache, rows_of
from judgelab.store.private import Owner


class Claims:
    """Claims on the keys of a call cache, held by processes of one machine.

    A claim lasts until it is dropped or its owner is gone, kill -9 included.
    """

    def __init__(self, cache: CallCache) -> None:
        self._cache = cache
        self._mark = Owner(cache.path.with_name(f"{cache.path.name}.owners"))
        self._owner = self._mark.name

    def take(self, keys: Sequence[bytes]) -> list[bytes]:
        """Claim what no living process has claimed; returns those of ``keys`` that are ours now."""
        with self._cache.transaction() as db:
            db.executemany(
                "INSERT OR IGNORE INTO claim VALUES (?, ?)", [(key, self._owner) for key in keys]
            )
            owners = _owners(db, keys)
            for owner in {o for o in owners.values() if not self._mark.lives(o)}:
                orphans = [key for key, held in owners.items() if held == owner]
                db.executemany(
                    "UPDATE claim SET owner = ? WHERE key = ?", [(self._owner, k) for k in orphans]
                )
                owners |= dict.fromkeys(orphans, self._owner)
        return [key for key in keys if owners.get(key, self._owner) == self._owner]

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
        self._mark.close()


def _owners(db: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, str]:
    rows = rows_of(db, "SELECT key, CAST(owner AS BLOB) FROM claim WHERE key IN", keys)
    return {key: (owner or b"").decode(errors="replace") for key, owner in rows}
