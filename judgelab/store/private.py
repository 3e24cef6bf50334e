"""Folders and files that only their owner may read, and which of several processes is alive.

What runs keep holds texts of others. Each process keeps a file locked while it lives.
"""

from __future__ import annotations

import fcntl
import os
import re
import uuid
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


def hold(folder: Path, refusal: str) -> int:
    """Hold a folder until the descriptor that is returned is closed, or this process ends.

    Where another process holds it, JudgelabError says ``refusal``.
    """
    handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as cause:
        os.close(handle)
        raise JudgelabError(refusal) from cause
    return handle


NAME = re.compile("[0-9a-f]{32}")


class Owner:
    """A process's mark in a folder, with a ``name`` of its own.

    Its file is locked until it is closed or its process is gone: the system unlocks it however a
    process ends, kill -9 included.
    """

    def __init__(self, folder: Path) -> None:
        private_folder(folder)
        self._folder, self.name = folder, uuid.uuid4().hex
        self._handle = os.open(folder / self.name, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._handle, fcntl.LOCK_EX)

    def lives(self, name: str) -> bool:
        """Whether the owner of that name does; what a dead one left is removed."""
        if name == self.name:
            return True
        if not NAME.fullmatch(name):  # damaged; and no path to be followed
            return False
        try:
            handle = os.open(self._folder / name, os.O_RDWR)
        except FileNotFoundError:
            return False
        alive = is_locked(handle)
        os.close(handle)
        if not alive:
            (self._folder / name).unlink(missing_ok=True)
        return alive

    def close(self) -> None:
        """Be an owner no more."""
        if self._handle >= 0:
            os.close(self._handle)
            (self._folder / self.name).unlink(missing_ok=True)
            self._handle = -1


def is_locked(handle: int) -> bool:
    """Whether somebody keeps this open file locked. Several may look at once."""
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(handle, fcntl.LOCK_UN)
    return False
