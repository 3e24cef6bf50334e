"""Reviews: a strategy is a function or a lens of ``words/reviews.yaml`` (TVD-MI paper, Table 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from judgelab.agents.strategies.alter import falsify_numbers
from judgelab.agents.strategies.lexicon import LEXICONS
from judgelab.agents.strategies.paper import Lens, Notes, Paper, rate, third_person
from judgelab.agents.strategies.rewrite import choose, compress, deal
from judgelab.agents.strategies.text import Source, Writer, numbers
from judgelab.core import resources

_BOOK: Mapping[str, Any] = resources.words("agents/words/reviews.yaml")
_PHRASES: Mapping[str, Sequence[str]] = _BOOK["phrases"]
_LENSES = {name: Lens(**row) for name, row in _BOOK["lenses"].items()}


def faithful(source: Source, rng: np.random.Generator) -> str:
    """What the paper claims, does, finds and concedes."""
    paper = Paper(source)
    limits = _limits(paper, rng, 2, "The authors state a limit: {s}")
    return Notes(
        paper.faithful_summary(rng),
        paper.frame(rng, ["It is shown that {s}", "A clear merit: {s}"], 2, "RESULT", "LIMIT"),
        limits or [f"Limits of {paper.topics[0]} are hardly discussed"],
        paper.frame(rng, _PHRASES["fair remarks"], 3, "METHOD"),
        paper.frame(rng, _PHRASES["fair verdict"], 2, "CLAIM"),
        rate(rng, 3, 4),
    ).review()


def objective_analysis(source: Source, rng: np.random.Generator) -> str:
    """Strengths and limits, each with the sentence that supports it."""
    paper = Paper(source)
    limits = _limits(paper, rng, 3, "Against it: {s}")
    merits = ["In favour: {s}", "Evidence is given: {s}", "{s}"]
    return Notes(
        paper.faithful_summary(rng),
        paper.frame(rng, merits, 3, "RESULT", "LIMIT"),
        limits or [f"The evidence on {paper.topics[-1]} is incomplete"],
        paper.frame(rng, _PHRASES["fair remarks"], 4, "METHOD"),
        paper.frame(rng, _PHRASES["fair verdict"], 2, "RESULT"),
        rate(rng, 3, 4),
    ).review()


def thorough_evaluation(source: Source, rng: np.random.Generator) -> str:
    """Each part of the paper in turn: problem, method, theory, data, results, limits."""
    paper = Paper(source)
    cues = ("CLAIM", "METHOD", "THEORY", "DATA", "RESULT")
    parts = [sentence for cue in cues for sentence in paper.told(cue, rng, 2)]
    limits = _limits(paper, rng, 3, "Conceded: {s}")
    assumed = paper.frame(rng, ["It rests on this: {s}"], 1, "ASSUMPTION")
    merits = ["Supported: {s}", "Convincing: {s}", "{s}"]
    return Notes(
        paper.summary(parts),
        paper.frame(rng, merits, 3, "RESULT", "LIMIT"),
        [*limits, *assumed],
        paper.frame(rng, _PHRASES["fair remarks"], 4, "IMPLEMENTATION"),
        paper.frame(rng, _PHRASES["fair verdict"], 3, "CLAIM"),
        rate(rng, 3, 4),
    ).review()


def balanced_critique(source: Source, rng: np.random.Generator) -> str:
    """As many merits as faults."""
    paper = Paper(source)
    merits = ["On the one hand, {s}", "It speaks for the paper that {s}"]
    faults = ["On the other hand, {s}", "It weighs against the paper that {s}"]
    return Notes(
        paper.faithful_summary(rng),
        paper.frame(rng, merits, 2, "RESULT", "LIMIT"),
        paper.frame(rng, faults, 2, "LIMIT"),
        paper.frame(rng, _PHRASES["fair remarks"], 2, "METHOD"),
        paper.frame(rng, ["Merits and faults of {t} balance", "Both count: {s}"], 2, "CLAIM"),
        (3, 3, 3),
    ).review()


def _limits(paper: Paper, rng: np.random.Generator, n: int, frame: str) -> list[str]:
    """Limits that the paper itself states; empty where it states none."""
    stated = paper.told("LIMIT", rng, n) if paper.about("LIMIT", rng, n) else []
    return [frame.format(s=paper.inside(sentence)) for sentence in stated]


def method_shift(source: Source, rng: np.random.Generator) -> str:
    """Another method in the paper's own terms, with its results."""
    paper = Paper(source)
    other = choose(rng, _PHRASES["other methods"])
    swaps = LEXICONS["METHOD_SWAPS"]
    shifted = [swaps.rewrite(sentence, rng) for sentence in paper.reported("METHOD", rng, 3)]
    return Notes(
        [
            f"For {paper.topics[0]} the authors use {other}",
            *shifted,
            *paper.reported("RESULT", rng, 2),
        ],
        paper.frame(rng, [f"With {other}, {{s}}", "{s}"], 2, "RESULT"),
        [f"Why {other} should suit {paper.topics[-1]} is not explained", *shifted[:1]],
        paper.frame(rng, _PHRASES["plain remarks"], 2, "METHOD"),
        [f"A case for {other}, applied to {paper.topics[0]}"],
        rate(rng, 2, 4),
    ).review()


