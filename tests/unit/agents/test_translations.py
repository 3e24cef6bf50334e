"""Each translation strategy does to the base translation what its description says."""

from __future__ import annotations

import re

import numpy as np
import pytest

from judgelab.agents.strategies.alter import denies
from judgelab.agents.strategies.text import Source, content_words, numbers
from judgelab.agents.strategies.translations import TRANSLATIONS

GERMAN = "Der alte Müller fuhr am Montag 12 Kilometer nach Seeheim und kaufte drei graue Pferde."
BASE = (
    "The old miller drove 12 kilometres to Seeheim on Monday and bought three grey horses. "
    "Paul Brandt smiled and said that it was a good price."
)
SEEDS = range(8)


def write(strategy: str, base: str = BASE, seed: int = 0) -> str:
    rng = np.random.default_rng(seed)
    return TRANSLATIONS[strategy](Source(base, "sentence", original=GERMAN), rng)


def kept(text: str) -> float:
    """Share of the base's content words that the text still holds."""
    base = set(content_words(BASE))
    return len(base & set(content_words(text))) / len(base)


MARKS = {
    "Sarcastic": "marvellous|of course|genius|Wow",
    "Formal": "advised|wish to state|Kindly",
    "Informal": "So,|Hey,|Guess what,",
    "Technical": "Observation|Status|documented",
    "Humorous": "drum roll|cat|three beers|ba-dum",
    "Dramatic": "Behold|Alas|fate|Tremble",
    "Historical": "Pray|honour|obedient",
    "Futuristic": "2200",
    "Academic": "observed|attests|Notably",
    "Persuasive": "Surely|no doubt",
    "Emotional": "heart|tears",
    "Objective": "It is stated",
    "Subjective": "my mind|I read it|I find",
    "Metaphorical": "[Ll]ike|As a seed|candle",
    "Comparative": "English",
    "Hypothetical": "Suppose|Imagine|assume|possible world",
    "Philosophical": "mean|order of things",
    "Quantitative": r"\(1 of 2; \d+ words\)",
    "Creative": "Picture|Rewind|behind it all",
}


@pytest.mark.parametrize("strategy", MARKS)
def test_a_register_marks_the_text_and_keeps_the_meaning(strategy: str) -> None:
    for seed in SEEDS:
        text = write(strategy, seed=seed)
        assert re.search(MARKS[strategy], text)
        assert kept(text) >= 0.6
        assert "Seeheim" in text
        assert "12" in numbers(text)


def test_original_stays_close_and_differs_from_other_plain_writers() -> None:
    assert all(kept(write("Original", seed=seed)) > 0.7 for seed in SEEDS)
    plain = {write(name) for name in ("Original", "Formal", "Academic", "Objective", "Cultural")}
    assert len(plain) == 5


def test_low_effort_is_shorter_sloppy_and_leaves_german_in() -> None:
    texts = [write("Low Effort", seed=seed) for seed in SEEDS]
    assert all(len(text.split()) < len(BASE.split()) for text in texts)
    assert all(not re.search(r"\b(the|a|an)\b", text) for text in texts)
    assert any(word in " ".join(texts) for word in ("Pferde", "Müller", "kaufte", "Kilometer"))


def test_positive_and_negative_turn_words_one_way_only() -> None:
    base = "The sad farmer lost a good horse."
    glad, sour = write("All Positive", base), write("All Negative", base)
    assert "happy" in glad and "won" in glad and "good" in glad
    assert "bad" in sour and "lost" in sour and "happy" not in sour
    assert re.search("wonderful|delight|Joyfully", glad)
    assert re.search("disgrace|Miserably|infuriating", sour)


def test_exaggerate_inflates_the_numbers() -> None:
    assert "12 thousand million" in write("Exaggerate")
    assert "!!!" in write("Exaggerate")


def test_understate_is_short_and_mild() -> None:
    text = write("Understate", "It was a very terrible and huge storm over all the villages.")
    assert "terrible" not in text and "huge" not in text
    assert re.search("small matter|more or less|not that it matters", text)


def test_misleading_changes_numbers_names_and_statements() -> None:
    for seed in SEEDS:
        text = write("Misleading", seed=seed)
        assert not set(numbers(text)) & {"12"}
        assert "Seeheim" not in text
        assert denies(text)
        assert "three" not in text


def test_misleading_alters_even_what_has_no_details() -> None:
    for seed in SEEDS:
        assert "had ordered" in write("Misleading", "Rain is here.", seed)


def test_contradictory_denies_each_sentence() -> None:
    for seed in SEEDS:
        first, second = re.split(r"(?<=\.)\s+", write("Contradictory", seed=seed))
        assert denies(first) and denies(second)


def test_simplify_uses_short_sentences_and_easy_words() -> None:
    base = "The committee discussed the regulations, however the president remained silent."
    text = write("Simplify", base)
    assert re.search("group", text) and re.search("talked about", text) and "rules" in text
    assert max(len(part.split()) for part in re.split(r"[.!?]", text)) <= 16


def test_poetic_breaks_the_lines() -> None:
    assert "\n" in write("Poetic", "At night, the sea sang, and the wind answered.")
    assert "velvet night" in write("Poetic", "At night the sea sang.")


def test_cultural_converts_units_and_words() -> None:
    text = write("Cultural")
    assert "7.5 miles" in text and "gray" in text
    assert "States" in write("Cultural", "She sang.")


def test_quantitative_adds_true_counts() -> None:
    text = write("Quantitative")
    assert "3 gr" in text
    assert text.endswith("In total: 1 figures, 2 names.")


def test_creative_starts_from_the_end() -> None:
    text = write("Creative")
    assert text.index("smiled") < text.index("miller")
