"""A reply made ready for reading: its answer without thoughts, marks and odd digits."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TypeVar

Value = TypeVar("Value")

_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning|analysis)>.*?</\1>", re.DOTALL | re.I)
_OPEN = re.compile(r"<(?:think|thinking|thought|reasoning|analysis)>", re.I)
_CLOSED = re.compile(r".*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.I)
_TOKENS = re.compile(r"<pad>|</?s>|<\|[\w-]+\|>", re.I)
_NEXT_TURN = re.compile(
    r"\n\s*#{2,}\s*(?:human|user|assistant|task|passage|question|instruction|input)\b.*",
    re.DOTALL | re.I,
)
_TAG = re.compile(r"<([A-Za-z][\w-]*)>\s*([^<>]{0,200}?)\s*</\1>")
_MARKS = re.compile(r"[*`#]+|(?<!\w)_+|_+(?!\w)|^[ \t]*>+", re.MULTILINE)


def answer_of(text: str | None) -> str:
    """The reply without what a model thinks aloud before it; '' where it never came to an answer.

    Full-width and non-English digits become 0-9, padding tokens go, and so does a further turn of
    the conversation that the model makes up (``### Human: ...``).
    """
    plain = unicodedata.normalize("NFKC", text or "")
    plain = "".join(
        str(unicodedata.digit(c)) if c.isdigit() and not c.isascii() else c for c in plain
    )
    plain = _THOUGHT.sub(" ", _TOKENS.sub(" ", plain))
    plain = re.sub(r"[ \t]+", " ", _CLOSED.sub(" ", plain)).strip()
    return "" if _OPEN.search(plain) else _NEXT_TURN.sub("", plain)


def without_marks(text: str) -> str:
    """The text less markdown's stars, backticks, number signs and quoting."""
    return _MARKS.sub("", text.replace("\\n", "\n")).strip()


def tags(text: str) -> Iterator[tuple[str, str]]:
    """(name in small letters, content) of every tag without tags inside."""
    yield from ((match[1].casefold(), match[2]) for match in _TAG.finditer(text))


def fields(text: str) -> tuple[list[tuple[str, object]], str]:
    """(key, value) of the one JSON object in a reply, those inside it too, and the other text."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return [], text
    try:
        found = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return [], text
    return list(_flat(found)), text[:start] + text[end + 1 :]


def _flat(found: object) -> Iterator[tuple[str, object]]:
    if isinstance(found, dict):
        for key, value in found.items():
            if isinstance(value, dict):
                yield from _flat(value)
            else:
                yield str(key).casefold().strip(), value


def lone_lines(text: str) -> list[str]:
    """The first and the last line that are not blank, once where they are the same line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[:1] + lines[1:][-1:]


def agreed(levels: Sequence[Sequence[Value | None]]) -> Value | None:
    """What the first level that says anything says, if it says one thing; None otherwise.

    Args:
        levels: statements, the strongest kind first; None is a statement that is ambiguous.
    """
    for said in levels:
        if said:
            return said[0] if len(set(said)) == 1 else None
    return None
