"""The attacks, byte for byte, and what their markers may and may not tell."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from judgelab.attack.case_flip import CaseFlip
from judgelab.attack.format import Format
from judgelab.attack.padding import Padding
from judgelab.attack.pattern import Pattern
from judgelab.attack.protocol import Attack
from judgelab.attack.repetition import Repetition
from judgelab.core.panel import Agent, Item, Panel
from tests.scripted import NOBODY

TEXT = "The mayor\nopened a new bridge over the Lund river today."
TAG = hashlib.md5(b"first source").hexdigest()


def panel(text: str | None = TEXT) -> Panel:
    items = (Item("1", "first source"), Item("2", "second source"))
    return Panel(items, (Agent("a"), Agent("b")), ((text, text), (text, text)))


def texts(attack: Attack, text: str = TEXT) -> tuple[tuple[str | None, ...], ...]:
    return attack.apply(panel(text), NOBODY, seed=0).texts


@pytest.mark.parametrize(
    ("attack", "text", "attacked"),
    [
        (CaseFlip(), "abcdefghijkl", "AbcdeFghijKl"),
        (Padding(), TEXT, f"{TEXT} XXXXXXXXXX"),
        (Repetition(), "Yes.", "Yes. To reiterate: Yes."),
        (Format(tag="source"), TEXT, f"<{TAG[:6]}> {TEXT} </{TAG[:6]}>"),
        # Words 3 and 8; line breaks collapse; two spaces follow the marker, none closes the text.
        (
            Pattern(tag="source"),
            TEXT,
            f"The mayor opened a <pattern-{TAG[:3]}>  new bridge over the Lund "
            f"<pattern-{TAG[:3]}>  river today.",
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_attacks_are_the_released_definitions(attack: Attack, text: str, attacked: str) -> None:
    assert texts(attack, text)[0][0] == attacked


@pytest.mark.parametrize("kind", [Format, Pattern])
def test_markers_tell_apart_items_or_agents_or_nothing(kind: Any) -> None:
    for settings, tells_items, tells_agents in (
        ({}, False, False),
        ({"tag": "source"}, True, False),
        ({"tag": "agent"}, False, True),
    ):
        (first, other), (below, _) = texts(kind(**settings))
        assert (first != below, first != other) == (tells_items, tells_agents)
    items = (Item("a", ""), Item("b", ""))  # of which only ids tell who they are
    blank = Panel(items, (Agent("one"),), ((TEXT,), (TEXT,)))
    attacked = kind(tag="source").apply(blank, NOBODY, seed=0).texts
    assert attacked[0] != attacked[1]


def test_absent_texts_stay_absent_and_provenance_names_the_attack() -> None:
    attacked = CaseFlip().apply(panel(None), NOBODY, seed=0)
    assert attacked.texts == ((None, None), (None, None))
    assert attacked.provenance["attack"] == "case_flip"
