"""Sentences said twice, in other words (DHP paper, Table 2, summarisation)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from judgelab.attack.edits import share_changed, words_of
from judgelab.attack.protocol import UNCHANGED, Perturbation
from judgelab.core.resources import words
from judgelab.core.sentences import sentence_spans
from judgelab.core.step import Place

LEAST = 0.15
"""Share of a sentence's words that its rewriting has otherwise, or elsewhere."""
MOST = 0.8
"""A sentence that has less in common with the one before it is no rewriting of it."""
_TABLES = words("attack/words/synonyms.yaml")
_UNSAFE = frozenset(_TABLES["unsafe"].split())
_PAIRS = (pair.partition(": ") for pair in re.split(r"\s+/\s+|\n", _TABLES["words"].strip()))
SYNONYMS = {word: other for word, _, other in _PAIRS if word not in _UNSAFE}
SYNONYMS = words("attack/words/phrases.yaml")["phrases"] | SYNONYMS
_ANY = re.compile(
    r"(?P<article>\b[Aa]n? )?(?<![\w'’-])(?P<word>"
    + "|".join(sorted(map(re.escape, SYNONYMS), key=len, reverse=True))
    + r")(?![\w'’-])"
)
_PLAIN = frozenset(words("attack/words/names.yaml")["plain"].split()) - {"World", "Mr"}
_LINKS = "because although while when after before since despite during until where"
_FRONTS = f"{_LINKS} as if in on at following with by for to".replace("where ", "").split()
_FRONT = "|".join([word for one in _FRONTS for word in (one, one.capitalize())])
_DAYS = "|".join(day for group in _TABLES["days"] for day in group.split())
_STOP = r"(?P<stop>[.!?]['\"”’]?)$"
_LATER = re.compile(
    rf"^(?P<main>[^,;:]{{12,}}?),? (?P<rest>(?:{_LINKS.replace(' ', '|')}) [^;:]{{8,}}){_STOP}"
)
_ENDS = re.compile(
    rf"^(?P<main>[^;:]{{15,}}?) (?P<rest>(?:on|in|at|by) (?:(?:early|late) )?"
    rf"(?:{_DAYS}|\d{{4}}|the past|recent years|this study|this work)[^,;:]{{0,25}}"
    rf"|(?:last|this) (?:week|month|year|night|season)|yesterday){_STOP}"
)
_FIRST = re.compile(
    rf"^(?P<rest>(?:{_FRONT}) (?!this end)[^,;:]{{3,80}}), (?P<main>[^;:]{{12,}}){_STOP}"
)
_BUT = re.compile(rf"^(?P<main>[^,;:]{{12,}}),? but (?P<rest>[^;:]{{12,}}){_STOP}")
_SAID = re.compile(
    r"^(?P<who>(?:The )?[A-Z][\w’'-]*(?: [A-Z][\w’'-]*){0,3}) "
    r"(?:says?|said|claims?|claimed|believes?|believed|reported) (?:that )?"
    rf"(?P<main>[^;:\"“]{{12,}}){_STOP}"
)
_WHOM = {"He": "him", "She": "her", "They": "them"}
_DEPENDENT = re.compile(
    r"\b(?:that|who|which|said|says|than|and|(?:days?|weeks?|months?|years?|hours?|minutes?)$)"
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|would|can|could|may|might|did|\w{3,}ed)\b"
)
_NAMED = re.compile(
    r"^(?P<who>[A-Z][\w’-]+(?: [A-Z][\w’-]+){1,3}) (?P<verb>is|was|has|had|will|\w{3,}ed)"
    r"(?P<rest>\b.*)$"
)
_NOUN = r"[\w’'-]+(?: [\w’'-]+){0,4}"
_PASSIVE = re.compile(
    rf"^(?P<what>(?:The |A |An |His |Her |Their )?{_NOUN}?) (?P<be>was|were|has been|have been) "
    rf"(?P<verb>\w+ed) by (?P<who>(?:the |a |an |his |her |their )?{_NOUN}){_STOP}"
)


def rewritten(sentence: str) -> str:
    """The sentence in another order of its parts and with synonyms; itself where none is known."""
    bare = sentence.strip()
    moved = next(_moves(bare), bare)
    other = _ANY.sub(_exchanged, moved)
    return _capital(other) if bare[:1].isupper() else other


