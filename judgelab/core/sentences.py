"""Sentences of a text, for any language that sentencex knows."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w")


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
