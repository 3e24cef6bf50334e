"""Sections of a review under their headers, headings and labels inside them, and sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from judgelab.core.resources import words

HEADERS = (
    "Summary Of The Paper",
    "Strength And Weaknesses",
    "Strengths And Weaknesses",
    "Clarity, Quality, Novelty And Reproducibility",
    "Summary Of The Review",
)
"""The four sections of an ICLR 2023 review; the paper spells the second one otherwise than the
reviews themselves do."""

_MARKDOWN = r"[ \t]*#{1,6}[ \t]+\S[^\n]*"
_TABLES = words("core/words/headings.yaml")
_TOPICS = frozenset(_TABLES["topics"].split())
_BESIDE = frozenset(_TABLES["beside"].split())
_LIST = r"(?:[-+•>]+\s+|[*]\s+|\(?(?:\d{1,2}|[A-Za-z])[.)]\s+)*"
_FRAME = r"[*_#=\-\[\]()\s]*"
_LINE = re.compile(rf"\s*{_LIST}(?P<open>{_FRAME})(?P<name>[^\n]*?)(?P<close>[*_#=\-\[\]()\s:.]*)$")
_LABEL = re.compile(
    rf"\s*{_LIST}(?:(?:\*\*|__|\[)(?P<bold>[^*_\[\]\n]{{1,60}}?)(?:\*\*|__|\])\s*(?P<after>[:.]?)"
    rf"|(?P<plain>[^\W\d_][\w/&,'’ -]{{1,40}}?)\s*:)(?=\s)"
)
_SENTENCE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|i|we|my|it|this|that|these|as|follows|following|"
    r"then|not|should|could|would|can|may|will)\b",
    re.IGNORECASE,
)
"""Words of a sentence that leads up to a list, not of a heading."""
_LONGEST = 6  # words in a heading inside a section


class Section(NamedTuple):
    """A part of a review; ``header + body`` is that part as written."""

    header: str  # as written, up to its colon or the end of its line; '' before the first one
    name: str | None  # which of the headers asked for it is; None for any other markdown heading
    body: str  # everything up to the next header, white space and line breaks included


def sections(text: str, headers: Sequence[str] = HEADERS) -> list[Section]:
    """The sections of a text, in order; joined they are the text.

    A header begins a line, in any case, plain or in markdown, and ends with a colon or with its
    line. Markdown headings (``# Title``) are headers too, whatever they say.
    """
    longest = sorted(headers, key=len, reverse=True)  # none hides another that it begins
    names_pattern = "|".join(re.escape(header) for header in longest) or r"(?!)"
    names_pattern = rf"[ \t#*_]*(?P<name>{names_pattern})[ \t]*[*_]*[ \t]*(?::[*_]*|(?=\r?$))"
    pattern = re.compile(rf"^(?:{names_pattern}|{_MARKDOWN})", re.IGNORECASE | re.MULTILINE)
    names = {header.casefold(): header for header in headers}
    parts: list[Section] = []
    header, name, start = "", None, 0
    for match in pattern.finditer(text):
        if header or match.start() > 0:
            parts.append(Section(header, name, text[start : match.start()]))
        word = match["name"]
        header, name, start = match[0], names[word.casefold()] if word else None, match.end()
    return [*parts, Section(header, name, text[start:])]


def heading(line: str, *, colon: bool = True) -> str:
    """What a heading that has its line to itself says; '' for a line that is no heading.

    Such a line is bold or framed (``**Weakness**``, ``[Clarity]``), ends with a colon
    (``Other points:``, unless ``colon`` is false), or consists of words for topics
    (``Minor comments``); it is short and no sentence ("**The attack is misleading.**").
    """
    match = _LINE.match(line)
    if match is None:
        return ""
    name, close = re.sub(r"[*_]+", " ", match["name"]).strip(), match["close"]
    if _topical(name):
        return name
    if not 0 < len(name.split()) <= _LONGEST or _SENTENCE.search(name) or re.search(r"[.?!]", name):
        return ""
    framed = match["open"].strip(" (-*_") or match["open"].count("*") > 1 or "__" in match["open"]
    ends = bool(close.strip(" .:")) and "." not in close
    return name if (framed and ends) or (colon and ":" in close) else ""


def label(line: str) -> tuple[str, str]:
    """What a line of a review begins with before its sentence, and the rest of the line.

    ``**Clarity:** The text is clear.`` is labelled ``**Clarity:** ``; a line without a label
    begins with ''.
    """
    match = _LABEL.match(line)
    if match is None:
        return "", line
    lead = match["plain"] if match["bold"] is None else match["bold"]
    bare = lead.strip(" :.")
    if bare.casefold() in {header.casefold() for header in HEADERS}:
        return "", line  # alone it would begin a section
    marked = match["bold"] is not None and re.search(r"[^\W\d_]{2}", bare) is not None
    marked = marked and (match["after"] == ":" or lead.rstrip().endswith(":"))
    if not _topical(bare) and not (marked and len(bare.split()) <= _LONGEST):
        return "", line
    end = match.end() + len(line[match.end() :]) - len(line[match.end() :].lstrip())
    return line[:end], line[end:]


def _topical(name: str) -> bool:
    """Whether a name consists of words for topics of a review, and of little beside them."""
    if re.search(r":\s*\w|\d", name):
        return False
    words = re.findall(r"[^\W_]+(?:-[^\W\d_]+)?", name.casefold().replace("(s)", "s"))
    topical = {*words} <= _TOPICS | _BESIDE and not _TOPICS.isdisjoint(words)
    return topical and len(words) <= _LONGEST


def sentences(text: str) -> list[str]:
    """The sentences in order, stripped; a piece without a letter or digit joins the one before.

    Line breaks end sentences, and English abbreviations do not.
    """
    import sentencex

    pieces: list[str] = []
    for piece in filter(None, map(str.strip, sentencex.segment("en", text))):
        if pieces and not re.search(r"\w", piece):
            pieces[-1] = f"{pieces[-1]} {piece}"
        else:
            pieces.append(piece)
    return pieces
