"""Replacing words by a table, with the case of the original kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

Table = Mapping[str, tuple[str, ...]]
_KIND = re.compile(r"(.+?) \((v|n)\)")
_BEFORE_NOUN = frozenset(
    ("a", "an", "the", "this", "that", "his", "her", "its", "their", "my", "our", "your", "no")
) | frozenset(("of", "in", "at", "for", "with", "some", "any", "new", "old", "more", "final"))


def sections(file: str) -> dict[str, str]:
    """The word tables of a file beside this one, by the name in brackets above each."""
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    parts = re.split(r"^\[(\w+)\]$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def table(text: str) -> dict[str, tuple[str, ...]]:
    """Read ``word: replacement | another; word: ...`` (entries end at ; or line end).

    ``word (v)`` stands for the verb alone, ``word (n)`` for the noun alone.
    """
    entries: dict[str, tuple[str, ...]] = {}
    for entry in re.split(r"[;\n]", text):
        if entry.strip():
            key, values = entry.split(":")
            entries[key.strip()] = tuple(value.strip() for value in values.split("|"))
    return entries


def words_of(text: str) -> frozenset[str]:
    """Read words separated by white space."""
    return frozenset(text.split())


def phrases(text: str) -> frozenset[str]:
    """Read phrases separated by commas or line ends."""
    return frozenset(word.strip() for word in re.split(r"[,\n]", text) if word.strip())


def options(text: str) -> tuple[str, ...]:
    """Read alternatives separated by | or line ends, in order."""
    return tuple(option.strip() for option in re.split(r"[|\n]", text) if option.strip())


@dataclass(frozen=True)
class Lexicon:
    """Words or phrases (lower case) and what may stand for them.

    Attributes:
        entries: as read by :func:`table`, lower case.
        kinds: ``v`` or ``n`` for the words that are replaced only as a verb or as a noun.
    """

    entries: Table
    kinds: Mapping[str, str]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds any of the words. (Some 60 of them take longer to compile than a short run.)"""
        words = _body(self.entries)
        return re.compile(rf"(?<![\w'’-])(?:{words})(?![\w'’-])", re.IGNORECASE)

    @classmethod
    def of(cls, entries: Table | frozenset[str]) -> Lexicon:
        """From a table, or from a set of words that are only counted or removed."""
        given = entries if isinstance(entries, Mapping) else dict.fromkeys(entries, ("",))
        split = {key.lower(): _KIND.fullmatch(key.lower()) for key in given}
        named = {key: match.group(1) if match else key for key, match in split.items()}
        kinds = {match.group(1): match.group(2) for match in split.values() if match}
        table = {named[key.lower()]: values for key, values in given.items()}
        return cls(table, kinds)

    @classmethod
    def parse(cls, text: str) -> Lexicon:
        """From the notation of :func:`table`."""
        return cls.of(table(text))

    def count(self, text: str) -> int:
        """How many of the words occur in the text."""
        return sum(1 for _ in self.pattern.finditer(text))

    def found(self, text: str) -> bool:
        """Whether any of the words occurs in the text."""
        return self.pattern.search(text) is not None

    def rewrite(self, text: str, rng: np.random.Generator, share: float = 1.0) -> str:
        """Replace each occurrence with probability ``share``."""

        def swap(match: re.Match[str]) -> str:
            key = match.group().lower()
            if share < 1.0 and rng.random() >= share:
                return match.group()
            if key in self.kinds and self.kinds[key] != _kind(match):
                return match.group()
            choices = self.entries[key]
            return like(match.group(), choices[int(rng.integers(len(choices)))])

        return self.pattern.sub(swap, text)

    def remove(self, text: str) -> str:
        """Delete each occurrence."""
        return self.pattern.sub("", text)


def _body(words: Iterable[str]) -> str:
    """The longest word first; grouped by first letter, which is five times faster to search."""
    groups: dict[str, list[str]] = {}
    for word in sorted(words, key=lambda w: (-len(w), w)):
        groups.setdefault(word[0], []).append(re.escape(word[1:]))
    return "|".join(f"{re.escape(k)}(?:{'|'.join(v)})" for k, v in sorted(groups.items()))


def _kind(match: re.Match[str]) -> str:
    """Noun after an article, a possessive or a preposition; else verb."""
    before = match.string[max(0, match.start() - 16) : match.start()].split()
    return "n" if before and before[-1].lower() in _BEFORE_NOUN else "v"


def like(model: str, word: str) -> str:
    """``word`` in the case of ``model``: capitalised, all capitals, or as it is."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
