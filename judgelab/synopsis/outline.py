"""The sentences of a document, each with the heading it stands under."""

from __future__ import annotations

import re
from collections.abc import Iterator

import sentencex

_MARKED = re.compile(r"#{1,6}\s+(.+)")
_NUMBERED = re.compile(r"(?:\d+(?:\.\d+)*|[IVX]+)\.?\s+(\S[^.!?]{0,80})")


def outline(text: str) -> Iterator[tuple[str, str]]:
    """(heading, sentence) in order; the heading is empty before the first one.

    A line is a heading where it opens with ``#``, or is short, numbered and without a full stop.
    """
    heading = ""
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped:
            continue
        found = _MARKED.fullmatch(stripped) or _NUMBERED.fullmatch(stripped)
        if found is not None:
            heading = found.group(1).strip()
            continue
        for sentence in sentencex.segment("en", stripped):
            if any(letter.isalpha() for letter in sentence):
                yield heading, " ".join(sentence.split())
