"""Reading a reply: what of it is the answer, and the label, grade or JSON that it states.

Everything that reads a reply works in time linear in its length. Of a long one only the two ends
are read (``ends``), so that no pattern ever sees more than ``2 * END`` characters; within these,
runs of blanks are single ones, and no pattern has two ways to match the same run.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal, TypeVar

Value = TypeVar("Value")

END = 4000
"""Characters that are read of each end of a reply; one of up to twice as many is read whole."""
LONGEST = 200  # characters of what holds a verdict and nothing else
_MOST_FIELDS = 1000  # of a JSON object; one with more states no verdict
_THOUGHTS = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|analysis)>", re.I)
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
    answer = without_thoughts(text or "")
    if answer is None:
        return ""
    plain = unicodedata.normalize("NFKC", ends(answer))
    plain = re.sub(r"\d", lambda digit: str(unicodedata.digit(digit[0])), plain)
    plain = _narrow(_TOKENS.sub(" ", ends(plain)))  # one character may become eighteen
    turn = _NEXT_TURN.search(plain)
    return plain if turn is None else plain[: turn.start()]


def ends(text: str) -> str:
    """The first and the last ``END`` characters of a long text."""
    return text if len(text) <= 2 * END else f"{text[:END]}\n\n…\n\n{text[-END:]}"


def without_thoughts(text: str) -> str | None:
    """The text without thoughts; None where some begin and never end."""
    parts, at, within = list[str](), 0, False
    for mark in _THOUGHTS.finditer(text):
        if mark[1]:  # all before an end without a beginning are thoughts
            parts, at, within = parts if within else [], mark.end(), False
        elif not within:
            parts, within = [*parts, text[at : mark.start()]], True
    return None if within else " ".join([*parts, text[at:]])


def without_marks(text: str) -> str:
    """The text less markdown's stars, backticks, number signs and quoting."""
    return _narrow(_MARKS.sub("", text.replace("\\n", "\n")))


def _narrow(text: str) -> str:
    """The text with single blanks, and at most one empty line in a row."""
    for blanks, one in _BLANKS:
        text = re.sub(blanks, one, text)
    return text.strip()


def named_contents(text: str, whole: str | None) -> tuple[list[tuple[str, str]], str]:
    """(name in small letters, content) of the fields of a JSON object, those inside it too, and of
    every tag without tags inside; and the text around the object, which may be ``whole`` where the
    middle of the text was left out."""
    entries: list[tuple[str, str]] = []
    for source in (text, whole or ""):
        start, end = source.find("{"), source.rfind("}")
        try:
            fields = list(islice(_fields(json.loads(source[start : end + 1])), _MOST_FIELDS + 1))
        except (ValueError, RecursionError):
            continue
        if start >= 0 and len(fields) <= _MOST_FIELDS:
            text = answer_of(source[:start] + source[end + 1 :])
            entries = [(key, str(v)) for key, v in fields if type(v) in (int, float, str)]
            break
    tags = [(match[1].casefold(), match[2]) for match in _TAG.finditer(text)]
    return [(name, content) for name, content in [*entries, *tags] if len(content) < LONGEST], text


def _fields(value: Any) -> Iterator[tuple[str, object]]:
    for key, each in value.items() if isinstance(value, dict) else ():
        if isinstance(each, dict):
            yield from _fields(each)
        else:
            yield str(key)[:END].casefold().strip(), each


def lone_lines(text: str) -> list[str]:
    """The first and the last line that are not blank, once where they are the same line; none that
    is too long to be a verdict by itself."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return [line for line in lines[:1] + lines[1:][-1:] if len(line) < LONGEST]


def agreement(levels: Sequence[Sequence[Value | None]]) -> Value | None:
    """What the first level (the strongest kind of statement) that says anything says, if it says
    one thing; else None, as of a statement that is ambiguous."""
    values = next(filter(None, levels), [None])
    return values[0] if len(set(values)) == 1 else None


def read_choice(
    text: str | None, labels: Iterable[str], which: Literal["first", "last"] = "first"
) -> str | None:
    """The first or last label that the text holds as a whole word, in any case; None without one.

    Of two labels at the same place the longer one counts ("very low" before "low").
    """
    matches = labels_in(text or "", labels)
    return matches[0 if which == "first" else -1] if matches else None


def labels_in(text: str, labels: Iterable[str]) -> list[str]:
    """The labels, in small letters, that the text holds as whole words, in any case."""
    longest = sorted((label.lower() for label in labels), key=len, reverse=True)
    return re.findall(rf"(?<!\w)({'|'.join(map(re.escape, longest))})(?!\w)", text.lower())


def alternatives(words: str | Sequence[str]) -> str:
    """A pattern for any of some words, the longest first; blanks in them are any white space."""
    listed = words.split() if isinstance(words, str) else words
    longest = sorted(listed, key=len, reverse=True)
    return "|".join(re.escape(one).replace(r"\ ", r"\s+") for one in longest)
