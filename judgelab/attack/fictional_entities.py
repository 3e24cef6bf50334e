"""Named entities replaced by fictional ones (DHP paper, Table 2 and appendix D)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judgelab.attack.protocol import UNCHANGED, Perturbation
from judgelab.core.resources import words
from judgelab.core.step import Place

_NAME = re.compile(r"[A-Z][\w’'-]*\w(?:[ ](?:of |de |van |von |al-)?[A-Z][\w’'-]*\w)*|[A-Z]{2,}")
_AROUND_NUMBER = (r"(?<![\w.,:-])", r"(?!\w|[.,:]\d|-\d|\))")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*".join(_AROUND_NUMBER))
_TITLES = ("Dr", "Mr", "Mrs", "Ms", "Prof", "St")
_AFTER_TITLE = "".join(rf"(?<!\b{title})" for title in _TITLES)
_START = re.compile(rf"(?:^|{_AFTER_TITLE}[.!?:]['\"”’)]*\s+|\n\s*|[\"“‘'(])$")
_TABLES = words("attack/words/names.yaml")
_PLAIN = frozenset(_TABLES["plain"].split()) | frozenset(_TITLES)
_GENERIC = frozenset(_TABLES["generic"].split())
_CLASSES: dict[str, list[str]] = {name: group for group in _TABLES["classes"] for name in group}
_TERM_WORDS, _TERM_NOT = (frozenset(_TABLES[n].split()) for n in ("term_words", "term_not"))
_TERM_END = re.compile(rf"\w{{3,}}(?:{'|'.join(_TABLES['term_ends'].split())})")
_TERM_START = re.compile(rf"(?:{'|'.join(_TABLES['term_starts'].split())})\w{{4,}}")
_CODE = re.compile(
    r"[a-z]+[-/]?\d+[a-z]{0,4}\d*|[b-df-hj-np-tv-z]{3,6}s?|[a-z]{1,6}-?(?:[rd]nas?|pcr|seq)"
)
_SPECIES = "ensis|iana|ana|icoli|issima|oides|phila|formis|inus|icus|osus|orina|alis|aris|ii|isii"
_BINOMIAL = re.compile(
    rf"\b[a-z]{{4,}}(?:us|ella|ea|ia|um|as|yces|ix)\b [a-z]{{3,}}(?:{_SPECIES})\b"
)
_LOW_WORD = re.compile(r"(?<![\w<])[a-z][\w/-]*\w(?![\w>])")
_DEMONYM = re.compile(r"(?:ish|ese|ians?)$")
_MONTH_NEAR = re.compile(r"\b(?:" + "|".join(_TABLES["classes"][1]) + r")\b")
_SOUND = re.compile(r"8|1[18](?!\d)")


def entities(text: str) -> list[str]:
    """What can be replaced, each once: names and numbers, or terms in texts without capitals.

    A capital at the start of a sentence makes a name only together with a second one, or where
    the word has it elsewhere too. A name that is a part of another ("Lund" of "Ada Lund") is that
    one. Numbers below 2 are none: they decide between singular and plural.
    """
    found: dict[str, None] = {}
    inside = {m[0] for m in _NAME.finditer(text) if not _starts(text, m.start())}
    for match in _NAME.finditer(text):
        name = re.sub(r"['’]s$", "", match[0])
        while name.partition(" ")[0] in _PLAIN:
            name = name.partition(" ")[2]
        alone = " " not in name and _starts(text, match.start()) and name == match[0]
        if alone and name not in inside and not _part_elsewhere(name, text):
            continue
        if len(name) > 1 and replaced_words(name):
            found[name] = None
    names = _whole(found)
    numbers = {m[0]: None for m in _NUMBER.finditer(text) if _value(m[0]) >= 2}
    return [*names, *numbers] if names or numbers else terms(text)


def terms(text: str) -> list[str]:
    """Biomedical terms of a text without capitals: genes, drugs, taxa, abbreviations; each once."""
    low = dict.fromkeys(match[0] for match in _LOW_WORD.finditer(text))
    known = _TERM_WORDS.union(*(pair.split() for pair in _BINOMIAL.findall(text)))
    return [
        word
        for word in low
        if word not in _TERM_NOT
        and (word in known or any(p.fullmatch(word) for p in (_CODE, _TERM_END, _TERM_START)))
    ]


def replaced_words(entity: str) -> list[str]:
    """The words of an entity that a fictional one has not: all but University, of, ..."""
    if entity[0].isdigit():
        return [entity]
    parts = [
        part
        for word in entity.split()
        for part in ([word] if any(map(str.isdigit, word)) else word.split("-"))
        if len(part) > 1 and (part[0] != part[0].lower() or entity.islower())
    ]
    return [part for part in parts if part not in _GENERIC and part not in _PLAIN]


def _part_elsewhere(name: str, text: str) -> bool:
    return any(name in match[0].split(" ")[1:] for match in _NAME.finditer(text))


def _whole(names: Iterable[str]) -> list[str]:
    """The names less those whose words another one has: Lund, Lund-led beside Ada Lund."""
    kept: dict[str, set[str]] = {}
    for name in sorted(names, key=lambda one: -len(replaced_words(one))):
        own = {word.casefold() for word in replaced_words(name)}
        if not any(own <= other for other in kept.values()):
            kept[name] = own
    return [name for name in names if name in kept]


def _value(number: str) -> float:
    plain = number.replace(",", "")
    return float(plain) if plain.count(".") < 2 else 2.0


def _starts(text: str, place: int) -> bool:
    return _START.search(text[max(0, place - 9) : place]) is not None


def coined(rng: np.random.Generator, vowel: bool = False) -> str:
    """A made-up name, some 3,000 of them: Jorelwick, or Ithandor where a vowel must begin it."""
    parts = (_TABLES[n] for n in ("starts_vowel" if vowel else "starts", "middles", "ends"))
    return "".join(part[int(rng.integers(len(part)))] for part in parts)


def fictional(word: str, text: str, rng: np.random.Generator) -> str:
    """What stands for one word of an entity: as long a class, capitals and "a" or "an" allow."""
    if word[0].isdigit() and not any(map(str.isalpha, word)):
        return _other_number(word, text, rng)
    if word in _CLASSES:
        others = [one for one in _CLASSES[word] if one != word]
        return others[int(rng.integers(len(others)))]
    if word.isupper() or any(map(str.isdigit, word)) or _CODE.fullmatch(word):
        return _other_code(word, rng)
    made = coined(rng, vowel=word[0].lower() in "aeiou")
    if end := _DEMONYM.search(word):
        return made.rstrip("aeiou") + end[0]
    if word.islower():
        known = [e for e in _TABLES["term_ends"].split() if word.endswith(e)]
        last = max(known, key=len, default="s" if word.endswith("s") else "")
        return made.lower() + last
    return made


def _other_code(code: str, rng: np.random.Generator) -> str:
    """Other letters and digits of the same kind: BBC, p53, il-6; a plural s stays."""
    kinds = ("aefhilmnorsx", "bcdgjkpqtuvwyz")  # said with a vowel first (an FBI man), or not
    made = ""
    for k, c in enumerate(code):
        group = next((kind for kind in kinds if c.lower() in kind), "")
        if c.isdigit():
            made += str((int(c) + int(rng.integers(1, 9))) % 9 + 1 if c != "0" else 0)
        elif group and not (c == "s" and k == len(code) - 1 and len(code) > 3):
            drawn = group[int(rng.integers(len(group)))]
            made += drawn.upper() if c.isupper() else drawn
        else:
            made += c
    return made if made != code else made[::-1] + "q"


def _other_number(number: str, text: str, rng: np.random.Generator) -> str:
    """As many digits, within a half of it, on the same side of "a" and "an"; days stay days."""
    plain = number.replace(",", "")
    if plain.count(".") > 1 or not plain.replace(".", "").isdigit():
        return number[:-1] + str((int(number[-1]) + 3) % 10)
    digits = len(plain.partition(".")[2])
    unit = 10**digits
    value = round(float(plain) * unit)
    place = text.find(number)
    near = text[max(0, place - 12) : place + len(number) + 12]
    if re.fullmatch(r"(?:1[6-9]|20)\d\d", number):
        low, high = value - 30, value + 30
    else:
        low, high = max(1 if digits else 2, value // 2), value + max(value // 2, 1)
        high = min(high, 28) if _MONTH_NEAR.search(near) and value <= 31 else high
        high = min(high, 100 * unit) if value <= 100 * unit and "%" in near else high
    size, sound = len(str(value)), bool(_SOUND.match(plain))
    fit = [
        n
        for n in (
            {int(n) for n in rng.integers(low, max(low, high) + 1, size=60)}
            | {value + 1, value - 1}
        )
        if n != value
        and low <= n <= high
        and len(str(n)) == size
        and bool(_SOUND.match(str(n))) == sound
    ]
    made = sorted(fit)[int(rng.integers(len(fit)))] if fit else value + 2
    shown = f"{made / unit:.{digits}f}" if digits else str(made)
    return f"{int(shown):,}" if "," in number and not digits else shown


def replacements(entity: str, text: str, rng: np.random.Generator) -> dict[str, str]:
    """Word of the entity -> what stands for it wherever it occurs, in names that share it too."""
    return {word: fictional(word, text, rng) for word in replaced_words(entity)}


def _exchanged(text: str, made: Mapping[str, str]) -> str:
    """Every occurrence: plural, possessive, hyphenated and all in capitals too."""
    spelled = dict(made)
    for word, other in made.items():
        if len(word) > 2 and word[0].isupper():
            spelled.setdefault(word.upper(), other.upper())
    longest = sorted(spelled, key=len, reverse=True)
    return re.sub("|".join(map(_alone, longest)), lambda match: spelled[match[0]], text)


def _alone(word: str) -> str:
    """A pattern for the word, not for a part of a longer word or number: 5, but not in 1.5."""
    before, after = _AROUND_NUMBER if word[0].isdigit() else (r"(?<![^\W_])", r"(?![^\W_])")
    return f"{before}{re.escape(word)}{after}"


@dataclass(frozen=True)
class FictionalEntities(Perturbation):
    """Puts fictional names, places, numbers or terms in the place of real ones.

    By rules, names are found by their capitals, and each of their words is replaced wherever it
    occurs ("Ada Lund", "Lund's"); words such as University stay. A text without capitals, as in
    SumPubMed, gives biomedical terms. A text without enough of them stays as it is. See
    ``Perturbation`` for the settings.
    """

    name: ClassVar[str] = "fictional_entities"

    def rule(self, text: str, at: Place) -> str:
        """Replace names and numbers; biomedical terms where a text has neither."""
        known = entities(text)
        made: dict[str, str] = {}
        for place in self.chosen(len(known), at.rng):
            made |= {
                word: other
                for word, other in replacements(known[place], text, at.rng).items()
                if word not in made
            }
        return _exchanged(text, made) if made else text

    def check(self, before: str, after: str) -> str:
        """So many entities are gone, and no part of one of them is left anywhere."""
        if before == after:
            return UNCHANGED
        gone = 0
        for entity in entities(before):
            parts = {word: re.search(_alone(word), after, re.I) for word in replaced_words(entity)}
            shared = {w for e in entities(before) if e != entity for w in replaced_words(e)}
            lost = [word for word, left in parts.items() if left is None]
            if lost and any(left for word, left in parts.items() if word not in shared):
                return f"a part of an entity is left ({entity!r})"
            gone += len(lost) == len(parts)
        return self.counted(gone, "entities replaced")
