"""Texts as lines of judgments: by an LM (GEM paper, appendix C.1) and by cue words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgelab.config import build
from judgelab.config.composing import read_option
from judgelab.core.errors import ConfigError
from judgelab.core.panel import Panel
from judgelab.preprocessor.judgments import BLANK, NO_JUDGMENT, VERBS, judgment_lines
from judgelab.preprocessor.rules import NO_CUE, NO_REVIEW, RETELLING, judgments_of, verb_of
from tests.scripted import NOBODY, ScriptedChat
from tests.scripted import panel_of as panel_of_any_task

CONF = Path(__file__).resolve().parents[3] / "conf" / "preprocessor"
PIECES = ("Good.", "I think", "please", "# Summary", "Weaknesses:", "- not", "¿Qué? ü!", "1. ", "")
OPENINGS = tuple(f"The reviewer {verb} " for verb in VERBS)


def panel_of(texts: Sequence[Sequence[str | None]]) -> Panel:
    """A panel of reviews."""
    return replace(panel_of_any_task(texts), task="peer_review")


def preprocessor(name: str, **given: object) -> Any:
    return build(read_option(CONF / f"{name}.yaml") | given, "preprocessor")


# By an LM
def test_one_batch_and_every_gap_is_counted_by_its_reason() -> None:
    replies = {"a0": "The reviewer appreciates it.\nAnd more.", "a1": None, "a2": "I cannot help."}
    lm = ScriptedChat(lambda request: replies[request.key[2]])
    panel = panel_of([["x {text}", "y", "z", " ", None]])
    done = preprocessor("judgments").apply(panel, lm, seed=0)
    assert done.texts == (("The reviewer appreciates it.", None, None, None, None),)
    assert done.provenance["preprocessor_unwritten"] == {"refused": 1, NO_JUDGMENT: 1, BLANK: 1}
    assert done.provenance["preprocessor_lines_dropped"] == 2
    assert done.provenance["preprocessor_written_by"] == "lm (scripted chat)"
    assert len(lm.seen) == 3
    assert "\nx {text}\n" in lm.seen[0].messages[0].content
    assert (lm.seen[0].temperature, lm.seen[0].max_tokens) == (0.0, 4000)


def test_the_subject_goes_into_the_prompt_and_the_check() -> None:
    lm = ScriptedChat(lambda request: "The guest suggests salt.\nThe reviewer suggests pepper.")
    done = preprocessor("judgments", subject="The guest").apply(panel_of([["x"]]), lm, seed=0)
    assert done.texts == (("The guest suggests salt.",),)
    prompt = lm.seen[0].messages[0].content
    assert all(f"\nThe guest {verb}\n" in prompt for verb in VERBS)
    assert "The reviewer" not in prompt


@pytest.mark.parametrize("name", ["judgments", "rules"])
def test_texts_that_are_no_reviews_are_refused(name: str, tmp_path: Path) -> None:
    lm = ScriptedChat(lambda request: "The guest suggests salt.")
    summaries = panel_of_any_task([["It is good."]])
    with pytest.raises(ConfigError, match="'summarization': use preprocessor=identity"):
        preprocessor(name).apply(summaries, lm, seed=0)
    assert not lm.seen
    if name == "judgments":  # a prompt of the user's own says what the texts are
        file = tmp_path / "own.txt"
        file.write_text("What does {subject} say in {text}?")
        own = {"_target_": "judgelab.core.prompt.Prompt", "file": str(file)}
        done = preprocessor(name, subject="The guest", prompt=own).apply(summaries, lm, seed=0)
        assert done.texts == (("The guest suggests salt.",),)


def test_a_prompt_about_restaurants_reads_their_reviews_alone() -> None:
    lm = ScriptedChat(lambda request: "The reviewer appreciates the soup.")
    step = preprocessor("restaurant_judgments")
    guests = replace(panel_of([["Good soup."]]), task="review")
    assert step.apply(guests, lm, seed=0).texts == (("The reviewer appreciates the soup.",),)
    assert "restaurant" in lm.seen[0].messages[0].content
    with pytest.raises(ConfigError, match="'peer_review': use preprocessor=identity"):
        step.apply(panel_of([["It is good."]]), lm, seed=0)


# By cue words
@pytest.mark.parametrize(
    ("clause", "verb"),
    [
        ("The proofs are elegant.", "appreciates"),
        ("The proofs are not very elegant.", "criticizes"),
        ("Why are there two tables?", "questions"),
        ("The authors should add a table.", "suggests"),
        ("The table has two columns.", ""),
        ("It is doubtful whether glue is efficient.", "criticizes"),
    ],
)
def test_cues_tell_what_a_clause_is_for(clause: str, verb: str) -> None:
    assert verb_of(clause) == verb
    assert verb_of(clause, "suggests") == verb, "a heading is no cue"


def test_a_review_becomes_one_judgment_a_line() -> None:
    review = """# Summary Of The Paper
