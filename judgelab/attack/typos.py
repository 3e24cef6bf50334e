"""Random typing errors (DHP paper, Table 2)."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from judgelab.attack.edits import edits
from judgelab.attack.protocol import RuleAttack
from judgelab.core.bounds import Count
from judgelab.core.errors import MissingExtraError
from judgelab.core.step import Place

Engine = Literal["own", "typo"]
"""Whose errors: ours, or those of the package ``typo``, as in the paper."""

ROWS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")
KINDS = ("swap", "omit", "double", "beside", "neighbour", "split", "join")
"""Two letters change places; one is left out, typed twice, or joined or replaced by a key beside
it; a space too many, or too few."""
PACKAGE_KINDS = (
    *("char_swap", "missing_char", "extra_char", "nearby_char"),
    *("similar_char", "skipped_space", "random_space", "repeated_char"),
)
DRAWS = 12
"""Of all errors of a text anew, where one takes back a part of another (a letter doubled here and
left out there), so that fewer would do."""
TRIES = 20  # of the package for one error; many of its draws leave the text as it is


def keys_beside(character: str) -> str:
    """The keys next to a letter or digit on an English keyboard; any letter for other scripts."""
    low = character.lower()
    for row, keys in enumerate(ROWS):
        column = keys.find(low)
        if column >= 0:
            above, below = (ROWS[row + d] if 0 <= row + d < len(ROWS) else "" for d in (-1, 1))
            near = keys[max(column - 1, 0) : column + 2] + above[column : column + 2]
            return (near + below[max(column - 1, 0) : column + 1]).replace(low, "")
    return "abcdefghijklmnopqrstuvwxyz"


def typos(text: str, k: int, rng: np.random.Generator) -> str:
    """The text with ``k`` typing errors at different places, each of which changes it.

    As many as there are places where it has fewer. Errors keep apart, so none undoes another.
    """
    places = [i for i, c in enumerate(text) if c.isalnum() or c == " "]
    made: dict[int, str] = {}  # start of what is replaced -> what stands there instead
    taken: set[int] = set()
    for place in rng.permutation(places).tolist() if places else []:
        if len(made) == k:
            break
        kind = KINDS[int(rng.integers(len(KINDS)))]
        width, written = _error(text, place, kind, rng)
        touched = set(range(place - 1, place + width + 1))
        if written != text[place : place + width] and not touched & taken:
            made[place] = written
            taken |= set(range(place, place + width))
    return "".join(made.get(i, "" if i in taken else c) for i, c in enumerate(text))


def _error(text: str, place: int, kind: str, rng: np.random.Generator) -> tuple[int, str]:
    """(characters replaced, what is typed instead); what stands there where ``kind`` cannot be."""
    here = text[place]
    after = text[place + 1 : place + 2]
    if here == " ":  # a space can only go missing
        return 1, ""
    if kind == "swap" and after.isalnum():
        return 2, _cased(after, here) + _cased(here, after)
    if kind == "omit":
        return 1, ""
    if kind == "double":
        return 1, here + here
    if kind == "split" and after.isalnum():
        return 1, here + " "
    beside = keys_beside(here)
    key = _cased(beside[int(rng.integers(len(beside)))], here)
    return (1, here + key) if kind == "beside" else (1, key)


def _cased(character: str, like: str) -> str:
    return character.upper() if like.isupper() else character.lower()


def package_typos(text: str, k: int, rng: np.random.Generator) -> str:
    """The text after ``k`` errors of the package ``typo`` that each changed it.

    Raises:
        MissingExtraError: the package is absent.
    """
    try:
        errer = importlib.import_module("typo")
    except ImportError as cause:
        raise MissingExtraError(
            "attack.engine=typo needs the package 'typo': pip install typo, or use engine=own."
        ) from cause
    before = random.getstate()  # the package seeds and uses the common generator
    try:
        found = errer.StrErrer(text, seed=int(rng.integers(2**32)))
        for _ in range(k):
            _once(found, rng)
    finally:
        random.setstate(before)
    return str(found.result)


def _once(found: Any, rng: np.random.Generator) -> None:
    start = found.result
    for _ in range(TRIES):
        getattr(found, PACKAGE_KINDS[int(rng.integers(len(PACKAGE_KINDS)))])()
        if found.result != start:
            return


ENGINES: dict[str, Callable[[str, int, np.random.Generator], str]] = {
    "own": typos,
    "typo": package_typos,
}


@dataclass(frozen=True)
class Typos(RuleAttack):
    """Makes ``k`` typing errors.

    The paper uses the package ``typo`` and does not say which of its errors. That package draws
    with replacement, may undo or repeat an error, and has had no release since 2021, so our own
    engine makes exactly ``k`` errors of seven kinds; ``engine: typo`` draws from eight of the
    package's, until each has changed the text.

    Args:
        k: how many; 10 (minor) and 50 (major) for SummEval's references.
        engine: whose errors.
    """

    k: Count = 10
    engine: Engine = "own"
    name: ClassVar[str] = "typos"

    def rule(self, text: str, at: Place) -> str:
        """Mistype the text.

        Raises:
            MissingExtraError: engine typo without the package.
        """
        for _ in range(DRAWS):
            made = ENGINES[self.engine](text, self.k, at.rng)
            if edits(text, made) == self.k:
                break
        return made

    def check(self, before: str, after: str) -> str:
        """Exactly k single errors lead from one text to the other."""
        found = edits(before, after)
        return "" if found == self.k else f"{found} typing errors, not {self.k}"
