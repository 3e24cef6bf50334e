"""Sentences said twice, in other words (DHP paper, Table 2, summarisation)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from typing import ClassVar

from judgelab.attack.edits import words_of
from judgelab.attack.protocol import UNCHANGED, Perturbation
from judgelab.core.resources import words
from judgelab.core.sentences import sentence_spans
from judgelab.core.step import Place

LEAST = 0.15
"""Share of a sentence's words that its rewriting has otherwise, or elsewhere."""
MOST = 0.8
"""A sentence that has less in common with the one before it is no rewriting of it."""
_TABLES = words("attack/words/synonyms.yaml")


def _whole(pattern: str) -> re.Pattern[str]:
    """The pattern where whole words begin and end; "an" before a vowel goes with its word."""
    return re.compile(
        rf"(?P<article>\b[Aa]n? )?(?<![\w'’\x02-]){pattern.strip()}(?![\w\x02]|['’]\w|-\w)"
    )


_PAIRS = (line.partition(" => ") for line in _TABLES["rewordings"].strip().splitlines())
REWORDINGS = [(_whole(pattern), other) for pattern, _, other in _PAIRS]
_NUMBERS = dict(enumerate(_TABLES["numbers"].split(), start=2))
_DIGITS = {word: str(number) for number, word in _NUMBERS.items()}
_COUNTED = re.compile(
    rf"(?<=[a-z] )(?P<n>[2-9]|1[0-2]|{'|'.join(_DIGITS)})(?= (?:[a-z]+ )?[a-z]{{3,}}s\b)"
)
_AGED = re.compile(
    r"\b(?P<the>[Tt]he) (?P<n>\d+)-year-old "
    r"(?P<who>(?:[A-Z][a-z]+ )?(?!has |is |was |had |will )[a-z]+)"
    r"(?= (?:has|is|was|had|will|spent|\w{3,}ed)\b)"
)
_OWNED = re.compile(
    r"(?<!the )(?<!The )(?<![\w'’-])(?P<who>[A-Z][\w-]*\w(?: [A-Z][\w-]*\w)*)['’]s (?P<what>[a-z]+)"
    r"(?=,|[.!?;]|$| (?:is|are|was|were|has|have|had|will|in|on|at|to|for|from|by|and|when|while|"
    r"after|before|because|as|during)\b)"
)
_NOT_OWNED = frozenset(_TABLES["not_owned"].split())
_MARKED = re.compile(r"(\x02[^\x03]*\x03)")
_PLAIN = frozenset(words("attack/words/names.yaml")["plain"].split()) - {"World", "Mr"}
_LINKS = "because although while when after before since despite during until where"
_FRONTS = f"{_LINKS} as if in on at following with by for to".replace("where ", "").split()
_FRONT = "|".join([word for one in _FRONTS for word in (one, one.capitalize())])
_DAYS = "|".join(day for group in _TABLES["days"] for day in group.split())
_STOP = r"(?P<stop>[.!?]['\"”’]?)$"
_JOINS = "because|although|while|when|after|before|since|despite|during|until"
_NUMBER_WORD = rf"(?:\d+|a few|several|{'|'.join(_TABLES['numbers'].split())})"
_LATER = re.compile(
    rf"^(?P<main>[^,;:]{{12,}}?),? (?P<rest>(?:{_JOINS}) (?!then\b)[^,;:]{{3,}}){_STOP}"
)
_NEVER_FRONT = re.compile(
    r"^(?:(?:during|since|despite) .*\b\w+(?:ed|ing)|(?:in|on|at|by) .* and|.* and again)\b"
)
_ENDS = re.compile(
    rf"^(?P<main>[^;:]{{12,}}?) (?P<rest>(?:on|in|at|by) (?:(?:early|late) )?"
    rf"(?:{_DAYS}|\d{{4}}|the past|recent years|this study|this work)[^,;:]{{0,25}}"
    rf"|(?:last|this|next) (?:week|month|year|night|season|summer|winter|spring|autumn|weekend)"
    rf"|at the (?:weekend|time|(?:start|end) of [^,;:]{{3,20}})|in the (?:\d+\w\w minute|\d+s)"
    rf"|{_NUMBER_WORD} (?:days|weeks|months|years) ago|yesterday|overnight){_STOP}"
)
_FIRST = re.compile(
    rf"^(?P<rest>(?:{_FRONT}) (?!this end)[^,;:]{{3,80}}), (?P<main>[^;:]{{12,}}){_STOP}"
)
_BUT = re.compile(rf"^(?P<main>[^,;:]{{12,}}),? but (?P<rest>[^;:]{{12,}}){_STOP}")
_SAID = re.compile(
    r"^(?P<who>(?:The )?[A-Z][\w’'-]*(?: [A-Z][\w’'-]*){0,3}) "
    r"(?:says?|said|claims?|claimed|believes?|believed|reported) (?:that )?(?!in\b)"
    rf"(?P<main>[^;:\"“]{{12,}}){_STOP}"
)
_WHOM = {"He": "him", "She": "her", "They": "them"}
_DEPENDENT = re.compile(
    r"\b(?:including|involving|aimed)\b|\b(?:since|of|from|until|by|for|to|after|before|in|at|on|between|about|over)$|\b(?:that|who|which|said|says|than|and|(?:days?|weeks?|months?|years?|hours?|minutes?)$)"
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|would|can|could|may|might|did|\w{3,}ed)\b"
)
_NOUN = r"[\w’'-]+(?: [\w’'-]+){0,4}"
_PASSIVE = re.compile(
    rf"^(?P<what>(?:The |A |An |His |Her |Their )?{_NOUN}?) (?P<be>was|were|has been|have been) "
    rf"(?P<verb>\w+ed) by (?P<who>(?:the |a |an |his |her |their )?{_NOUN}){_STOP}"
)
_ACTIVE = re.compile(
    r"^(?P<who>[A-Z][\w’'-]*"
    r"(?: (?!(?:and|is|was|has|had|have|who|that|which|to|not|however) )[\w’'-]+){0,5}?)"
    rf" (?P<also>(?:also|then|later) )?(?P<verb>{_TABLES['passive'].strip().replace(' ', '|')}) "
    r"(?P<what>(?P<head>(?:the|a|an|another|his|her|its|their) (?:[a-z’'-]+ ){0,3}?[a-z-]+"
    r"|[A-Z][\w-]+(?: [A-Z][\w-]+)*)(?: of (?:the |a )?[\w-]+)?)"
    r"(?P<rest>(?: (?:in|at|on|during|for|after|when|because|last|this|across|before|over)\b"
    rf"[^;:,]*)?){_STOP}"
)


