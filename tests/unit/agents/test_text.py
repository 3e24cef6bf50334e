"""Reading a text: sentences, turns, names, numbers, and replacing words."""

from __future__ import annotations

import numpy as np
import pytest

from judgelab.agents.strategies.alter import (
    contradict,
    denies,
    exchange,
    falsify_numbers,
    misattribution,
    without_context,
)
from judgelab.agents.strategies.lexicon import Lexicon, table
from judgelab.agents.strategies.rewrite import compress
from judgelab.agents.strategies.text import Source, numbers, units
from judgelab.agents.strategies.translations import americanise

RNG = np.random.default_rng


def texts(source: str) -> list[str]:
    return [sentence for _, sentence in units(source)]


def test_sentences_are_not_cut_at_abbreviations() -> None:
    assert texts("Dr. Rook left at 5 p.m. today. It rained.") == [
        "Dr. Rook left at 5 p.m. today.",
        "It rained.",
    ]


def test_a_writer_without_capitals_still_has_sentences() -> None:
    assert texts("i fell. it hurt. nobody saw.") == ["i fell.", "it hurt.", "nobody saw."]


def test_wrapped_lines_are_joined_and_list_lines_are_not() -> None:
    wrapped = "The committee on the upper harbour met in the old customs house\nand adjourned."
    assert len(texts(wrapped)) == 1
    assert texts("First point.\nSecond point") == ["First point.", "Second point"]


def test_turns_keep_their_speaker_and_drop_media() -> None:
    said = units("Ann: hi there\nBo: <file_gif>\nBo: fine, you?\nAnn: yes")
    assert said == [("Ann", "hi there"), ("Bo", "fine, you?"), ("Ann", "yes")]


def test_a_structured_abstract_is_no_dialogue() -> None:
    found = units("Background: mice age.\nMethods: we fed mice.\nResults: mice lived.")
    assert {speaker for speaker, _ in found} == {None}


def test_headings_are_not_sentences() -> None:
    assert texts("# Title here\n\nSECTION 1. SCOPE.\n\nThe act applies.") == ["The act applies."]


def test_text_without_punctuation_is_cut() -> None:
    assert max(len(s.split()) for s in texts("word again " * 500)) <= 45


def test_names_are_runs_of_capitals_and_not_first_words() -> None:
    source = Source(
        "Shopkeepers met Delia Pascoe in Port Hexley. Delia Pascoe said no. The Mayor of "
        "Isle of Wren came on Tuesday."
    )
    assert "Delia Pascoe" in source.people
    assert "Port Hexley" in source.places
    assert not {"Shopkeepers", "Tuesday", "The"} & set(source.names)


def test_salience_prefers_recurring_words() -> None:
    source = Source("The bridge is closed. I like tea. The bridge closed after the bridge broke.")
    weights = {s.text: s.salience for s in source.sentences}
    assert weights["I like tea."] == min(weights.values())


def test_compress_keeps_the_main_clause() -> None:
    long = (
        "Not later than 180 days after the date on which this measure has been enacted, the "
        "secretary shall set up a programme of grants for owners who replace outdoor lamps."
    )
    assert compress(long, 20).startswith("The secretary shall set up")


@pytest.mark.parametrize(
    "text", ["In 1987, 12 of 3,400 paid £4.50 at 06:40", "twelve of forty thousand", "9" * 5000]
)
def test_no_number_survives_falsification(text: str) -> None:
    for seed in range(20):
        changed = falsify_numbers(text, frozenset(numbers(text)), RNG(seed))
        assert not set(numbers(changed)) & set(numbers(text))
        assert changed != text
        assert len(numbers(changed)) == len(numbers(text))


def test_a_falsified_time_is_a_time() -> None:
    hour, minute = falsify_numbers("06:40", frozenset({"06", "40"}), RNG(0)).split(":")
    assert 0 <= int(hour) < 24
    assert 0 <= int(minute) < 60


def test_misattribution_moves_everybody_and_short_forms_follow() -> None:
    names = ("Delia Pascoe", "Owen Rook", "Pascoe")
    moved = misattribution(names, ["Ida Fenn"], RNG(0))
    assert moved == {"Delia Pascoe": "Owen Rook", "Owen Rook": "Delia Pascoe", "Pascoe": "Rook"}
    assert misattribution(("Owen Rook",), ["Ida Fenn"], RNG(0)) == {"Owen Rook": "Ida Fenn"}
    assert exchange("Pascoe met Owen Rook.", moved) == "Rook met Delia Pascoe."


@pytest.mark.parametrize(
    "said,denied",
    [
        ("The pool is open", "The pool is not open"),
        ("He can swim", "He cannot swim"),
        ("The council voted for it and paid", None),
        ("They said it rained", "They did not say it rained"),
        ("She wants the post", "She does not want the post"),
        ("The pool isn't open", "The pool is open"),
        ("Nobody came", "Everybody came"),
    ],
)
def test_contradict(said: str, denied: str | None) -> None:
    result = contradict(said, Source(said))
    assert result == denied if denied else denies(result)


def test_without_context_has_no_who_when_where_why() -> None:
    source = Source("Delia Pascoe closed the shop in Hexley on 3 May 2019 because trade fell.")
    bare = without_context(source.sentences[0].text, source)
    assert "closed the shop" in bare
    assert not any(word in bare for word in ("Delia", "Hexley", "May", "2019", "because", "trade"))


def test_a_lexicon_keeps_case_and_takes_the_longest_phrase() -> None:
    lexicon = Lexicon.of(table("so: thus; so far: to date; find (v): detect; find (n): discovery"))
    assert lexicon.rewrite("So far SO good", RNG(0)) == "To date THUS good"


def test_a_verb_entry_leaves_the_noun_alone() -> None:
    lexicon = Lexicon.of(table("find (v): detect"))
    assert lexicon.rewrite("they find the find", RNG(0)) == "they detect the find"


def test_american_units_dates_and_words() -> None:
    text = "On 3 May at 14:30 he drove 10 km at 20 degrees Celsius in a grey lorry."
    assert americanise(text, RNG(0)) == (
        "On May 3 at 2:30 p.m. he drove 6.2 miles at 68 degrees Fahrenheit in a gray truck."
    )
