"""Grammatical errors (DHP paper, Table 2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from judgelab.attack.protocol import Perturbation, share_changed, word_edits, words_of
from judgelab.core.prompt import Prompt
from judgelab.core.resources import words
from judgelab.core.step import Place

_TABLES = words("attack/words/grammar.yaml")
_LISTS = {name: frozenset(listed.split()) for name, listed in _TABLES["lists"].items()}
_VERBS = [line.split() for line in _TABLES["verbs"].splitlines()]
_BASES = {row[0]: row for row in _VERBS}
_THIRDS = {row[1]: row[0] for row in reversed(_VERBS)}
_PASTS = {row[2]: row for row in _VERBS if row[2] != row[3]}
_PARTICIPLES = {row[3]: row for row in _VERBS if row[2] != row[3]}
_COMPARATIVES = frozenset(_TABLES["comparatives"].split())
_PAIRS: dict[str, dict[str, str]] = {
    name: dict(pair.split(":") for pair in listed.split())
    for name, listed in _TABLES["pairs"].items()
}
_NUMBER, _OBJECT, _SUBJECT = (_PAIRS[name] for name in ("number", "object", "subject"))
_OWN, _MANY, _IRREGULAR = (_PAIRS[name] for name in ("own", "many", "irregular"))
_PLURAL = {other: word for word, other in _NUMBER.items()}
_AFTER, _COUNTS, _END, _OPEN, _ONE = (
    _LISTS[name] for name in ("governing", "counts", "closing", "open", "one")
)
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d[\d.,]*|[^\w\s]")
MOST_CHANGED = 0.5  # share of words; what an LM changed more is another text, not one with errors


class ErrorSite(NamedTuple):
    """A place in a text that can be put into a wrong form, and that form."""

    start: int
    end: int
    wrong: str


def error_sites(text: str) -> list[ErrorSite]:
    """Where an error can be made that is one, in order; sites do not share a word."""
    tokens = list(_TOKEN.finditer(text))
    low = ["", "", "", *(match[0].lower().replace("’", "'") for match in tokens), "", ""]
    sites: list[ErrorSite] = []
    for k, match in enumerate(tokens):
        error = next(_errors(low[k : k + 6], match[0]), None)
        if error is None:
            continue
        wrong, width = error
        start, end = match.start(), tokens[k + width - 1].end()
        if sites and start <= sites[-1].end + 1:
            continue
        wrong = wrong[0].upper() + wrong[1:] if match[0][0].isupper() else wrong
        sites.append(ErrorSite(start, end, wrong))
    return sites


def _errors(window: list[str], spelling: str) -> Iterator[tuple[str, int]]:
    """(wrong form, words replaced) of the fourth word; three stand before, two after."""
    third, second, before, word, after, beyond = window
    if spelling != word and not (spelling[0].isupper() and before in ("", ".", "!", "?")):
        return  # a name
    pair, plain, ends = f"{word} {after}", after.isalpha(), after in _END or not after
    if pair in _TABLES["collocations"]:
        yield _TABLES["collocations"][pair], 2
    yield from ((wrong, 1) for wrong in _disagreeing(third, second, before, word))
    yield from ((wrong, 1) for wrong in _misformed(second, before, word, after))
    if word in _OBJECT and before not in _AFTER and _finite(after):
        yield _OBJECT[word], 1
    if word in _SUBJECT and before in _AFTER and ends:
        yield _SUBJECT[word], 1
    if word in _OWN and plain and after not in _END | {"own"} and after.islower():
        yield _OWN[word], 1
    if before in _COUNTS and _is_plural(word) and ends:
        yield _singular(word), 1
    if word == "a" and after[:1] in set("bcdfgjklmnpqrstvwz") and plain:
        yield "an", 1
    if word == "an" and after[:1] in set("aei") and plain and not after.startswith("eu"):
        yield "a", 1
    if word in _COMPARATIVES and after in ("than", ".", ",") and before not in ("more", "no"):
        yield f"more {word}", 1
    if word in _MANY and _is_plural(after) and (beyond in _END or not beyond):
        yield _MANY[word], 1


def _disagreeing(third: str, second: str, before: str, word: str) -> Iterator[str]:
    """A verb in the wrong number, where its subject is sure to stand before it."""
    if {"of", "and", "or", "nor", "if", "wish", "though", "with", "than"} & {third, second}:
        return
    if word in _NUMBER:
        noun = before.isalpha() and second in _ONE
        plural = before in _LISTS["collective"] or _is_plural(before)
        if before in _LISTS["singular"] or (noun and not plural):
            yield _NUMBER[word]
    sure = before in _LISTS["plural"] or (_is_plural(before) and second in _OPEN)
    if word in _PLURAL and sure and not second.isdigit() and second not in _COUNTS:
        yield _PLURAL[word]


def _misformed(second: str, before: str, word: str, after: str) -> Iterator[str]:
    """A verb in a form that what stands before it cannot have."""
    governed = before in _LISTS["modal"] or (before == "to" and second not in ("due", "according"))
    if governed and word in _BASES:
        row = _BASES[word]
        yield row[1] if word in ("be", "have", "do") else row[2]
    elif before in ("has", "have", "had") and word in _PARTICIPLES and word not in _BASES:
        yield _PARTICIPLES[word][2] if word != "been" else "be"
    elif before in ("has", "have", "had") and re.fullmatch(r"[a-z]{3,}[^e]ed", word):
        yield re.sub(r"([^aeiou])ied$|ed$", lambda m: (m[1] + "ying") if m[1] else "ing", word)
    elif before in ("he", "she", "they", "we", "i") and word in _PASTS and word != "was":
        if (word, after) != ("did", "not"):
            yield _PASTS[word][3]
    elif before in ("he", "she") and word in _THIRDS.keys() - {"is", "has", "does"}:
        yield _THIRDS[word]


def _finite(word: str) -> bool:
    regular = word in _NUMBER or word in _PLURAL or word in _LISTS["modal"]
    return regular or word in ("had", "did") or any(word in row[1:3] for row in _VERBS)


def _is_plural(word: str) -> bool:
    regular = len(word) > 3 and word.isalpha() and re.search(r"[^sui]s$", word)
    return word in _IRREGULAR or (bool(regular) and word not in _LISTS["not_plural"])


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "xes", "ches", "shes")) else word[:-1]


@dataclass(frozen=True)
class GrammaticalErrors(Perturbation):
    """Makes grammatical errors: agreement, verb forms, pronouns, prepositions, articles.

    By rules, English words are put into forms that are wrong where they stand (``a an`` apple,
    ``he have``, ``will took``, ``with they``, ``accused for``), at as many places as asked for; a
    text with fewer such places stays as it is. See ``Perturbation`` for the settings.
    """

    prompt: Prompt = field(default_factory=lambda: Prompt("perturb_grammar.txt"))
    name = "grammatical_errors"

    def rule(self, text: str, at: Place) -> str:
        sites = error_sites(text)
        for place in reversed(self.draw_places(len(sites), at.rng)):
            start, end, wrong = sites[place]
            text = text[:start] + wrong + text[end:]
        return text

    def fault(self, before: str, after: str) -> str:
        """So many places changed, and the rest is the same text."""
        if share_changed(words_of(before), words_of(after)) > MOST_CHANGED:
            return "another text"
        return self.count_fault(word_edits(before, after), "places changed")
