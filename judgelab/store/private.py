"""Folders and files that only their owner may read: what runs keep holds texts of others."""

from __future__ import annotations

import os
from pathlib import Path


def private_folder(path: Path) -> None:
    """Make the folder and those above it; what is there already stays as it is."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)


def private_file(path: Path) -> None:
    """Make an empty file where there is none."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
