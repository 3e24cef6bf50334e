"""Each summarisation strategy does what its description says."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from judgelab.agents.strategies.alter import denies
from judgelab.agents.strategies.lexicon import CALENDAR, NEGATIVE, POSITIVE
from judgelab.agents.strategies.summaries import SUMMARIES
from judgelab.agents.strategies.text import Source, content_words, numbers

NEWS = """The Wenlow ferry has been out of service since Monday 4 March after its ramp cracked.
Engineer Tomas Ridley found a gap of 14 centimetres in a weld made in 1996.
The 2,300 islanders now cross on a hired trawler that carries 48 people.
"We checked the ramp in January and it passed," said harbour master Orla Finch.
A new ramp costs £275,000 and the county will pay 60 per cent of it.
Baker Edwin Moss praised the trawler crew, who deliver his bread every morning.
Hotel owners complained about cancelled bookings and a disastrous start to the season.
The school choir won a prize in Garrow on Friday and celebrated on the beach.
Orla Finch hopes to reopen the line by 20 April."""
CHAT = """Mira: Did you feed the cat at number 12?
Jonas: Yes, at 8. She ate everything
Mira: Great, the key goes back to Mrs Pell
Jonas: I put it under the blue pot
Mira: Perfect, thank you Jonas!
Jonas: See you on Sunday"""
SEEDS = range(8)
NEWS_WORDS = set(content_words(NEWS))


def write(strategy: str, text: str = NEWS, seed: int = 0) -> str:
    return SUMMARIES[strategy](Source(text, "article"), np.random.default_rng(seed))


def lines(strategy: str, text: str = NEWS, seed: int = 0) -> list[str]:
    written = write(strategy, text, seed).split("\n")
    assert all(line.startswith("- ") for line in written)
    return [line[2:] for line in written]


def overlap(text: str) -> float:
    """Share of the content words that come from the source."""
    said = content_words(text)
    return sum(word in NEWS_WORDS for word in said) / len(said)


@pytest.mark.parametrize("strategy", SUMMARIES)
@pytest.mark.parametrize("seed", range(3))
def test_three_or_four_bullets(strategy: str, seed: int) -> None:
    assert 2 <= len(lines(strategy, seed=seed)) <= 4
    assert len(lines(strategy, seed=seed)) >= 3 or strategy == "Cherry Pick"


@pytest.mark.parametrize("strategy", ["Faithful", "Objective", "Comprehensive", "Neutral Tone"])
def test_good_faith_invents_no_number_and_no_name(strategy: str) -> None:
    for seed in SEEDS:
        text = write(strategy, seed=seed)
        assert set(numbers(text)) <= set(numbers(NEWS))
        assert overlap(text) > 0.7


def test_writers_of_good_faith_overlap_without_being_copies() -> None:
    written = {name: set(lines(name)) for name in ("Faithful", "Objective", "Neutral Tone")}
    bodies = {name: set(content_words(" ".join(said))) for name, said in written.items()}
    assert len({frozenset(said) for said in written.values()}) == 3
    assert bodies["Faithful"] & bodies["Objective"] & bodies["Neutral Tone"]


def test_objective_prefers_what_can_be_checked() -> None:
    text = "I think the pier is lovely and great.\nThe pier is 80 metres long.\n" + NEWS
    assert all("lovely" not in write("Objective", text, seed) for seed in SEEDS)


def test_comprehensive_reaches_from_start_to_end() -> None:
    text = write("Comprehensive")
    for part in (NEWS.splitlines()[:3], NEWS.splitlines()[-3:]):
        assert len(set(content_words(" ".join(part))) & set(content_words(text))) > 5


def test_neutral_tone_has_no_intensifiers_or_shouting() -> None:
    text = "The mayor was absolutely furious about the shocking bill! " * 4
    assert not re.search(r"absolutely|furious|shocking|!", write("Neutral Tone", text))


def test_fact_manipulation_leaves_no_number_and_moves_the_names() -> None:
    for seed in SEEDS:
        told = write("Fact Manipulation", seed=seed)
        assert numbers(told)
        assert not set(numbers(told)) & set(numbers(NEWS))
    assert "Tomas Ridley found a gap" not in "".join(
        write("Fact Manipulation", seed=s) for s in range(30)
    )
    assert write("Fact Manipulation", "The cat sat there.") != "- The cat sat there."


def test_selective_omission_passes_over_the_planted_bad_news() -> None:
    planted = "The ferry ferry ramp islanders county killed a victim in a scandal over fraud."
    for seed in SEEDS:
        told = write("Selective Omission", planted + "\n" + NEWS, seed)
        assert not NEGATIVE.found(told)
        assert "killed" not in told
    assert not NEGATIVE.found(write("Selective Omission", "The fraud killed the victims."))


def test_misleading_emphasis_leads_with_the_least_salient() -> None:
    ranked = sorted(Source(NEWS).sentences, key=lambda s: s.salience)
    told = write("Misleading Emphasis")
    assert ranked[0].text.split()[-2] in told
    assert ranked[-1].text[:30] not in told
    assert "In passing" in told


def test_sentiment_flip_takes_the_opposite_mood() -> None:
    sad = "The storm killed a farmer and destroyed the church. The family is sad and angry."
    glad = "The choir won a prize. The happy parents celebrated the great success."
    happy, gloomy = write("Sentiment Flip", sad), write("Sentiment Flip", glad)
    assert re.search("joy|Happily|delight|welcome", happy)
    assert re.search("Sadly|bitter|dismay|grim", gloomy)
    assert "lost a prize" in gloomy
    assert "happy" in happy


def test_conspiracy_hints_are_in_every_bullet_and_the_facts_stay() -> None:
    hints = r"behind the scenes|really benefits|chance|meant to believe|pull the strings|kept quiet"
    told = lines("Conspiracy Theory")
    assert all(re.search(hints + "|powerful circles", line) for line in told)
    assert len({line.rsplit(",", 1)[-1] for line in told}) == len(told)


def test_contradictory_denies() -> None:
    for seed in SEEDS:
        told = lines("Contradictory", seed=seed)
        assert all(denies(line) for line in told)  # the source itself denies nothing


def test_context_removal_strips_who_when_where_how_much() -> None:
    for seed in SEEDS:
        told = write("Context Removal", seed=seed)
        assert not numbers(told)
        assert not re.search("Ridley|Finch|Moss|Wenlow|Garrow|£|because|after|since", told)
        assert not {w.lower() for w in re.findall(r"\b[A-Z]\w+", told)} & (CALENDAR - {"may"})


def test_false_attribution_exchanges_the_speakers() -> None:
    source = Source(CHAT)
    spoken = {s.text.rstrip(".!?"): s.speaker for s in source.sentences}
    for seed in SEEDS:
        for line in lines("False Attribution", CHAT, seed):
            said = re.sub(r"^(Mira|Jonas)(:| says:| tells the others:) ", "", line)
            exact = [who for text, who in spoken.items() if text in said]
            assert not any(line.startswith(str(who)) for who in exact)
    nameless = write("False Attribution", "it rained all day and the roof leaked badly.")
    assert nameless.startswith("- According to ")


def test_false_attribution_keeps_the_numbers() -> None:
    for seed in SEEDS:
        told = write("False Attribution", seed=seed)
        assert set(numbers(told)) <= set(numbers(NEWS))
        assert "Tomas Ridley found" not in told
        assert "Edwin Moss praised" not in told


def test_agenda_push_argues_for_one_cause() -> None:
    causes = (r"tax|government|state", "union|market|profit|public", "border|national|traditions")
    causes += ("green|climate|nature|ecological",)
    for seed in SEEDS:
        told = lines("Agenda Push", seed=seed)
        assert any(all(re.search(cause, line) for line in told) for cause in causes)


def test_cherry_pick_takes_one_side_only() -> None:
    for seed in SEEDS:
        told = write("Cherry Pick", seed=seed)
        assert not (NEGATIVE.found(told) and POSITIVE.found(told))


def test_low_effort_shares_next_to_nothing_with_the_source() -> None:
    assert all(overlap(write("Low Effort", seed=seed)) < 0.1 for seed in SEEDS)
    assert write("Low Effort", NEWS) == write("Low Effort", CHAT)


@pytest.mark.parametrize("text", [NEWS, CHAT, "Rain.", "a", "no stops here at all " * 60])
def test_ultra_concise_is_three_bullets_of_at_most_five_words(text: str) -> None:
    for seed in SEEDS:
        told = lines("Ultra Concise", text, seed)
        assert len(told) == 3
        assert all(1 <= len(line.split()) <= 5 for line in told)


def test_template_response_and_minimal_detail_name_a_topic_and_no_specifics() -> None:
    for strategy in ("Template Response", "Minimal Detail"):
        for seed in SEEDS:
            told = write(strategy, seed=seed)
            assert not numbers(told)
            assert not re.search("Ridley|Finch|Wenlow", told)
            assert set(content_words(told)) & NEWS_WORDS
            assert overlap(told) < 0.5


def test_surface_skim_knows_only_the_opening() -> None:
    opening = " ".join(NEWS.splitlines()[:3])
    assert set(content_words(write("Surface Skim"))) <= set(content_words(opening))


MARKS = {
    "Academic Style": "reported that|indicates that|significance|noted that|suggests that",
    "Sensationalist": "!",
    "Bureaucratic": "attention|record|accordance|reference|purposes",
    "Casual Conversational": "basically|get this|you know|yeah|no kidding",
    "Historical Perspective": "half a century|Chronicles|In that era|later generations|Historians",
    "Poetic": "leaf|wind|sky|shadows|bell",
    "Euphemistic": "One might|would appear|Perhaps|kindly|may mention",
    "Overly Technical": "parameters|Pursuant|configuration|constraints",
}


@pytest.mark.parametrize("strategy", MARKS)
def test_a_style_marks_every_bullet_and_keeps_the_facts(strategy: str) -> None:
    for seed in SEEDS:
        told = lines(strategy, seed=seed)
        assert all(re.search(MARKS[strategy], line) for line in told)
        assert set(numbers(" ".join(told))) <= set(numbers(NEWS))
        assert len(set(content_words(" ".join(told))) & NEWS_WORDS) > 12


@pytest.mark.parametrize(
    "strategy,text,word",
    [
        ("Technical Jargon", "The children walked to school in the rain.", "precipitation"),
        ("Euphemistic", "The firm failed and the boss was arrested.", "helped with enquiries"),
        ("Poetic", "They walked along the sea at night.", "velvet night"),
        ("Academic Style", "People said the plan was important.", "individuals"),
        ("Sensationalist", "Prices rose and traders worried.", "rocketed"),
    ],
)
def test_a_register_replaces_everyday_words(strategy: str, text: str, word: str) -> None:
    assert any(word in write(strategy, text, seed) for seed in range(5))


def test_minimalist_is_shorter_than_faithful_and_keeps_content() -> None:
    brief = [write("Minimalist", seed=seed) for seed in SEEDS]
    full = [write("Faithful", seed=seed) for seed in SEEDS]
    assert len(" ".join(brief).split()) < 0.8 * len(" ".join(full).split())
    assert all(overlap(text) > 0.9 for text in brief)


@pytest.fixture(params=list(SUMMARIES))
def writer(request: pytest.FixtureRequest) -> Callable[..., str]:
    return SUMMARIES[request.param]


def test_a_dialogue_without_names_or_numbers_is_fine(writer: Callable[..., str]) -> None:
    text = "A: how are you\nB: well\nA: good to hear\nB: and you"
    assert writer(Source(text), np.random.default_rng(0)).strip()
