"""Reading a text: sentences, utterances, words and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import sentencex

from judgelab.agents.strategies.lexicon.common import HEADINGS, STOPWORDS

WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_UTTERANCE = re.compile(r"\s*([^\W\d_][\w .'’\-]{0,29}?)\s*:\s+(\S.*)")
_TAG = re.compile(r"<[^<>\n]{0,40}>|\[[^\[\]\n]{0,60}\]|[*_#`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}")
_HEADING = re.compile(r"\s*#{1,6}\s")
_CAPTION = re.compile(r"^(?:\(\w{1,4}\)\s*)*(?:[A-Z][\w ,'-]{0,60}\.--)?(?:\(\w{1,4}\)\s*)*")
_CLAUSE = re.compile(r"(?<=[,;:—–])\s+|\s+(?=(?:and|but|because|while|although|so that)\s)")
_SMALL_START = re.compile(r"[a-z]{2}[.!?]\s+[a-z]")
_CAPITAL_START = re.compile(r"[a-z]{2}[.!?]\s+[A-Z]")
_STOP = re.compile(r"(?<=[.!?])\s+")
_LONGEST = 45
"""Words in one unit: text without punctuation is cut here."""


def words(text: str) -> list[str]:
    """The words, in order."""
    return WORD.findall(text)


def content_words(text: str) -> list[str]:
    """Words that are not function words, lower case, in order."""
    lowered = (word.lower() for word in words(text))
    return [word for word in lowered if len(word) > 1 and word not in STOPWORDS]


def numbers(text: str) -> list[str]:
    """Numerals as written."""
    return NUMBER.findall(text)


def has_letters(text: str | None) -> bool:
    """Whether there is anything to read."""
    return text is not None and WORD.search(text) is not None


def units(text: str) -> list[tuple[str | None, str]]:
    """(speaker or None, sentence), in order; every sentence holds a word."""
    lines = _plain(text).splitlines()
    turns = _turns([line for line in lines if line.strip()])
    lines = [line for line in lines if not _HEADING.match(line)] or lines
    blocks = turns if turns is not None else [(None, block) for block in _blocks(lines)]
    found = [
        (speaker, piece)
        for speaker, block in blocks
        for sentence in _sentences(block)
        for piece in _cut(_clean(sentence))
        if has_letters(piece)
    ]
    if not found and has_letters(text):
        return [(None, " ".join(text.split()))]
    if turns is not None:
        return found
    return [unit for unit in found if not unit[1].isupper()] or found  # less its headings


def _plain(text: str) -> str:
    """Typewriter quotes, and a line break where joined documents meet."""
    for old, new in (("’", "'"), ("``", '"'), ("''", '"'), ("|||||", "\n\n")):
        text = text.replace(old, new)
    return text


def clauses(sentence: str) -> list[str]:
    """The sentence at its commas and conjunctions; every clause holds a word."""
    parts = (part.strip(" ,;:") for part in _CLAUSE.split(sentence))
    return [part for part in parts if has_letters(part)]


def _turns(lines: list[str]) -> list[tuple[str | None, str]] | None:
    """Lines of the form ``Name: words`` as turns, or None where the text is no dialogue."""
    matches = [_UTTERANCE.fullmatch(line) for line in lines]
    speakers = [m.group(1) for m in matches if m and m.group(1).lower() not in HEADINGS]
    repeated = len(set(speakers)) < len(speakers) or len(lines) == 2
    if len(speakers) < 2 or len(speakers) < 0.6 * len(lines) or not repeated:
        return None
    turns: list[tuple[str | None, str]] = []
    for line, match in zip(lines, matches, strict=True):
        if match is not None:
            turns.append((match.group(1), match.group(2)))
        else:
            turns.append((turns[-1][0] if turns else None, line))
    return turns


def _blocks(lines: list[str]) -> Iterator[str]:
    """Paragraphs and lines, with those that a text editor wrapped joined again."""
    pending: list[str] = []
    for line in lines:
        stripped = line.strip()
        if pending and stripped and _wrapped(pending[-1], stripped):
            pending.append(stripped)
            continue
        if pending:
            yield " ".join(pending)
        pending = [stripped] if stripped else []
    if pending:
        yield " ".join(pending)


def _wrapped(line: str, following: str) -> bool:
    if line[-1] in '.!?:"':
        return False
    return following[0].islower() or (len(line) > 55 and (line[-1].isalnum() or line[-1] in ",;"))


def _sentences(block: str) -> Iterator[str]:
    """Sentences; where a writer never starts one with a capital, any stop ends it."""
    if len(_SMALL_START.findall(block)) > len(_CAPITAL_START.findall(block)):
        yield from _STOP.split(block)
    else:
        yield from sentencex.segment("en", block)


def _clean(sentence: str) -> str:
    bare = _TAG.sub(" ", _CAPTION.sub("", sentence.strip()))
    return " ".join(bare.split()).strip("-•*–— ")


def _cut(sentence: str) -> Iterator[str]:
    """Pieces of at most ``_LONGEST`` words, at clause ends where there are any."""
    if len(sentence) < 6 * _LONGEST or len(sentence.split()) <= _LONGEST:
        yield sentence
        return
    piece: list[str] = []
    for clause in _CLAUSE.split(sentence):
        tokens = clause.split()
        if piece and len(piece) + len(tokens) > _LONGEST:
            yield " ".join(piece)
            piece = []
        piece += tokens
        while len(piece) > _LONGEST:
            yield " ".join(piece[:_LONGEST])
            piece = piece[_LONGEST:]
    if piece:
        yield " ".join(piece)
