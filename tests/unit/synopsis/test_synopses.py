"""Synopses that are written: by an LM, or by rules offline."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judgelab.core.lm import Capability, ChatRequest
from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.synopsis.assw import HEADINGS, Assw, claims
from judgelab.synopsis.writing import Abstract
from tests.scripted import NOBODY, ScriptedChat

PAPER = """# A Title

## 1 Introduction
Nets are big. We show that small ones suffice, e.g. on toys.

2 Results
Our method gains 3.5 points. The baseline loses.

## 3 Limitations
Batches below 64 spoil it.
"""
GOOD = (
    "Here you are.\n<strengths_claimed_by_the_paper>\nSmall nets suffice.\n\nIt gains.\n"
    "</strengths_claimed_by_the_paper>\n<weaknesses_claimed_by_the_paper>\n"
    "Small batches.\n</weaknesses_claimed_by_the_paper>"
)
ASSW, ABSTRACT = Prompt("assw.txt"), Prompt("abstract.txt")


def panel(*items: Item) -> Panel:
    return Panel(items, (Agent("a"),), tuple(("text",) for _ in items))


def test_rules_find_what_authors_claim_and_concede() -> None:
    pro, con = claims(PAPER)
    assert pro == ["We show that small ones suffice, e.g. on toys.", "Our method gains 3.5 points."]
    assert con == ["Batches below 64 spoil it."]
    both = "We did not test it, although our method gains."
    assert claims(both) == ([], [both])


def test_assw_by_rules_is_abstract_and_lists_and_says_that_it_is_offline() -> None:
    step = Assw(ASSW, most=1)
    assert step.requires == frozenset()
    made = step.apply(
        panel(
            Item("1", PAPER, synopsis="An abstract."),
            Item("2", PAPER),
            Item("3", "", synopsis="An abstract."),
            Item("4", "Nothing to see.", synopsis="An abstract."),
        ),
        NOBODY,
        seed=0,
    )
    first = made.items[0].synopsis or ""
    pro, con = "We show that small ones suffice, e.g. on toys.", "Batches below 64 spoil it."
    assert first == f"An abstract.\n\n{HEADINGS[0]}\n{pro}\n\n{HEADINGS[1]}\n{con}"
    assert [item.synopsis for item in made.items[1:]] == [None, None, None]
    assert made.provenance["synopsis_unwritten"] == {
        "no claim was found": 1,
        "the item has no abstract": 1,
        "the item has no source text": 1,
    }
    assert "offline" in str(made.provenance["synopsis_written_by"])
    assert made.texts == (("text",),) * 4


@pytest.mark.parametrize(
    "reply",
    [
        "Strengths: many.",
        GOOD.replace("</weaknesses_claimed_by_the_paper>", ""),
        GOOD + "<strengths_claimed_by_the_paper></strengths_claimed_by_the_paper>",
        GOOD.replace("<strengths", "</strengths", 1),
        None,
    ],
)
def test_an_unreadable_reply_is_no_synopsis_and_is_counted(reply: str | None) -> None:
    def rule(request: ChatRequest) -> str | None:
        return GOOD if "paper one" in request.messages[-1].content else reply

    lm = ScriptedChat(rule)
    step = Assw(ASSW, by="lm")
    assert step.requires == frozenset({Capability.CHAT})
    items = [Item(n, f"paper {n}", synopsis="Short.") for n in ("one", "two", "three")]
    made = step.apply(panel(*items, Item("no source", "")), lm, seed=0)
    assert made.items[0].synopsis == (
        f"Short.\n\n{HEADINGS[0]}\nSmall nets suffice.\nIt gains.\n\n{HEADINGS[1]}\nSmall batches."
    )
    assert [item.synopsis for item in made.items[1:]] == [None, None, None]
    reasons = made.provenance["synopsis_unwritten"]
    assert isinstance(reasons, dict)
    assert sorted(reasons.values()) == [1, 2]
    assert len(lm.seen) == 3, "an item without source is not asked about"
    assert {(r.temperature, r.max_tokens) for r in lm.seen} == {(0.0, 4000)}


def test_an_empty_list_is_allowed_if_the_other_is_not() -> None:
    lm = ScriptedChat(lambda request: GOOD.replace("Small batches.\n", ""))
    made = Assw(ASSW, by="lm").apply(panel(Item("1", "s", synopsis="Short.")), lm, seed=0)
    assert (made.items[0].synopsis or "").endswith(f"{HEADINGS[1]}\nNone.")


def test_abstract_replaces_the_synopsis() -> None:
    source = panel(Item("1", PAPER, synopsis="old"), Item("2", ""))
    lead = Abstract(ABSTRACT, sentences=2).apply(source, NOBODY, seed=0)
    assert [item.synopsis for item in lead.items] == [
        "Nets are big. We show that small ones suffice, e.g. on toys.",
        None,
    ]
    asked = Abstract(ABSTRACT, by="lm")
    assert asked.requires == frozenset({Capability.CHAT})
    lm = ScriptedChat(lambda r: "  New.\n" if PAPER.strip() in r.messages[-1].content else " ")
    both = replace(source, items=(source.items[0], Item("2", "other")))
    made = asked.apply(both, lm, seed=0)
    assert [item.synopsis for item in made.items] == ["New.", None]
    assert made.provenance["synopsis_unwritten"] == {"empty reply": 1}