An excellent machine is built, which lacks wheels.

# Strength And Weaknesses
Strengths:
- However, the drawings are good; the legend is clear.
- Two machines.
Weaknesses:
1. Strong claims, but the tests are limited to a single day.
2. Please add wheels. Does it float?
(1) The tests are limited to a single day. Nobody knows why. (2) The glue is too weak.

### Questions
- The price of it all.

# Summary Of The Review
I think that the idea is novel."""
    lines, dropped, share = judgments_of(review, "The reviewer")
    assert lines == [
        "The reviewer appreciates that the drawings are good.",
        "The reviewer appreciates that the legend is clear.",
        "The reviewer appreciates strong claims.",
        "The reviewer criticizes that the tests are limited to a single day.",
        "The reviewer suggests that the authors add wheels.",
        "The reviewer questions does it float.",
        "The reviewer criticizes that the glue is too weak.",
        "The reviewer appreciates that the idea is novel.",
    ]
    # "Two machines.", "Nobody knows why." and "The price of it all."; the first section
    assert dropped == {NO_CUE: 3, RETELLING: 1}
    assert share == 0.7


HEADED = """Strength And Weaknesses:

**Strong points**

- The proofs are elegant.
- Nobody has drawn such a machine before.

**Weakness & Questions**

[Clarity]: The third part is hard to read.
=== Novelty ===
* **Tests:** They are too few.
* **The wheels are wrong.**
Weaknesses.
Minor issues:
The legend is missing."""


def test_no_heading_is_a_judgment() -> None:
    assert judgments_of(HEADED, "The reviewer").lines == [
        "The reviewer appreciates that the proofs are elegant.",
        "The reviewer criticizes that the third part is hard to read.",
        "The reviewer criticizes that they are too few.",
        "The reviewer criticizes that the wheels are wrong.",
        "The reviewer criticizes that the legend is missing.",
    ]


def test_a_text_that_is_no_review_is_unscored_and_shares_are_told() -> None:
    story = "The bus left. It rained all day. Ann was wet. She had a good book."
    done = preprocessor("rules").apply(panel_of([[HEADED, story]]), NOBODY, seed=0)
    assert done.texts[0][1] is None and done.texts[0][0]
    assert done.provenance["preprocessor_unwritten"] == {NO_REVIEW: 1}
    said = done.provenance["preprocessor_kept"]
    assert "from 25% (" in said and "to 83% (" in said and "25% at least" in said
    alone = preprocessor("rules").apply(panel_of([[story]]), NOBODY, seed=0)
    assert "preprocessor=identity leaves them" in alone.provenance["preprocessor_kept"]


@settings(max_examples=50)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=25)).map("\n".join))
def test_any_text_gives_lines_of_the_form_or_none(text: str) -> None:
    panel = panel_of([[text]])
    done = preprocessor("rules").apply(panel, NOBODY, seed=0)
    (out,) = done.texts[0]
    if out is None:
        assert sum(done.provenance["preprocessor_unwritten"].values()) == 1
    else:
        lines = out.split("\n")
        assert all(line.startswith(OPENINGS) and line.endswith(".") for line in lines)
        assert len(set(lines)) == len(lines)
        assert judgment_lines(out, "The reviewer") == (lines, 0)


def test_order_changes_nothing() -> None:
    rows = [[f"The idea {k}{j} is good." for j in range(2)] for k in range(3)]
    panel = panel_of(rows)
    turned = Panel(
        panel.items[::-1],
        panel.agents[::-1],
        tuple(row[::-1] for row in panel.texts[::-1]),
        task=panel.task,
    )
    done, back = (preprocessor("rules").apply(p, NOBODY, seed=0) for p in (panel, turned))
    assert tuple(row[::-1] for row in back.texts[::-1]) == done.texts