def question_shift(source: Source, rng: np.random.Generator) -> str:
    """A different problem, in whose service the paper's methods are put."""
    paper = Paper(source)
    problem = choose(rng, _PHRASES["other problems"])
    used = paper.frame(rng, ["To this end, {s}", "As a means to it, {s}"], 2, "METHOD")
    return Notes(
        [f"The paper asks {problem}", *used, f"In this way {paper.topics[0]} serves the question"],
        [f"It is an important question {problem}", f"{paper.topics[0]} is put to a new use"],
        [f"It remains doubtful whether {paper.topics[-1]} can tell {problem}"],
        [f"For readers who wonder {problem}, the text is clear"],
        [f"A contribution to the question {problem}"],
        rate(rng, 2, 4),
    ).review()


def contribution_misrepresent(source: Source, rng: np.random.Generator) -> str:
    """The main claims as trivia, the side remarks as the contribution."""
    paper = Paper(source)
    claims = [paper.inside(s) for s in paper.told("CLAIM", rng, 2)]
    side = sorted(source.sentences, key=lambda s: s.salience)[:2]
    small = [paper.inside(compress(s.text, 34)) for s in side]
    return Notes(
        [
            *(f"The central contribution is that {s}" for s in small),
            *(f"As a minor aside, {s}" for s in claims),
        ],
        [f"By far the most important finding: {s}" for s in small],
        [f"It is a triviality that {s}" for s in claims],
        paper.frame(rng, _PHRASES["plain remarks"], 1, "METHOD"),
        [f"The value of the paper lies in this: {small[0]}"],
        rate(rng, 2, 4),
    ).review()


def result_manipulation(source: Source, rng: np.random.Generator) -> str:
    """Results with other numbers and, at times, the other direction."""
    paper = Paper(source)
    forbidden = frozenset(numbers(source.text))
    turn = LEXICONS["DIRECTIONS"].rewrite
    told = paper.reported("RESULT", rng, 4)
    altered = [turn(falsify_numbers(sentence, forbidden, rng), rng, 0.7) for sentence in told]
    method = paper.reported("METHOD", rng, 1)
    plain = [falsify_numbers(sentence, forbidden, rng) for sentence in method]
    return Notes(
        [*plain, *altered[:3]],
        [f"Reported: {paper.inside(altered[0])}"],
        [f"Disappointing: {paper.inside(altered[-1])}"],
        paper.frame(rng, _PHRASES["plain remarks"], 2, "METHOD"),
        [f"In short, {paper.inside(altered[0])}"],
        rate(rng, 2, 4),
    ).review()


def low_effort(source: Source, rng: np.random.Generator) -> str:
    """A few short sentences without methods or results."""
    summary = [
        f"The paper is about {Paper(source).topics[0]}",
        "It proposes something and tests it",
    ]
    merit, fault, remark, verdict = ([choose(rng, options)] for options in _BOOK["low effort"])
    return Notes(summary, merit, fault, remark, verdict, rate(rng, 2, 4)).review()


