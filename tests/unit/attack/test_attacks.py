"""The attacks, byte for byte, and what their markers may and may not tell."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from judgelab.attack.abstract_only import AbstractOnly
from judgelab.attack.case_flip import CaseFlip
from judgelab.attack.format import Format
from judgelab.attack.padding import Padding
from judgelab.attack.pattern import Pattern
from judgelab.attack.protocol import ATTACKED, Attack
from judgelab.attack.repetition import Repetition
from judgelab.config import build
from judgelab.core.errors import ConfigError
from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.prompt import Prompt
from tests.scripted import NOBODY, ScriptedChat, panel_of

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


CONF = Path(__file__).resolve().parents[3] / "conf" / "attack"
BY_LM = {"fictional_entities", "rewriting_insertion"}
NAMES = sorted({path.stem for path in CONF.glob("*.yaml")} - {"none"} - BY_LM)
TEXT = "Paris won in 2012. It isn't a loss, they said. The red bridge was opened by the new mayor."
CATEGORIES = ("Faithful", "Strategic", "Low Effort", "Other")


def sided_panel(categories: tuple[str | None, ...] = CATEGORIES) -> Panel:
    made = panel_of([[f"{TEXT} Agent {j} of {k}." for j in range(4)] for k in range(3)], categories)
    items = tuple(
        replace(i, synopsis="A town. A bridge.", meta={"wrong": "No."}) for i in made.items
    )
    return replace(made, items=items)


def attack(name: str, **settings: Any) -> Attack:
    node = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    made: Attack = build({**node, **settings}, "attack")
    return made


@pytest.mark.parametrize("name", NAMES)
def test_every_attack_changes_those_alone_and_as_it_changes_everybody(name: str) -> None:
    clean = sided_panel()
    whole = attack(name).apply(clean, NOBODY, seed=3)
    some = attack(name, on="problematic").apply(clean, NOBODY, seed=3)
    assert whole.provenance["attack"] == name, "a column of results is called as the option"
    assert some.provenance[ATTACKED] == ["a1", "a2"]
    assert ATTACKED not in whole.provenance
    assert "on" not in whole.provenance["attack_settings"]  # type: ignore[operator]
    assert some.provenance["attack_settings"]["on"] == "problematic"  # type: ignore[index]
    for before, all_of_them, row in zip(clean.texts, whole.texts, some.texts, strict=True):
        assert row == (before[0], all_of_them[1], all_of_them[2], before[3])
    assert whole.texts != clean.texts


@pytest.mark.parametrize(
    ("on", "names"),
    [
        ("good", ["a0"]),
        ("Low Effort", ["a2"]),
        (["a3", "Strategic"], ["a1", "a3"]),
        (["all"], None),
        (["good", "problematic", "a3"], None),
    ],
)
def test_sides_categories_agents_can_be_named(on: str | list[str], names: list[str] | None) -> None:
    made = Repetition(on=on).apply(sided_panel(), NOBODY, seed=0)
    assert made.provenance.get(ATTACKED) == names, "where all attack, none is named"
    whole = Repetition().apply(sided_panel(), NOBODY, seed=0)
    assert (made.texts == whole.texts) == (names is None)


def test_the_paper_s_category_counts_where_the_release_has_another() -> None:
    clean = sided_panel(("Faithful", "Style", "Low Effort", "Other"))
    agents = [replace(a, meta={"category_paper": "Strategic"} if a.name == "a1" else {})
              for a in clean.agents]  # fmt: skip
    made = Repetition(on="problematic").apply(replace(clean, agents=tuple(agents)), NOBODY, seed=0)
    assert made.provenance[ATTACKED] == ["a1", "a2"]


def test_an_lm_is_asked_for_the_attacked_alone() -> None:
    lm = ScriptedChat(lambda request: "Written anew.")
    one = AbstractOnly(Prompt("review_of_synopsis.txt"), by="lm", on=["a1"])
    made = one.apply(sided_panel(), lm, seed=0)
    assert len(lm.seen) == 3
    assert [row[1] for row in made.texts] == ["Written anew."] * 3


@pytest.mark.parametrize(
    ("categories", "on", "said"),
    [
        ((None,) * 4, "problematic", "no agent of this panel is of category Low Effort or Strat"),
        (CATEGORIES, "Strategik", "Strategik: no agent of this panel is this. Did you mean"),
        (CATEGORIES, [], "attack.on names nobody"),
    ],
)
def test_nobody_to_attack_is_refused(categories: Any, on: Any, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Repetition(on=on).apply(sided_panel(categories), NOBODY, seed=0)
    assert said in str(caught.value)
