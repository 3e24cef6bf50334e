"""Degradations and manipulations of the GEM paper (appendices D.3 and D.4)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from judgelab.attack.deletion_completion import FILLERS, MARKER
from judgelab.attack.random_replacement import ALONE, SHORT
from judgelab.attack.sentence_deletion import line_sentences, thin, thin_as_released
from judgelab.config import build
from judgelab.core.errors import DataError
from judgelab.core.lm import ChatRequest
from judgelab.core.panel import Panel
from judgelab.core.sentences import HEADERS, heading, label, sections
from tests.scripted import NOBODY, ScriptedChat, panel_of

CONF = Path(__file__).resolve().parents[3] / "conf" / "attack"
REVIEW = """Summary Of The Paper:
A method sorts mail. It reads the stamps. Then it files them.
Strengths And Weaknesses:
The idea is neat. The tests are few. Is it fast? Nobody says!
Clarity, Quality, Novelty And Reproducibility:
It reads well.
Summary Of The Review:
I lean to accept. The tests should grow."""


LINES = st.lists(
    st.sampled_from(
        ["", " ", "Short. Long!", "1. One. 2) Two?", "- a\t", "ü. ß? 中文。", "3.5 e.g., x", "..."]
        + [f"{header}:" for header in HEADERS]
        + ["# Strength And Weaknesses", "**Summary Of The Review** Fine.", "---", "\r", "A."]
    )
    | st.text(max_size=20)
)


ODD = LINES.map("\n".join)


def attack(name: str, **settings: object) -> Any:
    node = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    return build({**node, **settings}, "attack")


def only(name: str, text: str | None, lm: Any = NOBODY, **settings: object) -> str | None:
    """What becomes of the one text of a panel with one item and one agent."""
    return attack(name, **settings).apply(panel_of([[text]]), lm, seed=0).texts[0][0]  # type: ignore[no-any-return]


WRITING = ("deletion_completion", "abstract_only", "rephrase", "meaningless_elongation")
GAPPED = """Summary Of The Paper:
A method sorts mail. [There is one missing sentence] Then it files them.
Strengths And Weaknesses:
The idea is neat. [There is one missing sentence] Is it fast? [There is one missing sentence]
Clarity, Quality, Novelty And Reproducibility:
It reads well.
Summary Of The Review:
I lean to accept. [There is one missing sentence]"""


def with_synopses(panel: Panel, *synopses: str | None) -> Panel:
    items = tuple(replace(i, synopsis=s) for i, s in zip(panel.items, synopses, strict=True))
    return replace(panel, items=items)


STEPS = [attack(name) for name in [*WRITING, "sentence_deletion"]]


# Deletion and completion (D.3.2)
def test_the_lm_sees_a_marker_in_every_gap_and_its_completion_is_taken() -> None:
    lm = ScriptedChat(lambda request: "completed")
    assert only("deletion_completion", REVIEW, lm, by="lm") == "completed"
    (request,) = lm.seen
    assert f"\n{GAPPED}\n" in request.messages[0].content
    assert (request.temperature, request.max_tokens) == (0.0, 4000)
    assert only("deletion_completion", "One sentence.", NOBODY, by="lm") == "One sentence."


def test_a_gap_left_open_is_unwritten() -> None:
    panel = panel_of([["A. B.", "A. C.", "A. D."]])

    def rule(request: ChatRequest) -> str | None:
        return {"a0": "A. Z.", "a1": f"A. {MARKER}", "a2": None}[request.key[2]]

    done = attack("deletion_completion", by="lm").apply(panel, ScriptedChat(rule), seed=0)
    assert done.texts == (("A. Z.", None, None),)
    assert done.provenance["attack_unwritten"] == {"a gap was left open": 1, "refused": 1}


def test_rules_fill_the_same_gaps_with_sentences_that_say_nothing() -> None:
    filled = str(only("deletion_completion", REVIEW))
    for sentence in FILLERS:
        filled = filled.replace(sentence, MARKER)
    assert filled == GAPPED


# A review of the synopsis alone (D.3.3)
def test_one_call_per_item_and_every_agent_gets_its_review() -> None:
    texts = [["a", None, "b"], ["c", "d", None], ["e", "f", None]]
    panel = with_synopses(panel_of(texts), "On mail.", None, "On ink.")
    lm = ScriptedChat(lambda r: None if "ink" in r.messages[0].content else "A review.")
    done = attack("abstract_only", by="lm").apply(panel, lm, seed=0)
    assert done.texts == (("A review.", None, "A review."), (None,) * 3, (None,) * 3)
    assert done.provenance["attack_unwritten"] == {"the item has no synopsis": 2, "refused": 2}
    assert [r.key for r in lm.seen] == [("abstract_only", "i0"), ("abstract_only", "i2")]


@pytest.mark.parametrize("synopsis", ["We sort. It is 3.5 times faster.", "über", "7", "x " * 300])
def test_rules_review_the_synopsis_in_four_sections(synopsis: str) -> None:
    panel = with_synopses(panel_of([["a", "b"]]), synopsis)
    (one, other), *_ = attack("abstract_only").apply(panel, NOBODY, seed=0).texts
    assert one != other
    names = [part.name for part in sections(one)]
    assert names == [HEADERS[0], HEADERS[1], HEADERS[3], HEADERS[4]]
    assert synopsis.split()[0] in one
    assert one.count("\n4. ") == 2


# Random replacement (Yelp)
def test_every_text_moves_to_another_item_of_its_agent() -> None:
    rows = [[f"{a}{k}" if (k, a) != (3, "b") else None for a in "ab"] for k in range(7)]
    done = attack("random_replacement").apply(panel_of(rows), NOBODY, seed=1)
    for j in range(2):
        before, after = [row[j] for row in rows], [row[j] for row in done.texts]
        assert sorted(filter(None, before)) == sorted(filter(None, after))
        assert all(x is None or x != y for x, y in zip(before, after, strict=True))
        assert [x is None for x in before] == [y is None for y in after]
    assert done.provenance["attack_unwritten"] == {}


@pytest.mark.parametrize(("share", "kept"), [(0.25, 3), (0.5, 2), (0.75, 1)])
def test_a_share_of_a_text_is_replaced_by_the_end_of_another(share: float, kept: int) -> None:
    rows = [["a\nb c\td", "模型"], ["e f\n- g h", "文本"]]
    done = attack("random_replacement", share=share).apply(panel_of(rows), NOBODY, seed=0)
    ends = {1: ("a\n", "f\n- g h"), 2: ("a\nb ", "g h"), 3: ("a\nb c\t", "h")}[kept]
    assert done.texts[0] == ("".join(ends), None), "nothing is a share of a text without spaces"
    assert done.provenance["attack_unwritten"] == {SHORT: 2}


def test_a_text_with_nowhere_to_go_is_counted_and_one_item_is_refused() -> None:
    done = attack("random_replacement").apply(panel_of([["a", "x"], ["b", None]]), NOBODY, seed=0)
    assert done.texts == (("b", None), ("a", None))
    assert done.provenance["attack_unwritten"] == {ALONE: 1}
    with pytest.raises(DataError, match="limit=2"):
        attack("random_replacement").apply(panel_of([["a"]]), NOBODY, seed=0)


# Rephrasing (D.4.1)
def test_rules_change_the_surface_and_leave_titles_links_and_unknown_words() -> None:
    text = "In my opinion, it isn’t well-written, and I'd say it's SOTA w.r.t. speed. I think so."
    assert only("rephrase", text) == (
        "In my view, it is not clearly written, and I'd say it's SOTA with respect to speed. "
        "I believe so."
    )
    for same in (
        "Summary Of The Paper:",
        "See https://example.org/for-example/i-think and the title Prior Work On Mail.",
        "It can't-or-won't matter: don'tcare, x.due to.y",
        "",
    ):
        assert only("rephrase", same) == same


def test_the_lm_rephrases_all_but_blank_texts() -> None:
    panel = panel_of([["first", "second"], [None, " "]])
    lm = ScriptedChat(lambda r: None if "second" in r.messages[0].content else " other words \n")
    done = attack("rephrase", by="lm").apply(panel, lm, seed=0)
    assert done.texts == (("other words", None), (None, " "))
    assert len(lm.seen) == 2
    assert done.provenance["attack_unwritten"] == {"refused": 1}
    assert done.provenance["attack_written_by"] == "lm (scripted chat)"


# Meaningless elongation (D.4.2)
def short(**settings: object) -> dict[str, object]:
    statements = {
        "Summary Of The Paper": "First. To wit,",
        "Strengths And Weaknesses": "Second. {summary} Third.\n",
        "Summary Of The Review": "Last.",
    }
    summary = "Good is {strengths}, bad is {weaknesses}."
    return {"statements": statements, "summary": summary, "opening": "Well.", **settings}


def test_every_section_opens_with_its_statement() -> None:
    text = (
        "Summary Of The Paper:\n\nA one.\n\n"
        "Strengths And Weaknesses: B one.\nSummary Of The Review:"
    )
    assert only("meaningless_elongation", text, **short()) == (
        "Summary Of The Paper:\n\nFirst. To wit, A one.\n\n"
        "Strengths And Weaknesses: Second. Third.\n\nB one.\nSummary Of The Review:\nLast.\n"
    )
    assert only("meaningless_elongation", " A text.", **short()) == " Well. A text."
    assert only("meaningless_elongation", "", **short()) == ""


def test_two_phrases_of_the_lm_fill_the_slot() -> None:
    def rule(request: ChatRequest) -> str | None:
        return {"strengths": "wit and\n{weaknesses}.", "weaknesses": "haste"}[request.key[3]]

    lm = ScriptedChat(rule)
    text = "Strengths And Weaknesses:\nB one."
    assert only("meaningless_elongation", text, lm, **short(by="lm")) == (
        "Strengths And Weaknesses:\n"
        "Second. Good is wit and {weaknesses}, bad is haste. Third.\n\nB one."
    )
    assert [r.key[1:] for r in lm.seen] == [("i0", "a0", "strengths"), ("i0", "a0", "weaknesses")]
    step = attack("meaningless_elongation", **short(by="lm"))
    done = step.apply(panel_of([["No header."]]), NOBODY, seed=0)
    assert done.texts == (("Well. No header.",),)
    done = step.apply(panel_of([[text]]), ScriptedChat(lambda request: None), seed=0)
    assert done.texts == ((None,),)
    assert done.provenance["attack_unwritten"] == {"refused": 1}


# All of them
@pytest.mark.parametrize("name", [*WRITING, "sentence_deletion", "random_replacement"])
def test_order_of_items_and_agents_changes_nothing(name: str) -> None:
    rows = [[f"{REVIEW} Mine is {k}{j}. I think so." for j in range(3)] for k in range(4)]
    panel = with_synopses(panel_of(rows), *(f"On {k}. Or so." for k in "abcd"))
    turned = Panel(panel.items[::-1], panel.agents[::-1], tuple(r[::-1] for r in panel.texts[::-1]))
    done, back = (attack(name).apply(p, NOBODY, seed=5) for p in (panel, turned))
    assert tuple(row[::-1] for row in back.texts[::-1]) == done.texts
    assert done.texts != panel.texts
    if name in ("deletion_completion", "abstract_only", "random_replacement"):
        assert attack(name).apply(panel, NOBODY, seed=6).texts != done.texts


# Sentence deletion (D.3.1)


THINNED = """Summary Of The Paper:
A method sorts mail. Then it files them.
Strengths And Weaknesses:
The idea is neat. Is it fast?
Clarity, Quality, Novelty And Reproducibility:
It reads well.
Summary Of The Review:
I lean to accept."""


def test_odd_sentences_of_every_section_stay() -> None:
    assert only("sentence_deletion", REVIEW) == THINNED
    released = only("sentence_deletion", REVIEW + "\n", definition="released")
    assert released == " ".join(THINNED.splitlines())
    older = REVIEW.replace("Strengths And", "Strength And")
    assert only("sentence_deletion", older) == THINNED.replace("Strengths And", "Strength And")
    assert only("sentence_deletion", "Far\nA one. A two.\nB.") == "Far\nA two.", "one section"


HEADED = """**Strengths**
- It works. It is fast.
**Weakness & Questions**
[Clarity]: The text is long. It repeats.
1. **Novelty:** Low.
2. **Tests:** Few. Too few.
=== Minor ===
Typos: page 3.
Why?
**The idea is old.** So what?"""


def test_headings_inside_a_section_stay() -> None:
    assert only("sentence_deletion", HEADED) == (
        "**Strengths**\n- It works.\n**Weakness & Questions**\n[Clarity]: The text is long.\n"
        "1. **Novelty:** Low.\n2. **Tests:** Too few.\n=== Minor ===\nTypos:\nWhy?\nSo what?"
    )
    completed = str(only("deletion_completion", HEADED))
    headings = ("**Strengths**\n", "**Weakness & Questions**\n", "=== Minor ===\n", "[Clarity]:")
    for kept in (*headings, "1. **Novelty:**", "2. **Tests:**", "Typos:"):
        assert kept in completed
    assert only("sentence_deletion", "One.\nTwo.\n\nThree.\n\nFour.\n\n") == "One.\n\nThree.\n\n"


def test_released_cuts_at_every_stop_and_loses_the_tail() -> None:
    text = "It gains 3.5 points.\nFine. And no stop"
    assert thin_as_released(text) == "It gains 3. Fine."
    assert thin(text) == "It gains 3.5 points.\nAnd no stop"
    bold = "A one. **Pros** B one. B two."
    assert thin_as_released(bold) == "A one. B two."
    assert thin_as_released(bold, bold=True) == "A one. **Pros** B one. B two."


@settings(max_examples=25)
@example("A.\nA:")
@given(ODD)
def test_any_text_has_sections_that_deletion_halves_and_rules_that_take_it(text: str) -> None:
    parts = sections(text)
    assert "".join(part.header + part.body for part in parts) == text
    assert all(part.name is None or part.name in HEADERS for part in parts)
    for mark in "\n?":
        assert str(only("rephrase", text)).count(mark) == text.count(mark)
    panel = with_synopses(panel_of([[text, None]]), text)
    for step in STEPS:
        done = step.apply(panel, NOBODY, seed=3)
        assert done.texts[0][1] is None and done.items == panel.items

    def said(body: str) -> list[str]:
        lines = [label(line)[1] for line in body.split("\n") if not heading(line)]
        return [piece for line in lines for piece in line_sentences(line)]

    after = sections(thin(text))
    assert [part.header for part in parts] == [part.header for part in after]
    for old, new in zip(parts, after, strict=True):
        assert said(new.body) == said(old.body)[::2]
