"""A disk that takes no more is the disk's fault, whichever library meets it first."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

REASONS = {
    errno.ENOSPC: "no space is left on the disk",
    errno.EDQUOT: "your disk quota is used up",
    errno.EFBIG: "a file may not grow any further (ulimit -f)",
}
SPOKEN = {
    "No space left on device": errno.ENOSPC,
    "Disk quota exceeded": errno.EDQUOT,
    "File too large": errno.EFBIG,
    "database or disk is full": errno.ENOSPC,
}
"""Words of libraries that wrap the fault and drop its number."""
LITTLE = 1 << 20  # bytes; SQLite calls it an I/O error where its smaller files have no room


def disk_fault(cause: BaseException, near: Path | None = None) -> str | None:
    """The sentence for a fault that a full disk, quota or file limit is behind; else None.

    Args:
        near: a file beside which SQLite met the fault.
    """
    for one in _chain(cause):
        number = one.errno if isinstance(one, OSError) else None
        if number not in REASONS:
            number = next((n for words, n in SPOKEN.items() if words in str(one)), None)
        if number is None and near is not None and isinstance(one, sqlite3.OperationalError):
            number = errno.ENOSPC if "I/O error" in str(one) and _room(near) < LITTLE else None
        if number is not None:
            file = getattr(one, "filename", None) or near
            return (
                f"{file or 'A file'} cannot be written: {REASONS[number]}. Make room there, or "
                "point paths.root=FOLDER and paths.cache=FILE elsewhere; what was answered is "
                "kept, and the same command continues."
            )
    return None


def _chain(cause: BaseException | None) -> Iterator[BaseException]:
    while cause is not None:
        yield cause
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def _room(near: Path) -> int:
    """Bytes that are left for users."""
    try:
        found = os.statvfs(near.parent)
    except OSError:
        return LITTLE
    return found.f_bavail * found.f_frsize
