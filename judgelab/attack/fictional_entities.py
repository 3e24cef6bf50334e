"""Named entities replaced by fictional ones (DHP paper, Table 2 and appendix D)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judgelab.attack.protocol import Perturbation
from judgelab.core.resources import words
from judgelab.core.step import Place

_NAME = re.compile(r"[A-Z][\w’'-]*[\w](?:[ ](?:of |de |van |von |al-)?[A-Z][\w’'-]*\w)*|[A-Z]{2,}")
_AROUND_NUMBER = (r"(?<![\w.,])", r"(?!\w|[.,]\d)")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*".join(_AROUND_NUMBER))
_TITLES = ("Dr", "Mr", "Mrs", "Ms", "Prof", "St")
_AFTER_TITLE = "".join(rf"(?<!\b{title})" for title in _TITLES)
_START = re.compile(rf"(?:^|{_AFTER_TITLE}[.!?:]['\"”’)]*\s+|\n\s*|[\"“‘(])$")
_WORD = re.compile(r"[^\W\d_]{7,}")
_TABLES = words("attack/words/names.yaml")
SYLLABLES: list[list[str]] = [_TABLES[part] for part in ("starts", "middles", "ends")]
_PLAIN = frozenset(_TABLES["plain"].split()) | frozenset(_TITLES)
"""Words that are no name for all their capital."""


def entities(text: str) -> list[str]:
    """What can be replaced, each once: names and numbers, or long words where there are none.

    A capital at the start of a sentence makes a name only together with a second one, or where
    the word has it elsewhere too.
    """
    inside = {m[0] for m in _NAME.finditer(text) if not _starts(text, m.start())}
    found: dict[str, None] = {}
    for match in _NAME.finditer(text):
        name = match[0]
        head, _, rest = name.partition(" ")
        if head in _PLAIN:
            name = rest
        elif not rest and _starts(text, match.start()) and name not in inside:
            continue
        if len(name) > 1 and name not in _PLAIN:
            found[name] = None
    found |= {match[0]: None for match in _NUMBER.finditer(text)}
    if not found:  # text without capitals, as in SumPubMed: technical terms
        longest = sorted({m[0] for m in _WORD.finditer(text)}, key=lambda w: (-len(w), w))
        found = dict.fromkeys(longest[:6])
    return list(found)


def _starts(text: str, place: int) -> bool:
    return _START.search(text[max(0, place - 9) : place]) is not None


def fictional(entity: str, rng: np.random.Generator) -> str:
    """Another number of the same form, or as many made-up words with the same capitals."""
    if entity[0].isdigit():
        return _other_number(entity, rng)
    return " ".join(
        word if word in ("of", "de", "van", "von") else _as(word, coined(rng))
        for word in entity.split()
    )


def coined(rng: np.random.Generator) -> str:
    """A made-up name, some 3,000 of them: Jorelwick, Ithandor."""
    return "".join(part[int(rng.integers(len(part)))] for part in SYLLABLES)


def _exchanged(text: str, made: Mapping[str, str]) -> str:
    longest = sorted(made, key=len, reverse=True)
    return re.sub("|".join(map(_alone, longest)), lambda match: made[match[0]], text)


def _alone(entity: str) -> str:
    """A pattern for the entity, not for a part of a longer word or number: 5, but not in 1.5."""
    before, after = _AROUND_NUMBER if entity[0].isdigit() else (r"(?<!\w)", r"(?!\w)")
    return f"{before}{re.escape(entity)}{after}"


def _as(word: str, name: str) -> str:
    return name.lower() if word.islower() else name.upper() if word.isupper() else name


def _other_number(number: str, rng: np.random.Generator) -> str:
    """Digits changed, the first never to 0; years stay within a lifetime."""
    if re.fullmatch(r"(?:1[6-9]|20)\d\d", number):
        return str(int(number) + int(rng.integers(3, 30)) * (1 if rng.random() < 0.5 else -1))
    digits = [
        str(int(rng.integers(1, 10))) if c.isdigit() and (i == 0 or rng.random() < 0.5) else c
        for i, c in enumerate(number)
    ]
    made = "".join(digits)
    return made if made != number else str(int(number[0]) % 9 + 1) + number[1:]


@dataclass(frozen=True)
class FictionalEntities(Perturbation):
    """Puts fictional names, places, numbers or terms in the place of real ones.

    By rules, names are found by their capitals and replaced wherever they occur; see
    ``Perturbation`` for the settings.
    """

    name: ClassVar[str] = "fictional_entities"

    def rule(self, text: str, at: Place) -> str:
        """Replace names and numbers; long words where a text has neither."""
        known = entities(text)
        chosen = self.chosen(len(known), at.rng)
        made = {known[i]: fictional(known[i], at.rng) for i in chosen}
        return _exchanged(text, made) if made else text
