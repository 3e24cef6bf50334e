"""Errors a user can mend. Each is one sentence: what is wrong, where, and what to do."""

from __future__ import annotations

import difflib
import errno
import importlib
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType


class JudgelabError(Exception):
    """A fault the user can mend; run.py prints the sentence and exits with ``exit_code``."""

    exit_code = 1


class ConfigError(JudgelabError):
    """A config key is unknown, missing, of the wrong type, or contradicts another."""


class PartialRunError(JudgelabError):
    """Calls of a run are open: what there is has been written, the same command asks the rest."""

    exit_code = 3

    def __init__(self, sentence: str, run: Path | None = None) -> None:
        super().__init__(sentence)
        self.run = run


class DataError(JudgelabError):
    """An input file or dataset is not what its description says."""


class ChoiceError(ConfigError, DataError):
    """Data can be read in several ways: each is said, with the overrides that choose it."""

    def __init__(self, sentence: str, choices: Mapping[str, Sequence[str]]) -> None:
        lines = (f"  {meaning}: {' '.join(words)}" for meaning, words in choices.items())
        super().__init__("\n".join([sentence, *lines]))
        self.sentence, self.choices = sentence, choices


class CapabilityError(JudgelabError):
    """An evaluation LM cannot do what a mechanism requires."""


class MissingExtraError(JudgelabError):
    """An optional package is not installed."""


def require(module: str, extra: str) -> ModuleType:
    """Import an optional package, or say in one sentence how to install it.

    Raises:
        MissingExtraError: the package is absent; names the extra that holds it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as cause:
        raise MissingExtraError(
            f"The package {module!r} is not installed: pip install -e '.[{extra}]'"
        ) from cause


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """' Did you mean X?', or the options when nothing is close."""
    options = sorted(options)
    close = difflib.get_close_matches(word, options, n=1, cutoff=0.6)
    return f" Did you mean {close[0]!r}?" if close else f" Known are: {', '.join(options)}."


def listed(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def some(names: Sequence[str], most: int = 4) -> str:
    """The first ``most`` names and how many more; one more than that is named, not counted."""
    if len(names) <= most + 1:
        return listed(names)
    return f"{', '.join(names[:most])} and {len(names) - most:,} more"


FAULTS = (
    (
        errno.ENOSPC,
        ("No space left on device", "database or disk is full"),
        "no space is left on the disk",
    ),
    (errno.EDQUOT, ("Disk quota exceeded",), "your disk quota is used up"),
    (errno.EFBIG, ("File too large",), "a file may not grow any further (ulimit -f)"),
)
"""Numbers of the faults, words of libraries that wrap one and drop its number, and ours."""
LITTLE = 1 << 20  # bytes; SQLite calls it an I/O error where its smaller files have no room
ROOM = 8 << 20  # bytes for the answers to some dozens of calls under way and SQLite's log of them


def disk_fault(cause: BaseException, near: Path | None = None) -> str | None:
    """The sentence for a fault that a full disk, quota or file limit is behind; else None.

    Args:
        near: a file beside which SQLite met the fault.
    """
    one: BaseException | None = cause
    while one is not None:
        said = str(one)
        if near is not None and isinstance(one, sqlite3.OperationalError):
            said += FAULTS[0][1][0] if "I/O error" in said and _room(near) < LITTLE else ""
        for number, spoken, reason in FAULTS:
            if getattr(one, "errno", None) == number or any(words in said for words in spoken):
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
    if (left := _room(near)) < ROOM:
        raise DataError(
            f"The disk of {near} has {left / 1e6:.1f} MB left, so nothing more is asked: answers "
            f"need {ROOM / 1e6:.0f} MB to be kept. Make room there, or point paths.cache=FILE "
            "elsewhere; what was answered is kept, and the same command continues."
        )


def _room(near: Path) -> int:
    """Bytes that are left for users."""
    try:
        found = os.statvfs(near.parent)
    except OSError:
        return ROOM
    return found.f_bavail * found.f_frsize