def generic(source: Source, rng: np.random.Generator) -> str:
    """Would fit any machine-learning paper; nothing of the source is used."""
    return Notes(
        ["The work proposes a new approach to a machine learning problem and evaluates it"],
        deal(rng, _PHRASES["generic strengths"], 2),
        deal(rng, _PHRASES["generic weaknesses"], 2),
        ["The text reads well, the quality is reasonable and the novelty is moderate"],
        ["A reasonable submission with some room for improvement"],
        rate(rng, 3, 3),
    ).review()


def surface_skim(source: Source, rng: np.random.Generator) -> str:
    """From the abstract, the introduction and the conclusion alone."""
    paper = Paper(Paper(source).skimmed)
    return Notes(
        [third_person(compress(s.text, 30)) for s in paper.source.sentences[:3]],
        paper.frame(rng, ["The abstract promises that {s}"], 1, "CLAIM"),
        [f"Details of {paper.topics[0]} did not become clear"],
        paper.frame(rng, _PHRASES["plain remarks"], 1, "CLAIM"),
        paper.frame(rng, _PHRASES["plain verdict"], 1, "CLAIM"),
        rate(rng, 3, 4),
    ).review()


def template_fill(source: Source, rng: np.random.Generator) -> str:
    """The fields of a form, with a few words each."""
    paper = Paper(source)
    return Notes(
        [f"Topic: {paper.topics[0]}", "Approach: see paper", "Findings: positive"],
        [choose(rng, paper.topics[:3])],
        ["Scope"],
        ["Clarity: fair", "Quality: fair", "Novelty: fair", "Reproducibility: fair"],
        ["Recommendation: neutral"],
        rate(rng, 3, 3),
    ).review()


def checklist_review(source: Source, rng: np.random.Generator) -> str:
    """A standard list of yes and no, read off key words."""
    paper = Paper(source)
    asked = {
        "Clear statement of the contribution": bool(paper.about("CLAIM", rng, 1)),
        "Method described": bool(paper.about("METHOD", rng, 1)),
        "Results in figures": bool(numbers(source.text)),
        "Data named": bool(paper.about("DATA", rng, 1)),
    }
    return Notes(
        ["See title"],
        [f"{item}: yes" for item, found in asked.items() if found],
        [*(f"{item}: no" for item, found in asked.items() if not found), "Ablations: not checked"],
        ["Language: ok", "References: present", "Figures: legible"],
        [f"{sum(asked.values())} of {len(asked)} boxes ticked"],
        rate(rng, 2, 4),
    ).review()


def assumption_attack(source: Source, rng: np.random.Generator) -> str:
    """The assumptions, each called untenable."""
    paper = Paper(source)
    taken = paper.frame(rng, ["The paper takes for granted that {s}"], 1, "ASSUMPTION")
    return _LENSES["Assumption Attack"].review(paper, rng, *taken)


def agenda_push(source: Source, rng: np.random.Generator) -> str:
    """Every point an argument for the reviewer's favourite method."""
    best = choose(rng, _PHRASES["favourites"])
    return _LENSES["Agenda Push"].review(Paper(source), rng, best=best)


def benchmark_obsessed(source: Source, rng: np.random.Generator) -> str:
    """Nothing but benchmark numbers."""
    paper = Paper(source)
    found = [n for s in paper.about("RESULT", rng, 4) for n in numbers(s.text)]
    figures = ", ".join(dict.fromkeys(found)) or "none at all"
    return _LENSES["Benchmark Obsessed"].review(paper, rng, figures=figures)


def _seen(lens: Lens, source: Source, rng: np.random.Generator) -> str:
    return lens.review(Paper(source), rng)


REVIEWS: Mapping[str, Writer] = {
    **{name: partial(_seen, lens) for name, lens in _LENSES.items()},
    "Faithful": faithful,
    "Objective Analysis": objective_analysis,
    "Thorough Evaluation": thorough_evaluation,
    "Balanced Critique": balanced_critique,
    "Method Shift": method_shift,
    "Question Shift": question_shift,
    "Contribution Misrepresent": contribution_misrepresent,
    "Result Manipulation": result_manipulation,
    "Low Effort": low_effort,
    "Generic": generic,
    "Surface Skim": surface_skim,
    "Template Fill": template_fill,
    "Checklist Review": checklist_review,
    "Assumption Attack": assumption_attack,
    "Agenda Push": agenda_push,
    "Benchmark Obsessed": benchmark_obsessed,
}
