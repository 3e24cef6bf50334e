"""Judges that a scripted server plays, by the name of the model: what is wrong with each is known.

Texts report facts that their source lists; the more of them, the better the text
(``tests.reports`` writes such texts).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

SHOWN = re.compile(
    r"\[Request\]\n(.*)\n\[End of request\].*\[Answer one\]\n(.*)\n\[End of answer one\].*"
    r"\[Answer two\]\n(.*)\n\[End of answer two\]",
    re.DOTALL,
)
MARKER = re.compile(r"<[0-9a-f]{6}>")
NOISE = 0.12


def verdict(model: str, prompt: str) -> str | None:
    """What this judge replies; None where it is no such judge, or no such question."""
    shown = SHOWN.search(prompt)
    if model not in JUDGES or shown is None:
        return None
    return JUDGES[model](*shown.groups())


def facts(source: str, text: str) -> int:
    """How many of the facts that the source lists the text reports."""
    listed = re.findall(r"[a-z]+", source.partition(":")[2])
    return len(set(listed) & set(re.findall(r"[a-z]+", text.lower())))


def oracle(source: str, one: str, two: str) -> str:
    """The text with more facts; of two equal ones it says so."""
    lead = facts(source, one) - facts(source, two)
    return "tie" if lead == 0 else "one" if lead > 0 else "two"


def lengthy(source: str, one: str, two: str) -> str:
    """The longer text."""
    return "one" if len(one.split()) >= len(two.split()) else "two"


def first(source: str, one: str, two: str) -> str:
    """The text shown first."""
    return "one"


def noisy(source: str, one: str, two: str) -> str:
    """As the oracle, but wrong every now and then, each order by itself."""
    said = oracle(source, one, two)
    drawn = hashlib.sha256("\n".join((source, one, two)).encode()).digest()[0] / 256
    return {"one": "two", "two": "one", "tie": "tie"}[said] if drawn < NOISE else said


def markers(source: str, one: str, two: str) -> str:
    """The text in a marker, whatever it says; without one as the oracle."""
    marked = [bool(MARKER.search(text)) for text in (one, two)]
    return oracle(source, one, two) if marked[0] == marked[1] else "one" if marked[0] else "two"


def garbage(source: str, one: str, two: str) -> str:
    """Words that choose neither."""
    return "What a fine day it is to read about harbours, lamps and fog!"


JUDGES: dict[str, Callable[[str, str, str], str]] = {
    "oracle": oracle,
    "lengthy": lengthy,
    "first": first,
    "noisy": noisy,
    "markers": markers,
    "garbage": garbage,
}
