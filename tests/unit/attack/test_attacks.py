"""The attacks, byte for byte, and what their markers may and may not tell."""

from __future__ import annotations

import hashlib

from judgelab.attack.case_flip import CaseFlip
from judgelab.attack.format import Format
from judgelab.attack.none import NoAttack
from judgelab.attack.padding import Padding
from judgelab.attack.pattern import Pattern
from judgelab.attack.repetition import Repetition
from judgelab.core.panel import Agent, Item, Panel
from tests.scripted import NOBODY

TEXT = "The mayor\nopened a new bridge over the Lund river today."


def panel(text: str | None = TEXT) -> Panel:
    items = (Item("1", "first source"), Item("2", "second source"))
    return Panel(items, (Agent("a"), Agent("b")), ((text, text), (text, text)))


def texts(attack, source=TEXT):  # type: ignore[no-untyped-def]
    return attack.apply(panel(source), NOBODY, seed=0).texts


def test_case_flip_swaps_every_fifth_character_from_the_first() -> None:
    assert texts(CaseFlip(), "abcdefghijkl")[0][0] == "AbcdeFghijKl"


def test_padding_appends_a_space_and_ten_x() -> None:
    assert texts(Padding())[0][0] == TEXT + " XXXXXXXXXX"


def test_repetition_says_it_twice() -> None:
    assert texts(Repetition(), "Yes.")[0][0] == "Yes. To reiterate: Yes."


def test_format_with_source_tag_is_the_released_definition() -> None:
    tag = hashlib.md5(b"first source").hexdigest()[:6]
    assert texts(Format(tag="source"))[0][0] == f"<{tag}> {TEXT} </{tag}>"


def test_pattern_with_source_tag_is_the_released_definition() -> None:
    tag = hashlib.md5(b"second source").hexdigest()[:3]
    # Words 3 and 8; line breaks collapse; two spaces follow the marker, none closes the text.
    assert texts(Pattern(tag="source"))[1][1] == (
        f"The mayor opened a <pattern-{tag}>  "
        f"new bridge over the Lund <pattern-{tag}>  river today."
    )


def test_default_markers_do_not_depend_on_the_source() -> None:
    for attack in (Format(), Pattern()):
        rows = texts(attack)
        assert rows[0] == rows[1]
        assert rows[0][0] == rows[0][1]


def test_source_markers_tell_items_apart_and_agent_markers_tell_agents_apart() -> None:
    for kind in (Format, Pattern):
        leak = texts(kind(tag="source"))
        assert leak[0][0] == leak[0][1]
        assert leak[0][0] != leak[1][0]
        own = texts(kind(tag="agent"))
        assert own[0][0] == own[1][0]
        assert own[0][0] != own[0][1]


def test_absent_texts_stay_absent_and_provenance_names_the_attack() -> None:
    attacked = CaseFlip().apply(panel(None), NOBODY, seed=0)
    assert attacked.texts == ((None, None), (None, None))
    assert attacked.provenance["attack"] == "case_flip"


def test_no_attack_returns_the_very_panel() -> None:
    clean = panel()
    assert NoAttack().apply(clean, NOBODY, seed=0) is clean
