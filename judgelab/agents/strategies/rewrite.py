"""Small operations on sentences that the strategies share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np

from judgelab.agents.strategies.lexicon import LEXICONS, STOPWORDS, WORDS, listed
from judgelab.agents.strategies.text import WORD, Sentence, Source, clauses, has_letters

T = TypeVar("T")

_ASIDE = re.compile(r"\s*\([^()]{0,200}\)")
_RELATIVE = re.compile(r",\s+(?:which|who|whose|where)\b[^,;]{0,120},")
_OPENING = re.compile(
    rf"^(?:(?:{'|'.join(listed(WORDS['DISCOURSE']))}),|but|and|so|yet)\s+", re.IGNORECASE
)
"""It only makes sense after another sentence."""

_CUT = re.compile(r"(?<=\w)[,;:—–]\s|\s(?=(?:and|but|because|while|although|when|after)\s)")
_PRELUDE = re.compile(
    r"^(?:after|although|as|at|because|before|by|during|except|for|from|if|in"
    r"|not later than|on|since|under|until|upon|when|where|while|with|within)\b"
    r"[^,]{0,160},\s+(?=\w)",
    re.IGNORECASE,
)
_DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
_DATED = re.compile(
    rf"(?<=[a-z])\s+(?:on (?:{_DAYS})(?: (?:morning|afternoon|evening|night))?|this year"
    r"|in (?:19|20)\d\d|last (?:night|week|month|year))(?=\s+[a-z])"
)
_DANGLING = re.compile(r"[,;:]?\s+(?:and|or|but)$", re.IGNORECASE)
_MOST_CHARACTERS = 320


def choose(rng: np.random.Generator, options: Sequence[T]) -> T:
    """One of the options."""
    return options[int(rng.integers(len(options)))]


def deal(rng: np.random.Generator, options: Sequence[T], n: int) -> list[T]:
    """``n`` options in random order, repeating only when they run out."""
    dealt: list[T] = []
    while len(dealt) < n:
        dealt += [options[int(i)] for i in rng.permutation(len(options))]
    return dealt[:n]


def compress(text: str, limit: int = 30) -> str:
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
    if has_letters(short):
        return capital(short)
    first = WORD.search(text)
    return capital(text[first.start() :][:_MOST_CHARACTERS]) if first else text


def _cut(text: str, limit: int) -> str:
    """At the last clause end within the limit, else at the limit less dangling function words."""
    tokens = text.split()
    head = " ".join(tokens[:limit])
    for end in sorted((m.start() for m in _CUT.finditer(head)), reverse=True):
        before = head[:end].split()
        if len(before) < limit // 3:
            break
        if _may_end(before[-1]):
            return head[:end]
    kept = tokens[:limit]
    while len(kept) > 4 and not _may_end(kept[-1]):
        kept.pop()
    return " ".join(kept)


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
    if first is None or first.group() in source.proper or first.group().split("'")[0] == "I":
        return bare
    if len(first.group()) > 1 and first.group().isupper():
        return bare
    return bare[:1].lower() + bare[1:]


def finish(text: str) -> str:
    """Capital first, one final stop, single spaces."""
    tidy = re.sub(r"\s+([,.;:!?])", r"\1", " ".join(text.split()))
    tidy = re.sub(r"([,;:])(?:\s*[,;:])+", r"\1", tidy).strip(" ,;:")
    return capital(tidy if tidy[-1:] in {".", "!", "?", '"', "…"} else f"{tidy}.")


def bullets(lines: Iterable[str]) -> str:
    """One bullet per line that says something."""
    return "\n".join(f"- {finish(line)}" for line in lines if has_letters(line))


def how_many(source: Source, rng: np.random.Generator) -> int:
    """Three or four bullets; fewer where the text has fewer sentences."""
    return min(3 + int(rng.integers(2)), len(source.sentences))


def vary(text: str, source: Source, rng: np.random.Generator, share: float = 0.4) -> str:
    """Near synonyms, and at times a leading phrase moved to the end or a date to the front."""
    varied = LEXICONS["SYNONYMS"].rewrite(text, rng, share)
    if rng.random() >= share or '"' in varied:
        return varied
    lead = _PRELUDE.match(varied)
    if lead and lead.end() < len(varied) // 2 and varied[lead.end() :].count(",") == 0:
        rest = varied[lead.end() :].rstrip(" .!?")
        return f"{capital(rest)} {embed(lead.group(), source)}"
    dated = _DATED.search(varied)
    if lead is None and dated:
        rest = f"{varied[: dated.start()]} {varied[dated.end() :].lstrip()}"
        return f"{capital(dated.group().strip())}, {embed(rest, source)}"
    return varied


def reported(sentence: Sentence, text: str, rng: np.random.Generator) -> str:
    """The text with its speaker, if it has one."""
    if sentence.speaker is None:
        return text
    form = choose(rng, ("{who} says: {text}", "{who}: {text}", "{who} tells the others: {text}"))
    return form.format(who=sentence.speaker, text=text)


def points(
    source: Source,
    rng: np.random.Generator,
    sentences: Sequence[Sentence] | None = None,
    *,
    limit: int = 30,
    paraphrase: float = 0.4,
) -> list[str]:
    """Compressed, lightly paraphrased statements, each with its speaker.

    ``sentences`` defaults to the three or four most salient. A single sentence
    is told in two halves.
    """
    chosen = source.salient(rng, how_many(source, rng)) if sentences is None else sentences
    told: list[str] = []
    for sentence in chosen:
        parts = [sentence.text]
        if len(chosen) == 1 and len(sentence.text.split()) > 12:
            parts = _halves(sentence.text)
        for part in parts:
            text = vary(compress(part, limit), source, rng, paraphrase)
            told.append(reported(sentence, text, rng))
    return told[:4]


def _halves(text: str) -> list[str]:
    """Two statements from one long sentence, if it has a clause end to part them at."""
    parts = clauses(text)
    if len(parts) < 2:
        return [text]
    middle = (len(parts) + 1) // 2
    return [", ".join(parts[:middle]), ", ".join(parts[middle:])]
