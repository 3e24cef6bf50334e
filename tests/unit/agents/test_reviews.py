"""Each review has the form's structure and does what its strategy says."""

from __future__ import annotations

import re

import numpy as np
import pytest

from judgelab.agents.strategies.paper import HEADINGS, Paper, third_person
from judgelab.agents.strategies.reviews import REVIEWS
from judgelab.agents.strategies.text import Source, content_words, numbers

PAPER = """# Sparse Gates for Weather Emulators

## Abstract
We propose sparse gates for neural weather emulators. The gates switch off half of the network.

## 1 Introduction
Emulators replace slow simulators, yet they are large. We ask how much of a network is needed.

## 2 Method
The gradient of each gate is estimated with a straight-through estimator. The loss adds a penalty
on open gates. We assume that the gates of different layers are independent.

## 3 Experiments
On the Aeris benchmark the gated model reaches an error of 3.7, compared with 3.9 for the dense
baseline, averaged over 4 seeds. Training takes 11 hours on 8 GPUs. Accuracy improves by 2.3
percent for wind.

## 4 Theory
We prove that the penalty bounds the number of open gates.

## 5 Limitations
We did not test precipitation. The gains vanish for forecasts beyond 9 days.

## 6 Conclusion
Half of a weather emulator can be switched off without loss.
"""
SEEDS = range(6)


def write(strategy: str, paper: str = PAPER, seed: int = 0) -> str:
    return REVIEWS[strategy](Source(paper, "paper"), np.random.default_rng(seed))


def sections(review: str) -> dict[str, str]:
    parts = re.split(r"(?m)^# (.+)\n", review)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def overlap(text: str) -> int:
    return len(set(content_words(text)) & set(content_words(PAPER)))


@pytest.mark.parametrize("strategy", REVIEWS)
@pytest.mark.parametrize(
    "paper", [PAPER, "One idea, untested.", "We tested 3 nets on 2 tasks. " * 9]
)
def test_the_seven_sections_and_scores_from_1_to_5(strategy: str, paper: str) -> None:
    for seed in SEEDS:
        found = sections(write(strategy, paper, seed))
        assert tuple(found) == HEADINGS
        assert all(body.strip() for body in found.values())
        assert all(int(found[name]) in range(1, 6) for name in HEADINGS[4:])


GOOD_FAITH = (
    *("Faithful", "Objective Analysis", "Thorough Evaluation", "Balanced Critique"),
    *("Theory Focus", "Harsh Critique", "Overly Positive", "Scope Creep", "Writing Critique"),
)


@pytest.mark.parametrize("strategy", GOOD_FAITH)
def test_good_faith_names_the_paper_and_its_true_numbers(strategy: str) -> None:
    for seed in SEEDS:
        review = write(strategy, seed=seed)
        body = review.split("# Correctness")[0]
        assert "Sparse Gates for Weather Emulators" in review
        assert set(numbers(body)) <= set(numbers(PAPER))
        assert overlap(review) > 15


def test_faithful_reports_the_limits_the_paper_states() -> None:
    assert "did not test precipitation" in write("Faithful")


def test_balanced_critique_gives_both_sides_the_same_room() -> None:
    points = sections(write("Balanced Critique"))["Strength And Weaknesses"]
    good, bad = points.split("Weaknesses:")
    assert good.count("\n- ") == bad.count("\n- ") == 2


@pytest.mark.parametrize("strategy,low,high", [("Harsh Critique", 1, 2), ("Overly Positive", 4, 5)])
def test_tone_shows_in_points_and_scores(strategy: str, low: int, high: int) -> None:
    found = sections(write(strategy))
    good, bad = found["Strength And Weaknesses"].split("Weaknesses:")
    assert (good.count("\n- ") < bad.count("\n- ")) == (strategy == "Harsh Critique")
    assert all(low <= int(found[name]) <= high for name in HEADINGS[4:])


