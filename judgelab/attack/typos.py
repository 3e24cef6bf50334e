"""Random typing errors (DHP paper, Table 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgelab.attack.protocol import RuleAttack, edits
from judgelab.core.bounds import Count
from judgelab.core.step import Place

ROWS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")
KINDS = ("swap", "omit", "double", "beside", "neighbour", "split", "join")
"""Two letters change places; one is left out, typed twice, or joined or replaced by a key beside
it; a space too many, or too few."""
DRAWS = 12
"""Of all errors of a text anew, where one takes back a part of another (a letter doubled here and
left out there), so that fewer would do."""


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
    """The text with ``k`` typing errors at different places (where it has fewer, so many), each of
    which changes it. Errors keep apart, so none undoes another."""
    places = [i for i, c in enumerate(text) if c.isalnum() or c == " "]
    errors: dict[int, str] = {}  # start of what is replaced -> what stands there instead
    spans: set[int] = set()
    for place in rng.permutation(places).tolist() if places else []:
        if len(errors) == k:
            break
        kind = KINDS[int(rng.integers(len(KINDS)))]
        width, error = _error(text, place, kind, rng)
        touched = set(range(place - 1, place + width + 1))
        if error != text[place : place + width] and not touched & spans:
            errors[place] = error
            spans |= set(range(place, place + width))
    return "".join(errors.get(i, "" if i in spans else c) for i, c in enumerate(text))


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


@dataclass(frozen=True)
class Typos(RuleAttack):
    """Makes ``k`` typing errors of seven kinds.

    The paper uses the package ``typo``, which draws with replacement and may undo an error.
    """

    k: Count = 10  # how many; 10 (minor) and 50 (major) for SummEval's references
    name = "typos"

    def rule(self, text: str, at: Place) -> str:
        for _ in range(DRAWS):
            mistyped = typos(text, self.k, at.rng)
            if edits(text, mistyped) == self.k:
                break
        return mistyped

    def check(self, before: str, after: str) -> str:
        """Exactly k single errors lead from one text to the other."""
        count = edits(before, after)
        return "" if count == self.k else f"{count} typing errors, not {self.k}"
