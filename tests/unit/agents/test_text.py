"""Reading a text: sentences, turns, names, numbers, and replacing words."""

from __future__ import annotations

import numpy as np
import pytest

from judgelab.agents.reading import NUMBER, Source, units
from judgelab.agents.rewriting import falsify, falsify_numbers

RNG = np.random.default_rng


def texts(source: str) -> list[str]:
    return [sentence for _, sentence in units(source)]


def test_wrapped_lines_are_joined_and_list_lines_are_not() -> None:
    wrapped = "The committee on the upper harbour met in the old customs house\nand adjourned."
    assert len(texts(wrapped)) == 1
    assert texts("First point.\nSecond point") == ["First point.", "Second point"]


def test_turns_keep_their_speaker_and_drop_media() -> None:
    said = units("Ann: hi there\nBo: <file_gif>\nBo: fine, you?\nAnn: yes")
    assert said == [("Ann", "hi there"), ("Bo", "fine, you?"), ("Ann", "yes")]


def test_names_are_runs_of_capitals_and_not_first_words() -> None:
    source = Source(
        "Shopkeepers met Delia Pascoe in Port Hexley. Delia Pascoe said no. The Mayor of "
        "Isle of Wren came on Tuesday."
    )
    assert {"Delia Pascoe", "Port Hexley"} <= set(source.names)
    assert not {"Shopkeepers", "Tuesday", "The"} & set(source.names)


@pytest.mark.parametrize(
    "text", ["In 1987, 12 of 3,400 paid £4.50 at 06:40", "twelve of forty thousand", "9" * 5000]
)
def test_no_number_survives_falsification(text: str) -> None:
    old = NUMBER.findall(text)
    for seed in range(20):
        changed = falsify_numbers(text, frozenset(old), RNG(seed))
        new = NUMBER.findall(changed)
        assert not set(new) & set(old) and len(new) == len(old)
        assert changed != text


def test_a_line_without_a_number_says_the_opposite() -> None:
    lines = ["The pier was closed.", "It isn't safe.", "They cannot swim.", "Nobody came in 1987."]
    closed, safe, swim, came = falsify(lines, Source("In 1987."), RNG(0))
    assert (closed, safe, swim) == ("The pier was not closed.", "It is safe.", "They can swim.")
    assert came.startswith("Nobody came in ") and "1987" not in came
    assert falsify(["Nobody came."], Source("x"), RNG(0)) == ["It is not true that nobody came"]


def test_a_topic_is_a_noun_that_comes_again() -> None:
    text = "He left hard work. The ankle had gone cold. He left hard by, his ankle in plaster."
    assert Source(text).topics[0] == "ankle"


def test_a_translated_sentence_is_never_cut_and_a_censored_word_stays_one() -> None:
    long = "I met " + ", ".join(["a man of the harbour office"] * 9) + " on the **upper** pier."
    assert texts(f"{long} What a b***h!") == [long.replace("**", ""), "What a b***h!"]


def test_a_list_of_references_is_not_read() -> None:
    body = "We propose a model of tides. It works. " * 3
    assert texts(f"{body}\n7 References\nA. Orme. Tides revisited.") == texts(body)