def _exchanged(match: re.Match[str]) -> str:
    """The synonym, behind the article that it takes."""
    other = SYNONYMS[match["word"]]
    if not match["article"]:
        return other
    article = "an " if other[0] in "aeio" else "a "
    return (_capital(article) if match["article"][0] == "A" else article) + other


def _moves(sentence: str) -> Iterator[str]:
    """The sentence with its clauses in another order, by each pattern that fits."""
    if '"' in sentence or "“" in sentence or "?" in sentence:
        return
    if (match := _SAID.match(sentence)) and _movable(match["main"]):
        who = _WHOM.get(match["who"], _lower(match["who"]))
        yield f"According to {who}, {_lower(match['main'])}{match['stop']}"
    if (match := _BUT.match(sentence)) and _movable(match["main"]):
        yield f"Although {_lower(match['main'])}, {match['rest']}{match['stop']}"
    if match := _FIRST.match(sentence):
        main = match["main"].strip()
        if "," not in main and not main.startswith(("and ", "but ", "which ", "who ")):
            yield f"{main} {_lower(match['rest'])}{match['stop']}"
    if (match := _PASSIVE.match(sentence)) and _movable(match["what"]):
        auxiliary = match["be"].partition(" ")[0] if " " in match["be"] else ""
        verb = f"{auxiliary} {match['verb']}".strip()
        yield f"{match['who']} {verb} {_lower(match['what'])}{match['stop']}"
    for pattern in (_LATER, _ENDS):
        match = pattern.match(sentence)
        if match is None or not _movable(match["main"]) or _DEPENDENT.search(match["main"]):
            continue
        if _FINITE.search(match["main"]):
            yield f"{match['rest']}, {_lower(match['main'].strip())}{match['stop']}"
    if match := _NAMED.match(sentence):
        tense = "was" if re.fullmatch(r"was|had|\w+ed", match["verb"]) else "is"
        yield f"It {tense} {match['who']} who {match['verb']}{match['rest']}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lower(text: str) -> str:
    """A first word that is no name in small letters."""
    first = text.partition(" ")[0]
    return text[:1].lower() + text[1:] if first in _PLAIN else text


def _movable(text: str) -> bool:
    """Whether it is known if the first word is a name: it may come to stand inside."""
    first, _, rest = text.partition(" ")
    return first[:1].islower() or first in _PLAIN or rest[:1].isupper()


def _changed(sentence: str, other: str) -> float:
    return share_changed(
        [word.lower() for word in words_of(sentence)], [word.lower() for word in words_of(other)]
    )


@dataclass(frozen=True)
class RewritingInsertion(Perturbation):
    """Inserts a rewritten version right after some sentences: nothing is false, but said twice.

    By rules, the version has clauses in another order ("Because ..., ..." for "... because ...",
    "According to her, ..." for "She said that ..."), and synonyms; only sentences of which
    fifteen words in a hundred come out otherwise are drawn, and a text with too few of these stays
    as it is. See ``Perturbation`` for the settings.
    """

    name: ClassVar[str] = "rewriting_insertion"

    def rule(self, text: str, at: Place) -> str:
        """Say sentences drawn alike again."""
        spans = [
            (start, end)
            for start, end in sentence_spans(text)
            if _changed(text[start:end], rewritten(text[start:end])) >= LEAST
        ]
        for place in reversed(self.chosen(len(spans), at.rng)):
            start, end = spans[place]
            text = f"{text[:end]} {rewritten(text[start:end])}{text[end:]}"
        return text

    def check(self, before: str, after: str) -> str:
        """So many sentences more, each a rewriting of the one before it and not the same."""
        if before == after:
            return UNCHANGED
        old = [before[start:end] for start, end in sentence_spans(before)]
        new = [after[start:end] for start, end in sentence_spans(after)]
        inserted = []
        for place, sentence in enumerate(new):
            if old and sentence == old[0]:
                old.pop(0)
            elif place == 0:
                return "the first sentence is not the original's"
            else:
                inserted.append((new[place - 1], sentence))
        if old:
            return "a sentence of the original is gone"
        for sentence, other in inserted:
            if not LEAST <= _changed(sentence, other) <= MOST:
                return "an inserted sentence is the same, or another one"
        return self.counted(len(inserted), "sentences inserted")
