"""What the rule agents do to a sentence: shorten, reword, deny, or make its details wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

import numpy as np

from judgelab.agents.reading import NUMBER, STOPWORDS, TABLES, WORD, Source, has_letters

T = TypeVar("T")

_ASIDE = re.compile(r"\s*\([^()]{0,200}\)")
_RELATIVE = re.compile(r",\s+(?:which|who|whose|where)\b[^,;]{0,120},")
_OPENING = re.compile(
    rf"^(?:(?:{'|'.join(TABLES['DISCOURSE'])}),|but|and|so|yet)\s+", re.IGNORECASE
)
"""It only makes sense after another sentence."""

_CUT = re.compile(r"(?<=\w)[,;:—–]\s|\s(?=(?:and|but|because|while|although|when|after)\s)")
_PRELUDE = re.compile(
    r"^(?:after|although|as|at|because|before|by|during|except|for|from|if|in"
    r"|not later than|on|since|under|until|upon|when|where|while|with|within)\b"
    r"[^,]{0,160},\s+(?=\w)",
    re.IGNORECASE,
)
_DANGLING = re.compile(r"[,;:]?\s+(?:and|or|but)$", re.IGNORECASE)
_MOST_CHARACTERS = 320
_SYNONYMS: Mapping[str, str] = TABLES["SYNONYMS"]
_SYNONYM = re.compile(rf"(?<![\w'’-])(?:{'|'.join(_SYNONYMS)})(?![\w'’-])", re.IGNORECASE)

_TIME_OR_NUMBER = re.compile(rf"\b(?:[01]?\d|2[0-3]):[0-5]\d\b|{NUMBER.pattern}")
_NUMBER_WORDS: Sequence[str] = TABLES["NUMBER_WORDS"]
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)
_FACTORS = (0.4, 0.6, 0.7, 1.3, 1.6, 2.0, 2.4)
_THIRD = re.compile(r"\b(?:[Ww]e|[Oo]ur|us)\b")
_THIRD_PERSON = {"we": "the authors", "our": "their", "us": "them"}
_NOT = re.compile(r" not\b(?! only)|(?<=can)not\b|(?<!ca)(?<!wo)n't\b")
_VERB = re.compile(r"\b(?:is|are|was|were|will|would|can|could|should|must|may|might)\b(?=[ ])")


def choose(rng: np.random.Generator, options: Sequence[T]) -> T:
    """One of the options."""
    return options[int(rng.integers(len(options)))]


def deal(rng: np.random.Generator, options: Sequence[T], n: int) -> list[T]:
    """``n`` options in random order, repeating only when they run out."""
    dealt: list[T] = []
    while len(dealt) < n:
        dealt += [options[int(i)] for i in rng.permutation(len(options))]
    return dealt[:n]


def compress(text: str, limit: int) -> str:
    """The main statement of a sentence in about ``limit`` words, without its final stop."""
    short = _OPENING.sub("", _ASIDE.sub("", text)).strip()
    if len(short.split()) > limit:
        short = _RELATIVE.sub("", short)
        rest = _PRELUDE.sub("", short)
        short = rest if len(rest.split()) > limit // 2 else short
    if len(short.split()) > limit:
        short = _cut(short, limit)
    short = _DANGLING.sub("", short.rstrip(" .,;:"))
    if short.count('"') % 2:
        short = short.replace('"', "")
    short = short[:_MOST_CHARACTERS].strip(" .,;:!-–—")
    return capital(short) if has_letters(short) else text


def _cut(text: str, limit: int) -> str:
    """At the last clause end within the limit, else at the limit less dangling function words."""
    tokens = text.split()[:limit]
    head = " ".join(tokens)
    for end in reversed([match.start() for match in _CUT.finditer(head)]):
        before = head[:end].split()
        if len(before) < limit // 3:
            break
        if _may_end(before[-1]):
            return head[:end]
    while len(tokens) > 4 and not _may_end(tokens[-1]):
        tokens.pop()
    return " ".join(tokens)


def _may_end(token: str) -> bool:
    bare = token.lower().strip(",;:")
    return bare not in STOPWORDS and not bare[-1:].isdigit()


def capital(text: str) -> str:
    """First letter in capitals."""
    return text[:1].upper() + text[1:]


def embed(text: str, source: Source) -> str:
    """Ready to stand inside a sentence: no final stop, no capital unless it is a name."""
    bare = text.strip().rstrip(" .;:,")
    first = WORD.match(bare)
    word = first[0] if first else "I"
    shouted = len(word) > 1 and word.isupper()
    keeps = shouted or word in source.proper or word.split("'")[0] == "I"
    return bare if keeps else bare[:1].lower() + bare[1:]


def finish(text: str) -> str:
    """Capital first, one final stop, single spaces."""
    tidy = re.sub(r"\s+([,.;:!?])", r"\1", " ".join(text.split()))
    tidy = re.sub(r"([,;:])(?:\s*[,;:])+", r"\1", tidy).strip(" ,;:")
    return capital(tidy if tidy[-1:] in {".", "!", "?", '"', "…"} else f"{tidy}.")


def reword(text: str, source: Source, rng: np.random.Generator) -> str:
    """Near synonyms for about half of the words that have one, or a leading phrase put last."""
    varied = _SYNONYM.sub(
        lambda m: m[0] if rng.random() < 0.5 else _like(m[0], _SYNONYMS[m[0].lower()]),
        text,
    )
    lead = _PRELUDE.match(varied)
    if rng.random() < 0.5 or '"' in varied or lead is None:
        return varied
    rest = varied[lead.end() :]
    if len(rest) <= len(lead[0]) or "," in rest:
        return varied
    return f"{capital(rest.rstrip(' .!?'))} {embed(lead[0], source)}"


def _like(model: str, word: str) -> str:
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def third_person(text: str) -> str:
    """ "We" and "our" as a reviewer reports them."""
    return _THIRD.sub(lambda m: _like("" if m.start() else m[0], _THIRD_PERSON[m[0].lower()]), text)


def quoted(text: str) -> str:
    """In quotation marks; those inside become single ones."""
    inner = text.replace('"', "'")
    return f'"{inner}"'


def headline(text: str) -> str:
    """At most five words: those that carry the sentence."""
    words = WORD.findall(text[:2000])
    heavy = [word for word in words if word.lower() not in STOPWORDS]
    return " ".join((heavy or words)[:5])[:60]


def falsify(lines: Sequence[str], source: Source, rng: np.random.Generator) -> list[str]:
    """The lines with other numbers; one without a number says yes for no, or no for yes.

    Where that changes no line, the first is denied: something is false in every text.
    """
    forbidden = frozenset(NUMBER.findall(source.text))
    wrong = [falsify_numbers(line, forbidden, rng) for line in lines]
    wrong = [_opposite(new) if new == old else new for old, new in zip(lines, wrong, strict=True)]
    if wrong == list(lines):
        wrong[0] = f"It is not true that {embed(wrong[0], source)}"
    return wrong


def _opposite(text: str) -> str:
    """Less its first "not", else with one after its first auxiliary verb."""
    yes = _NOT.sub("", text, count=1)
    return yes if yes != text else _VERB.sub(lambda m: f"{m[0]} not", text, count=1)


def falsify_numbers(text: str, forbidden: Collection[str], rng: np.random.Generator) -> str:
    """Change every numeral and number word; no new numeral is one of ``forbidden``."""

    def numeral(match: re.Match[str]) -> str:
        if ":" not in match[0]:
            return _other_number(match[0], forbidden, rng)
        hours = [f"{h:02d}" for h in range(6, 24) if f"{h:02d}" not in forbidden] or ["05"]
        minutes = [f"{m:02d}" for m in range(5, 60, 5) if f"{m:02d}" not in forbidden] or ["01"]
        return f"{choose(rng, hours)}:{choose(rng, minutes)}"

    def word(match: re.Match[str]) -> str:
        others = [w for w in _NUMBER_WORDS if w != match[0].lower() and w[0] != "e"]
        return _like(match[0], choose(rng, others))

    return _NUMBER_WORD.sub(word, _TIME_OR_NUMBER.sub(numeral, text))


def _other_number(numeral: str, forbidden: Collection[str], rng: np.random.Generator) -> str:
    """A number of the same form and about the same size."""
    plain = numeral.replace(",", "")
    if len(plain) > 15:  # an identifier rather than a quantity: another first digit will do
        return str((int(plain[0]) + 1 + int(rng.integers(7))) % 9 + 1) + numeral[1:]
    decimals = len(plain.partition(".")[2])
    step = 10.0**-decimals
    value = float(plain)
    if not decimals and len(plain) == 4 and 1700 <= value <= 2100:
        value += choose(rng, (-9, -6, -4, -3, -2, 2, 3, 5, 7))
    elif value <= 20 * step:
        value += step * choose(rng, (1, 2, 3, 4))
    else:
        value *= choose(rng, _FACTORS)
    form = f"{',' if ',' in numeral else ''}.{decimals}f"
    while (other := format(value, form)) == numeral or other in forbidden:
        value += step
    return other


def lazy(text: str, source: Source, rng: np.random.Generator) -> str:
    """Articles and the end left out, no capitals, and words of the original left as they are."""
    tokens = [t for t in re.findall(r"[\w'-]+", text) if t.lower() not in {"the", "a", "an"}]
    foreign = [word for word in WORD.findall(source.original or "") if len(word) > 3]
    words = [
        choose(rng, foreign) if foreign and rng.random() < 0.12 else token.lower()
        for token in tokens[: max(3, round(0.7 * len(tokens)))]
    ]
    return " ".join(words)


CHANGES: Mapping[str, Callable[[list[str], Source, np.random.Generator], list[str]]] = {
    "reword": lambda lines, source, rng: [reword(line, source, rng) for line in lines],
    "wrong": falsify,
    "headline": lambda lines, *_: list(dict.fromkeys(map(headline, lines))),
    "report": lambda lines, *_: [third_person(line) for line in lines],
    "lazy": lambda lines, source, rng: [lazy(" ".join(lines), source, rng)],
}
"""What a recipe may have done to its lines, by name."""
