"""Errors a user can mend. Each is one sentence: what is wrong, where, and what to do."""

from __future__ import annotations

import difflib
import importlib
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
    """Import an optional package; MissingExtraError, which names its extra, where it is absent."""
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
