"""Sections of a review under their headers, and sentences of a line or of a whole text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

HEADERS = (
    "Summary Of The Paper",
    "Strength And Weaknesses",
    "Strengths And Weaknesses",
    "Clarity, Quality, Novelty And Reproducibility",
    "Summary Of The Review",
)
"""The four sections of an ICLR 2023 review; the paper spells the second one otherwise than the
reviews themselves do."""

_WORD = re.compile(r"\w")
_STOP = re.compile(r"[.?!][\"'”’)\]*_`]*(?=\s)")
_MARKDOWN = r"[ \t]*#{1,6}[ \t]+\S[^\n]*"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a review; ``header + body`` is that part as written.

    Attributes:
        header: the header as written, up to its colon or the end of its line; empty for what
            comes before the first one.
        name: which of the headers asked for it is; None for any other markdown heading.
        body: everything up to the next header, white space and line breaks included.
    """

    header: str
    name: str | None
    body: str


def sections(text: str, headers: Sequence[str] = HEADERS) -> list[Section]:
    """The sections of a text, in order; joined they are the text.

    A header begins a line, in any case, plain or in markdown, and ends with a colon or with its
    line. Markdown headings (``# Title``) are headers too, whatever they say.
    """
    found: list[Section] = []
    header, name, start = "", None, 0
    names = {header.casefold(): header for header in headers}
    for match in _pattern(headers).finditer(text):
        if header or match.start() > 0:
            found.append(Section(header, name, text[start : match.start()]))
        said = match["name"]
        header, name, start = match[0], names[said.casefold()] if said else None, match.end()
    return [*found, Section(header, name, text[start:])]


def line_sentences(line: str) -> list[str]:
    """The sentences of one line, each with the stop that ends it.

    A stop (period, question mark, exclamation mark) ends a sentence before white space or the
    end of the line, so neither ``3.5`` nor ``e.g.,`` is cut. What holds no letter is no sentence:
    a list number belongs to the sentence after it, and a rule or an empty line has none.
    """
    pieces: list[str] = []
    start, pending = 0, 0
    ends = [match.end() for match in _STOP.finditer(line)]
    for end in [*ends, len(line)]:
        if any(c.isalpha() for c in line[pending:end]):
            pieces.append(line[start:end].strip())
            start = end
        pending = end
    if pieces and line[start:].strip():
        pieces[-1] = f"{pieces[-1]} {line[start:].strip()}"
    return pieces


def sentences(text: str, language: str = "en") -> list[str]:
    """The sentences in order, stripped; a piece without a letter or digit joins the one before.

    Args:
        text: any text; line breaks end sentences.
        language: code of the language, for its abbreviations.
    """
    import sentencex

    found: list[str] = []
    for piece in sentencex.segment(language, text):
        stripped = piece.strip()
        if not stripped:
            continue
        if found and not _WORD.search(stripped):
            found[-1] = f"{found[-1]} {stripped}"
        else:
            found.append(stripped)
    return found


def _pattern(headers: Sequence[str]) -> re.Pattern[str]:
    """Longest header first, so that none hides another that it begins."""
    longest = sorted(headers, key=len, reverse=True)
    name = "|".join(re.escape(header) for header in longest) or r"(?!)"
    named = rf"[ \t#*_]*(?P<name>{name})[ \t]*[*_]*[ \t]*(?::[*_]*|(?=\r?$))"
    return re.compile(rf"^(?:{named}|{_MARKDOWN})", re.IGNORECASE | re.MULTILINE)