def rewritten(sentence: str, text: str = "") -> str:
    """The sentence in another order of its parts and in other words; itself where none is known.

    Args:
        sentence: one of ``text``.
        text: tells which words are names: they have a capital elsewhere, too.
    """
    bare = sentence.strip()
    moved = next(_moves(bare, _names(text)), bare)
    moved = _AGED.sub("\x02\\g<the>\x03 \\g<who>, \x02aged \\g<n>,\x03", moved)
    moved = _OWNED.sub(_belonging, moved)
    moved = moved[:1].lower() + moved[1:]  # a capital again at the end
    for pattern, other in REWORDINGS:
        parts = _MARKED.split(moved)
        parts[::2] = [pattern.sub(partial(_reworded, other), part) for part in parts[::2]]
        moved = "".join(parts)
    moved = _COUNTED.sub(_respelled, moved).translate({2: None, 3: None})
    return _capital(moved) if bare[:1].isupper() else moved


def _reworded(other: str, match: re.Match[str]) -> str:
    """What stands in its place, behind the article that it takes, marked as done."""
    made = match.expand(_numbered(other)) if match.re.groups > 1 else other
    if not match["article"]:
        return f"\x02{made}\x03"
    article = "an " if made[0] in "aeio" else "a "
    return f"\x02{_capital(article) if match['article'][0] == 'A' else article}{made}\x03"


