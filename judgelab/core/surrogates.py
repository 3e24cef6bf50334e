"""Texts that are no Unicode: half a character, as a JSON file or a cut reply can hold one."""

from __future__ import annotations

HALVED = "a text holds half a character (a lone surrogate)"


def halved(text: str) -> bool:
    """Whether a text cannot be encoded: no tokenizer and no server takes it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
