"""A reply made ready for reading: its answer without thoughts, marks and odd digits.

Everything that reads a reply works in time linear in its length. Of a long one only the two ends
are read (``ends``), so that no pattern ever sees more than ``2 * END`` characters; within these,
runs of blanks are single ones, and no pattern has two ways to match the same run.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TypeVar

Value = TypeVar("Value")

END = 4000
"""Characters that are read of each end of a reply; one of up to twice as many is read whole."""
_MOST_FIELDS = 1000  # of a JSON object; one with more states no verdict
_NAMES = ("think", "thinking", "thought", "reasoning", "analysis")
_THOUGHTS = re.compile(rf"<(/?)({'|'.join(_NAMES)})>", re.I)
_TOKENS = re.compile(r"<pad>|</?s>|<\|[\w-]{1,60}\|>", re.I)
_NEXT_TURN = re.compile(
    r"\n\s*#{2,}\s*(?:human|user|assistant|task|passage|question|instruction|input)\b", re.I
)
_TAG = re.compile(r"<([A-Za-z][\w-]{0,60})>\s*([^<>]{0,200}?)\s*</\1>")
_MARKS = re.compile(r"[*`#]+|(?<!\w)_+|(?<=[^\W_])_+(?!\w)|^[ \t]*>+", re.MULTILINE)
_BLANKS = ((r"[^\S\n]+", " "), (r" ?\n ?", "\n"), (r"\n{3,}", "\n\n"))


def answer_of(text: str | None) -> str:
    """The reply without what a model thinks aloud before it; '' where it never came to an answer.

    Full-width and non-English digits become 0-9, padding tokens go, and so does a further turn of
    the conversation that the model makes up (``### Human: ...``). The middle of a long reply goes
    too; a JSON object in it stays whole (see ``fields``).
    """
    plain = unicodedata.normalize("NFKC", ends(text or ""))
    plain = "".join(
        str(unicodedata.digit(c)) if c.isdigit() and not c.isascii() else c for c in plain
    )
    answer = _without_thoughts(_TOKENS.sub(" ", ends(plain)))  # one character may become eighteen
    if answer is None:
        return ""
    plain = _narrow(answer)
    turn = _NEXT_TURN.search(plain)
    return plain if turn is None else plain[: turn.start()]


def ends(text: str) -> str:
    """The first and the last ``END`` characters of a long text, less thoughts in between."""
    if len(text) <= 2 * END:
        return text
    small = text.lower()
    small = small if len(small) == len(text) else text
    closed = max(small.rfind(f"</{name}>") for name in _NAMES)
    if max(small.rfind(f"<{name}>") for name in _NAMES) > closed:
        return f"<{_NAMES[0]}>"  # it never came to an answer
    head, tail = text[:END], text[-END:]
    if closed >= END:  # thoughts go on beyond the head: it is they, or what stands before them
        begun = [m for m in _THOUGHTS.finditer(head) if not m[1]]
        head = head[: begun[-1].start()] if begun else ""
        after = text.index(">", closed) + 1
        tail = text[max(after, len(text) - END) :]
    return f"{head}\n\n…\n\n{tail}" if head else tail


def _without_thoughts(text: str) -> str | None:
    """The text without thoughts; None where some begin and never end."""
    marks = list(_THOUGHTS.finditer(text))
    ending: dict[str, list[int]] = {}
    for mark in marks:
        if mark[1]:
            ending.setdefault(mark[2].lower(), []).append(mark.start())
    kept, at = [], 0
    for mark in marks:
        if mark[1] or mark.start() < at:
            continue
        stops = ending.get(mark[2].lower(), [])
        stop = bisect_left(stops, mark.end())
        if stop < len(stops):
            kept.append(text[at : mark.start()])
            at = text.index(">", stops[stop]) + 1
    left = " ".join([*kept, text[at:]])
    last = max((m.end() for m in _THOUGHTS.finditer(left) if m[1]), default=0)
    left = left[last:]
    return None if _THOUGHTS.search(left) else left


def without_marks(text: str) -> str:
    """The text less markdown's stars, backticks, number signs and quoting."""
    return _narrow(_MARKS.sub("", text.replace("\\n", "\n")))


def _narrow(text: str) -> str:
    """The text with single blanks, and at most one empty line in a row."""
    for blanks, one in _BLANKS:
        text = re.sub(blanks, one, text)
    return text.strip()


def tags(text: str) -> Iterator[tuple[str, str]]:
    """(name in small letters, content) of every tag without tags inside."""
    yield from ((match[1].casefold(), match[2]) for match in _TAG.finditer(text))


def fields(text: str, whole: str | None = None) -> tuple[list[tuple[str, object]], str]:
    """(key, value) of the one JSON object in a reply, those inside it too, and the other text.

    Args:
        whole: the reply before its middle was left out, which may hold the whole object.
    """
    for source in (text, whole or ""):
        start, end = source.find("{"), source.rfind("}")
        if start < 0 or end < start:
            continue
        try:
            found = _flat(json.loads(source[start : end + 1]))
        except (ValueError, RecursionError):
            continue
        if len(found) <= _MOST_FIELDS:
            return found, answer_of(source[:start] + source[end + 1 :])
    return [], text


def _flat(value: object) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    left = list(value.items())[::-1] if isinstance(value, dict) else []
    while left and len(found) <= _MOST_FIELDS:
        key, each = left.pop()
        if isinstance(each, dict):
            left += list(each.items())[::-1]
        else:
            found.append((str(key)[:END].casefold().strip(), each))
    return found


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
