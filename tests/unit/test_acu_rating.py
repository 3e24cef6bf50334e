"""Salience in content units: what is asked, and what counts as a grade."""

from __future__ import annotations

import math

import numpy as np
import pytest

from judgelab.errors import ConfigError
from judgelab.evaluation_lm.protocol import Reply
from judgelab.mechanism.acu_rating import AcuRating, read_grade
from judgelab.panel import Agent, Item, Panel
from judgelab.prompt import Prompt
from tests.scripted import NOBODY, ScriptedChat

PROMPT = Prompt("acu_rating.txt")


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("4", 4.0),
        (" 3.5 \n", 3.5),
        ("4/5", 4.0),
        ("2 out of 5.", 2.0),
        ("**5**", 5.0),
        ("- ACU Salience: 4", 4.0),
        ("ACU Salience (1-5): 3", 3.0),
        ("Salience of content units (1–5): **2**", 2.0),
        ("The summary covers most units.\n\nGrade: 4", 4.0),
        ("Grade: 4\nGrade: 4", 4.0),
        ("1", 1.0),
    ],
)
def test_a_grade_is_read(text: str, grade: float) -> None:
    assert read_grade(Reply(text)) == grade


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "6",
        "45",
        "-3 ",
        "four",
        "1-5",
        "I would say 4 because 3 of 5 units are there.",
        "3\n4",
        "The document has 12 units.",
        "on a scale of 1 to 5",
        "4 units",
        None,
    ],
)
def test_what_is_no_grade_is_unscored(text: str | None) -> None:
    found = read_grade(Reply(text) if text is not None else Reply(None, "refused"))
    assert math.isnan(found)


def panel() -> Panel:
    items = (Item("i", "A long source."), Item("j", "Other source."), Item("k", " "))
    texts = (("eins", "zwei"), ("drei", None), ("vier", "vier"))
    return Panel(items, (Agent("a"), Agent("b")), texts)


def test_every_text_is_asked_once_with_its_source_and_nothing_else() -> None:
    lm = ScriptedChat(lambda request: "4" if "drei" in request.messages[0].content else None)
    mechanism = AcuRating(PROMPT)
    data = mechanism.measure(panel(), lm, seed=0)
    assert [request.key[1:] for request in lm.seen] == [("i", "a"), ("i", "b"), ("j", "a")]
    first = lm.seen[0].messages[0].content
    assert "A long source." in first and "eins" in first and "zwei" not in first
    assert all(r.temperature == 0 and r.max_tokens == 10 for r in lm.seen)
    expected = [[math.nan, math.nan], [4.0, math.nan], [math.nan, math.nan]]
    np.testing.assert_array_equal(data["value"].values, expected)
    scores = mechanism.score(data)
    np.testing.assert_array_equal(scores.agent.values, expected)
    assert "acu_rating.txt sha256:" in data.attrs["prompt"]


def test_the_prompt_says_what_the_paper_specifies() -> None:
    """Criterion, steps in their order, scale, source before summary, the grade alone."""
    text = PROMPT.text(source="SOURCE", text="SUMMARY")
    order = ["1. Write", "2. Match", "3. Grade", "SOURCE", "SUMMARY", "grade alone", "(1-5):"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "important" in text and "leaves out" in text and text.endswith("(1-5):")


def test_nothing_to_ask_and_bad_settings() -> None:
    empty = Panel((Item("i", "source"),), (Agent("a"),), ((None,),))
    data = AcuRating(PROMPT).measure(empty, NOBODY, seed=0)
    assert np.isnan(data["value"].values).all()
    for given in ({"max_tokens": 0}, {"temperature": -1.0}):
        with pytest.raises(ConfigError, match=r"mechanism\."):
            AcuRating(PROMPT, **given)  # type: ignore[arg-type]
