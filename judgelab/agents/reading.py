"""Reading a text: sentences with their weight, speakers, names, topics, words and numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import sentencex

from judgelab.core import resources

TABLES: Mapping[str, Any] = resources.words("agents/words/tables.yaml")
STOPWORDS = frozenset(TABLES["STOPWORDS"])  # words that carry grammar more than content
_HEADINGS = frozenset(TABLES["HEADINGS"])  # before a colon they open a section, and are no name
_NO_NAMES = STOPWORDS.union(TABLES["CALENDAR"])
_DETERMINERS = frozenset(TABLES["DETERMINERS"])
_NO_TOPICS = _NO_NAMES.union(TABLES["UNITS"])

WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_UTTERANCE = re.compile(r"\s*([^\W\d_][\w .'’\-]{0,29}?)\s*:\s+(\S.*)")
_TAG = re.compile(
    r"<[^<>\n]{0,40}>|\[[^\[\]\n]{0,60}\]|(?<![\w*])[*_#`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}(?![\w*])"
)
_HEADING = re.compile(r"\s*#{1,6}\s")
_CAPTION = re.compile(r"^(?:\(\w{1,4}\)\s*)*(?:[A-Z][\w ,'-]{0,60}\.--)?(?:\(\w{1,4}\)\s*)*")
_SMALL_START = re.compile(r"[a-z]{2}[.!?]\s+[a-z]")
_CAPITAL_START = re.compile(r"[a-z]{2}[.!?]\s+[A-Z]")
_STOP = re.compile(r"(?<=[.!?])\s+")
_REFERENCES = re.compile(r"\n\W*(?:\d+\W+)?(?:references|bibliography)\W*\n.*", re.I | re.DOTALL)
_LONGEST = 90  # words in one unit: text without punctuation is cut here

_TOKEN = re.compile(r"[\w'’-]+|[^\w\s]")
_TOPIC = re.compile(r"[^\W\d_]{4,}(?<!ing)(?<!ed)(?<!ly)")
_LONGEST_NAME = 4
TASTE = 0.2  # spread of a writer's own judgement
_OPENS = '.!?:"“(—-'
_JOINTS = (" ", " of ", " de ", " & ", " van ", " von ")


def has_letters(text: str | None) -> bool:
    """Whether there is anything to read."""
    return text is not None and WORD.search(text) is not None


def units(text: str) -> list[tuple[str | None, str]]:
    """(speaker or None, sentence), in order; every sentence holds a word."""
    lines = _plain(text).splitlines()
    turns = _turns([line for line in lines if line.strip()])
    lines = [line for line in lines if not _HEADING.match(line)] or lines
    pieces = [
        (speaker, sentence)
        for speaker, block in turns or [(None, block) for block in _blocks(lines)]
        for sentence in _sentences(block)
        if has_letters(sentence)
    ] or [(None, " ".join(text.split()))]
    less_headings = [unit for unit in pieces if not unit[1].isupper()]
    return pieces if turns else less_headings or pieces


def _plain(text: str) -> str:
    """Typewriter quotes, a line break where joined documents meet, no list of references."""
    less = _REFERENCES.sub("", text)
    text = less if 2 * len(less) > len(text) else text
    for old, new in (("’", "'"), ("``", '"'), ("''", '"'), ("|||||", "\n\n")):
        text = text.replace(old, new)
    return text


def _turns(lines: list[str]) -> list[tuple[str | None, str]]:
    """Lines of the form ``Name: words`` as turns; none where the text is no dialogue."""
    matches = [_UTTERANCE.fullmatch(line) for line in lines]
    speakers = [m[1] for m in matches if m and m[1].lower() not in _HEADINGS]
    repeated = len(set(speakers)) < len(speakers) or len(lines) == 2
    if len(speakers) < 2 or len(speakers) < 0.6 * len(lines) or not repeated:
        return []
    turns: list[tuple[str | None, str]] = []
    for line, match in zip(lines, matches, strict=True):
        speaker = turns[-1][0] if turns else None
        turns.append((match[1], match[2]) if match else (speaker, line))
    return turns


def _blocks(lines: list[str]) -> list[str]:
    """Paragraphs and lines, with those that a text editor wrapped joined again."""
    blocks: list[list[str]] = [[]]
    for line in map(str.strip, lines):
        if not (line and blocks[-1] and _wrapped(blocks[-1][-1], line)):
            blocks.append([])
        blocks[-1] += [line] if line else []
    return [" ".join(block) for block in blocks if block]


def _wrapped(line: str, following: str) -> bool:
    goes_on = following[0].islower() and line[-1] not in '.!?:"'
    return goes_on or (len(line) > 55 and (line[-1].isalnum() or line[-1] in ",;"))


def _sentences(block: str) -> Iterator[str]:
    """Sentences without markup, in pieces of at most ``_LONGEST`` words; where a writer never
    starts one with a capital, any stop ends it."""
    small = len(_SMALL_START.findall(block)) > len(_CAPITAL_START.findall(block))
    for sentence in _STOP.split(block) if small else sentencex.segment("en", block):
        bare = _TAG.sub(" ", _CAPTION.sub("", sentence.strip()))
        tidy = " ".join(bare.split()).strip("-•*–— ")
        tokens = tidy.split()
        size = _LONGEST if len(tidy) >= 6 * _LONGEST else max(len(tokens), 1)
        for start in range(0, len(tokens), size):
            yield " ".join(tokens[start : start + size])


class Sentence(NamedTuple):
    """One sentence or turn."""

    text: str  # without line breaks and markup
    position: int  # 0 for the first
    speaker: str | None  # who says it, in a dialogue
    salience: float  # how much of the text's recurring vocabulary it holds, above 0


@dataclass(frozen=True)
class Source:
    """A text and what can be read off it."""

    text: str  # what the agent works on (for a translation: the base translation)
    noun: str = "text"  # what such a text is called
    original: str | None = None  # the text in the other language, where there is one

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """In order; empty only where the text has no letters."""
        pieces = units(self.text)
        lowered = [map(str.lower, WORD.findall(piece)) for _, piece in pieces]
        bags = [[w for w in own if len(w) > 1 and w not in STOPWORDS] for own in lowered]
        frequency = Counter(word for bag in bags for word in bag)
        return tuple(
            Sentence(piece, i, speaker, _salience(bag, frequency, i))
            for i, ((speaker, piece), bag) in enumerate(zip(pieces, bags, strict=True))
        )

    @cached_property
    def proper(self) -> frozenset[str]:
        """Words that keep their capital inside a sentence: those of speakers and other names."""
        plain = {word for s in self.sentences for word in WORD.findall(s.text) if word[0].islower()}
        names = [s.speaker for s in self.sentences if s.speaker]
        names += [name for s in self.sentences for name in _names_in(s.text, plain)]
        return frozenset(token for name in names for token in WORD.findall(name))

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """Lower-case content words by frequency, names left out, lone ones last; at most 12.

        A word that closes a noun phrase (a function word or a stop follows it) counts more, most of
        all behind an article; one that ends as participles and adverbs do is left out.
        """
        proper = {token.lower() for token in self.proper}
        counts, occurrences = Counter[str](), Counter[str]()
        for sentence in self.sentences:
            tokens = ["", *_TOKEN.findall(sentence.text.lower()), ""]
            for before, word, following in zip(tokens, tokens[1:], tokens[2:], strict=False):
                if not _TOPIC.fullmatch(word) or word in {*_NO_TOPICS, *proper, self.noun}:
                    continue
                closes = not following.isalpha() or following in STOPWORDS - _DETERMINERS
                counts[word] += 1 + 2 * closes + 4 * (closes and before in _DETERMINERS)
                occurrences[word] += 1
        return tuple(sorted(counts, key=lambda word: (occurrences[word] == 1, -counts[word])))[:12]

    def salient(
        self,
        rng: np.random.Generator,
        n: int,
        weight: Callable[[Sentence], float] = lambda _: 1.0,
    ) -> list[Sentence]:
        """The ``n`` sentences of most weight, in order of the text.

        Two writers agree on what is central and differ at the margin (``TASTE``). Sentences of
        weight 0 or less are never taken.
        """
        noise = np.exp(TASTE * rng.standard_normal(len(self.sentences)))
        worth = [weight(s) * s.salience * own for s, own in zip(self.sentences, noise, strict=True)]
        eligible = [s for s in self.sentences if worth[s.position] > 0]
        most = sorted(eligible, key=lambda s: -worth[s.position])[:n]
        return sorted(most, key=lambda s: s.position)


def _salience(bag: list[str], frequency: Counter[str], position: int) -> float:
    """Mean log frequency of the distinct content words; fragments and late ones count less."""
    distinct = dict.fromkeys(bag)  # not a set: the order of a sum is part of its value
    if not distinct:
        return 0.01
    mean = sum(math.log1p(frequency[word]) for word in distinct) / len(distinct)
    return mean * min(1.0, len(distinct) / 6) * (1 + 0.5 / (1 + position))


def _names_in(sentence: str, plain: set[str]) -> list[str]:
    """Runs of capitalised words; the first word of a sentence needs company to count."""
    runs: list[list[re.Match[str]]] = []
    for match in filter(_is_capital, WORD.finditer(sentence)):
        if runs and sentence[runs[-1][-1].end() : match.start()] in _JOINTS:
            runs[-1].append(match)
        else:
            runs.append([match])
    names = []
    for run in runs:
        before = sentence[: run[0].start()].rstrip()
        opens = not before or before[-1] in _OPENS
        words = run[1:] if opens and len(run) != 2 else run
        if words and len(words) <= _LONGEST_NAME:
            name = sentence[words[0].start() : words[-1].end()]
            names += [name] if len(words) > 1 or name.lower() not in plain else []
    return names


def _is_capital(match: re.Match[str]) -> bool:
    word = match[0]
    shouted = word.isupper() and len(word) > 5
    common = word.lower() in _NO_NAMES or word.startswith("I'")
    return len(word) > 1 and word[0].isupper() and not (common or shouted)