MARKS = {
    "Theory Focus": "theorem|bound|proof|theory|conditions",
    "Implementation Obsessed": "memory|hardware|code|library|settings",
    "Comparison Fixated": "literature|Other groups|recent method|Compared",
    "Pedantic Details": "comma|fonts|full stop|hyphen",
    "Scope Creep": "robotics|every other field|thousand people|open world",
    "Statistical Nitpick": "interval|seeds|multiple comparisons|variance",
    "Future Work Focus": "later|next step|explored|Open questions",
    "Writing Critique": "split|transition|alternate|introduction",
    "Overly Technical": "manifold|Identifiability|spectral",
    "Assumption Attack": "presupposes|assume|granted|assumption",
    "Dismissive Expert": "decades|no effort|elementary|exercise",
}


@pytest.mark.parametrize("strategy", MARKS)
def test_a_leaning_shows_in_every_weakness(strategy: str) -> None:
    for seed in SEEDS:
        weak = sections(write(strategy, seed=seed))["Strength And Weaknesses"]
        points = re.findall(r"(?m)^- (.+)$", weak.split("Weaknesses:")[1])
        assert len(points) >= 3
        assert all(re.search(MARKS[strategy], point) for point in points)


def test_method_shift_keeps_the_results_and_changes_the_method() -> None:
    for seed in SEEDS:
        summary = sections(write("Method Shift", seed=seed))["Summary Of The Paper"]
        assert "gradient" not in summary and "straight-through estimator" not in summary
        assert set(numbers(summary)) & set(numbers(PAPER))
        assert re.search("expert system|evolutionary|nearest|Markov|theorem|forest", summary)


def test_question_shift_names_another_problem() -> None:
    for seed in SEEDS:
        summary = sections(write("Question Shift", seed=seed))["Summary Of The Paper"]
        assert re.search("grids|proteins|vans|courts|paintings|crop", summary)
        assert "Sparse Gates for Weather" not in summary


def test_contribution_misrepresent_calls_the_claims_minor() -> None:
    found = sections(write("Contribution Misrepresent"))
    assert "As a minor aside, the authors" in found["Summary Of The Paper"]
    assert "triviality" in found["Strength And Weaknesses"]


def test_result_manipulation_reports_no_true_number() -> None:
    for seed in SEEDS:
        body = write("Result Manipulation", seed=seed).split("# Correctness")[0]
        assert numbers(body)
        assert not set(numbers(body)) & set(numbers(PAPER))


def test_benchmark_obsessed_is_about_the_figures() -> None:
    review = write("Benchmark Obsessed")
    assert "3.7" in review and "3.9" in review
    assert overlap(review) < 8


def test_agenda_push_turns_every_point_to_one_method() -> None:
    for seed in SEEDS:
        review = write("Agenda Push", seed=seed)
        favourites = ("Bayesian", "causal", "symbolic", "kernel", "spiking")
        assert any(review.count(name) >= 6 for name in favourites)


def test_generic_uses_nothing_of_the_source() -> None:
    assert write("Generic", PAPER) == write("Generic", "Cats purr. Dogs bark.")


def test_low_effort_and_template_are_short_and_checklist_ticks() -> None:
    full = len(write("Faithful").split())
    for strategy in ("Low Effort", "Template Fill", "Checklist Review"):
        assert len(write(strategy).split()) < 0.4 * full
    assert "Results in figures: yes" in write("Checklist Review")
    assert "Results in figures: no" in write("Checklist Review", "Cats purr. Dogs bark.")


def test_surface_skim_reads_abstract_introduction_and_conclusion_only() -> None:
    skimmed = Paper(Source(PAPER)).skimmed.text
    assert "switch off half" in skimmed and "they are large" in skimmed and "Half of a" in skimmed
    assert "straight-through" not in skimmed and "Aeris" not in skimmed
    for seed in SEEDS:
        assert not re.search("straight-through|Aeris|GPUs", write("Surface Skim", seed=seed))


def test_titles() -> None:
    assert Paper(Source(PAPER)).title == "Sparse Gates for Weather Emulators"
    assert Paper(Source("Title: Deep Sets\nAbstract: We pool.")).title == "Deep Sets"
    assert Paper(Source("Networks pool over sets.")).title.startswith("a paper on ")


def test_the_authors_are_spoken_of_in_the_third_person() -> None:
    assert third_person("We show that our bound helps us") == (
        "The authors show that their bound helps them"
    )
