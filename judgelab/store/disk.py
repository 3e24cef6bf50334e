"""Disks that are full, or about to be."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

from judgelab.core.errors import DataError

FAULTS = {
    errno.ENOSPC: "no space is left on the disk",
    errno.EDQUOT: "your disk quota is used up",
    errno.EFBIG: "a file may not grow any further (ulimit -f)",
}
FULL = "database or disk is full"  # SQLite's words for ENOSPC
LITTLE = 1 << 20  # bytes; SQLite calls it an I/O error where its smaller files have no room
ROOM = 8 << 20  # bytes for the answers to some dozens of calls under way and SQLite's log of them


def disk_fault(cause: BaseException, near: Path | None = None) -> str | None:
    """The sentence for a fault that a full disk, quota or file limit is behind; else None.

    ``near`` is a file beside which SQLite met the fault.
    """
    one: BaseException | None = cause
    while one is not None:
        words = str(one)
        cramped = near is not None and "I/O error" in words and _room(near) < LITTLE
        if FULL in words or (cramped and isinstance(one, sqlite3.OperationalError)):
            words = os.strerror(errno.ENOSPC)
        for number, reason in FAULTS.items():
            # libraries that wrap a fault drop its number, and keep its words
            if getattr(one, "errno", None) == number or os.strerror(number) in words:
                file = getattr(one, "filename", None) or near or "A file"
                return (
                    f"{file} cannot be written: {reason}. Make room there, or point "
                    "paths.root=FOLDER and paths.cache=FILE elsewhere; the same command then "
                    "continues, and asks again what could not be kept."
                )
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    return None


def require_room(near: Path) -> None:
    """DataError where the disk of this file may not hold what calls under way bring."""
    if (room := _room(near)) < ROOM:
        raise DataError(
            f"The disk of {near} has {room / 1e6:.1f} MB left, so nothing more is asked: answers "
            f"need {ROOM / 1e6:.0f} MB to be kept. Make room there, or point paths.cache=FILE "
            "elsewhere; what was answered is kept, and the same command continues."
        )


def _room(near: Path) -> int:
    """Bytes that are left for users."""
    try:
        disk = os.statvfs(near.parent)
    except OSError:
        return ROOM
    return disk.f_bavail * disk.f_frsize
