"""Word tables, and replacing words by them with the case of the original kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from judgelab.core.resources import words

Table = Mapping[str, tuple[str, ...]]
_KIND = re.compile(r"(.+?) \((v|n)\)")


def table(text: str) -> dict[str, tuple[str, ...]]:
    """Read ``word: replacement | another; word: ...`` (entries end at ; or line end).

    ``word (v)`` stands for the verb alone, ``word (n)`` for the noun alone.
    """
    entries = (entry.split(":") for entry in re.split(r"[;\n]", text) if entry.strip())
    return {key.strip(): tuple(v.strip() for v in values.split("|")) for key, values in entries}


def listed(text: str) -> tuple[str, ...]:
    """Read words or phrases separated by commas or line ends, in order."""
    return tuple(entry.strip() for entry in re.split(r"[,\n]", text) if entry.strip())


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
        body = _body(self.entries)
        return re.compile(rf"(?<![\w'’-])(?:{body})(?![\w'’-])", re.IGNORECASE)

    @classmethod
    def of(cls, entries: Table | Iterable[str]) -> Lexicon:
        """From a table, or from words that are only counted or removed."""
        given = entries if isinstance(entries, Mapping) else dict.fromkeys(entries, ("",))
        split = {key.lower(): _KIND.fullmatch(key.lower()) for key in given}
        named = {key: match.group(1) if match else key for key, match in split.items()}
        kinds = {match.group(1): match.group(2) for match in split.values() if match}
        return cls({named[key.lower()]: values for key, values in given.items()}, kinds)

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


def _body(entries: Iterable[str]) -> str:
    """The longest word first; grouped by first letter, which is five times faster to search."""
    groups: dict[str, list[str]] = {}
    for word in sorted(entries, key=lambda w: (-len(w), w)):
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


def _both_ways(forward: dict[str, tuple[str, ...]]) -> Table:
    """Also from the opposite to the word; of several, to the first."""
    back = {opposite: (word,) for word, (opposite, *_) in reversed(forward.items())}
    return {**back, **forward}


def _polarity() -> dict[str, Lexicon]:
    """What follows from the pairs of a good word and a bad one.

    ANTONYMS has both directions, BRIGHTEN bad -> good, DARKEN good -> bad, NEGATIVE and POSITIVE
    one side each with further words. Some pairs are opposites without being good or bad.
    """
    pairs, plain = table(WORDS["PAIRS"]), frozenset(listed(WORDS["UNCOLOURED"]))
    darken = {g: bad for g, bad in pairs.items() if g not in plain and bad[0] not in plain}
    bad_words = frozenset(opposite for opposite, *_ in pairs.values()) - plain - {"innocent"}
    good_words = frozenset(pairs) - plain - {"guilty"}
    return {
        "ANTONYMS": Lexicon.of(_both_ways(pairs)),
        "BRIGHTEN": Lexicon.of({bad: (g,) for g, (bad, *_) in reversed(darken.items())}),
        "DARKEN": Lexicon.of(darken),
        "NEGATIVE": Lexicon.of(bad_words | set(listed(WORDS["NEGATIVE"]))),
        "POSITIVE": Lexicon.of(good_words | set(listed(WORDS["POSITIVE"]))),
        "OUTCOMES": Lexicon.of(_both_ways(table(WORDS["OUTCOMES"]))),
    }


WORDS: Mapping[str, str] = words("agents/words/tables.yaml")
LEXICONS: Mapping[str, Lexicon] = {
    **{n: Lexicon.of(table(text) if ":" in text else listed(text)) for n, text in WORDS.items()},
    **_polarity(),
}
"""By the names in ``words/tables.yaml``, and what :func:`_polarity` adds."""

STOPWORDS = frozenset(listed(WORDS["STOPWORDS"]))
"""Words that carry grammar more than content."""

CALENDAR = frozenset(listed(WORDS["CALENDAR"]))
NUMBER_WORDS = listed(WORDS["NUMBER_WORDS"])
_BEFORE_NOUN = frozenset(listed(WORDS["BEFORE_NOUN"]))
INVENTED_NAMES = listed(WORDS["INVENTED_NAMES"])
INVENTED_PLACES = listed(WORDS["INVENTED_PLACES"])
NEGATIVE = LEXICONS["NEGATIVE"]
POSITIVE = LEXICONS["POSITIVE"]
INTENSIFIERS = LEXICONS["INTENSIFIERS"]