def _numbered(other: str) -> str:
    """The template with its groups counted behind that of the article."""
    return re.sub(r"\\(\d)", lambda group: f"\\{int(group[1]) + 1}", other)


def _belonging(match: re.Match[str]) -> str:
    """The boss of Hull, for Hull's boss."""
    if match["what"] in _NOT_OWNED or match["what"].endswith(("ing", "ed")):
        return match[0]
    if match["who"].partition(" ")[0] in _PLAIN:
        return match[0]
    return f"\x02the {match['what']} of {match['who']}\x03"


def _respelled(match: re.Match[str]) -> str:
    number = match["n"]
    return _DIGITS.get(number) or _NUMBERS[int(number)]


def _moves(sentence: str, names: Collection[str]) -> Iterator[str]:
    """The sentence with its clauses in another order, by each pattern that fits."""
    if '"' in sentence or "“" in sentence or "?" in sentence:
        return
    if (match := _SAID.match(sentence)) and _movable(match["main"], names):
        who = _WHOM.get(match["who"], _lower(match["who"]))
        yield f"According to {who}, {_lower(match['main'])}{match['stop']}"
    if (match := _BUT.match(sentence)) and _movable(match["main"], names):
        yield f"Although {_lower(match['main'])}, {match['rest']}{match['stop']}"
    if match := _FIRST.match(sentence):
        main = match["main"].strip()
        if "," not in main and not main.startswith(("and ", "but ", "which ", "who ")):
            yield f"{main} {_lower(match['rest'])}{match['stop']}"
    if (match := _PASSIVE.match(sentence)) and _movable(match["what"], names):
        auxiliary = match["be"].partition(" ")[0] if " " in match["be"] else ""
        verb = f"{auxiliary} {match['verb']}".strip()
        yield f"{match['who']} {verb} {_lower(match['what'])}{match['stop']}"
    match = _ACTIVE.match(sentence)
    if match and _movable(match["who"], names) and not re.search(r"\band\b", match["rest"]):
        be = "were" if re.search(r"[a-z’'-]*[^s]s$", match["head"]) else "was"
        be = "was" if match["head"][0].isupper() else be
        done = f"{match['also'] or ''}{match['verb']} by {_lower(match['who'])}"
        yield f"{_capital(match['what'])} {be} {done}{match['rest']}{match['stop']}"
    for pattern in (_LATER, _ENDS):
        match = pattern.match(sentence)
        if match is None or _NEVER_FRONT.match(match["rest"]) or _DEPENDENT.search(match["main"]):
            continue
        if _movable(match["main"], names) and (pattern is _ENDS or _FINITE.search(match["main"])):
            yield f"{match['rest']}, {_lower(match['main'].strip())}{match['stop']}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lower(text: str) -> str:
    """A first word that is no name in small letters."""
    first = text.partition(" ")[0]
    return text[:1].lower() + text[1:] if first in _PLAIN else text


def _movable(text: str, names: Collection[str]) -> bool:
    """Whether it is known if the first word is a name: it may come to stand inside."""
    first, _, rest = text.partition(" ")
    known = first[:1].islower() or first in _PLAIN or re.sub(r"['’]s$", "", first) in names
    return known or rest[:1].isupper()


def _names(text: str) -> frozenset[str]:
    """Words with a capital that do not begin a sentence."""
    return frozenset(re.findall(r"(?<=[\w,] )[A-Z][\w-]+", text))


def _changed(sentence: str, other: str) -> float:
    """Share of the sentence's words that the other has not, or not in their order.

    What the other adds counts nothing: a lead-in before the same words rewrites none.
    """
    old, new = ([word.lower() for word in words_of(one)] for one in (sentence, other))
    kept = sum(size for *_, size in SequenceMatcher(None, old, new, False).get_matching_blocks())
    return 1 - kept / max(len(old), 1)


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
            if _changed(text[start:end], rewritten(text[start:end], text)) >= LEAST
        ]
        for place in reversed(self.chosen(len(spans), at.rng)):
            start, end = spans[place]
            text = f"{text[:end]} {rewritten(text[start:end], text)}{text[end:]}"
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
