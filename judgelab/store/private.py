"""Folders and files that only their owner may read: what runs keep holds texts of others."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from judgelab.core.errors import JudgelabError


def private_folder(path: Path) -> None:
    """Make the folder and those above it; what is there already stays as it is."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)


def private_file(path: Path) -> None:
    """Make an empty file where there is none."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def hold(folder: Path, taken: str) -> int:
    """Hold a folder until the descriptor that is returned is closed, or this process ends.

    Raises:
        JudgelabError: another process holds it; says ``taken``.
    """
    handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as cause:
        os.close(handle)
        raise JudgelabError(taken) from cause
    return handle
