"""Deletion of every second sentence: what a sentence, a section and a header are."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings

from judgelab.attack.sentence_deletion import thin, thin_as_released
from judgelab.core.sentences import HEADERS, heading, label, line_sentences, sections
from tests.unit.attack.gem_attacks_context import ODD, REVIEW, only

THINNED = """Summary Of The Paper:
A method sorts mail. Then it files them.
Strengths And Weaknesses:
The idea is neat. Is it fast?
Clarity, Quality, Novelty And Reproducibility:
It reads well.
Summary Of The Review:
I lean to accept."""


def test_a_stop_inside_a_number_or_a_word_ends_no_sentence() -> None:
    line = '1. It gains 3.5 points, e.g., on "MNIST." Really?! (2) Yes - see fig.2 :)'
    assert line_sentences(line) == [
        '1. It gains 3.5 points, e.g., on "MNIST."',
        "Really?!",
        "(2) Yes - see fig.2 :)",
    ]
    assert line_sentences("---") == line_sentences("  ") == line_sentences("42.") == []
    assert line_sentences("Nice. :)") == ["Nice. :)"]


@settings(max_examples=25)
@given(ODD)
def test_sections_joined_are_the_text(text: str) -> None:
    parts = sections(text)
    assert "".join(part.header + part.body for part in parts) == text
    assert all(part.name is None or part.name in HEADERS for part in parts)


def test_headers_in_any_spelling_and_on_the_line_of_their_text() -> None:
    text = "Hello.\n## **Strength and weaknesses**\nA.\nSUMMARY OF THE REVIEW: B.\n# Other\nC."
    assert [(part.header.strip(), part.name) for part in sections(text)] == [
        ("", None),
        ("## **Strength and weaknesses**", "Strength And Weaknesses"),
        ("SUMMARY OF THE REVIEW:", "Summary Of The Review"),
        ("# Other", None),
    ]
    inside = "The Summary Of The Review: is not at the start of a line, nor is it alone."
    assert [part.name for part in sections(inside)] == [None]
    assert [part.name for part in sections("Summary Of The Paper is too short.")] == [None]


def test_odd_sentences_of_every_section_stay() -> None:
    assert only("sentence_deletion", REVIEW) == THINNED
    released = only("sentence_deletion", REVIEW + "\n", definition="released")
    assert released == " ".join(THINNED.splitlines())
    older = REVIEW.replace("Strengths And", "Strength And")
    assert only("sentence_deletion", older) == THINNED.replace("Strengths And", "Strength And")


def test_a_text_without_headers_is_one_section() -> None:
    assert only("sentence_deletion", "Far\nA one. A two.\nB.") == "Far\nA two."


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


@pytest.mark.parametrize("name", ["sentence_deletion", "deletion_completion"])
def test_headings_inside_a_section_stay(name: str) -> None:
    made = str(only(name, HEADED))
    for kept in ("**Strengths**", "**Weakness & Questions**", "=== Minor ==="):
        assert f"{kept}\n" in made
    for lead in ("[Clarity]:", "1. **Novelty:**", "2. **Tests:**", "Typos:"):
        assert lead in made
    if name == "sentence_deletion":
        assert made == (
            "**Strengths**\n- It works.\n**Weakness & Questions**\n[Clarity]: The text is long.\n"
            "1. **Novelty:** Low.\n2. **Tests:** Too few.\n=== Minor ===\nTypos:\n"
            "Why?\nSo what?"
        )
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
def test_what_stays_are_the_odd_sentences_in_order(text: str) -> None:
    def said(body: str) -> list[str]:
        lines = [label(line)[1] for line in body.split("\n") if not heading(line)]
        return [piece for line in lines for piece in line_sentences(line)]

    before, after = sections(text), sections(thin(text))
    assert [part.header for part in before] == [part.header for part in after]
    for old, new in zip(before, after, strict=True):
        assert said(new.body) == said(old.body)[::2]
