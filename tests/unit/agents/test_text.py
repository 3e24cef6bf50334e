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


def test_exchanged_names_take_their_short_forms_along() -> None:
    text = "On Monday Delia Pascoe met Owen Rook. Later, young Pascoe left."
    met, left = falsify(["Delia Pascoe met Owen Rook", "young Pascoe left"], Source(text), RNG(0))
    assert met == "Owen Rook met Delia Pascoe"
    assert left == "young Rook left"
