"""Reviews that distort or skimp (TVD-MI paper, Table 7, Strategic and Low Effort)."""

from __future__ import annotations

import numpy as np

from judgelab.agents.strategies.lexicon.base import options
from judgelab.agents.strategies.lexicon.research import (
    ASSUMPTION,
    CLAIM,
    DATA,
    DIRECTIONS,
    METHOD,
    METHOD_SWAPS,
    RESULT,
)
from judgelab.agents.strategies.numerals import falsify_numbers
from judgelab.agents.strategies.paper import Paper, third_person
from judgelab.agents.strategies.review import Lens, Notes, frame, rate
from judgelab.agents.strategies.rewrite import choose, compress, deal
from judgelab.agents.strategies.source import Source
from judgelab.agents.strategies.text import numbers

_OTHER_METHODS = options(
    "a rule-based expert system | an evolutionary search | a nearest-neighbour table"
    "| a hidden Markov chain | a symbolic theorem prover | a decision forest"
)
_OTHER_PROBLEMS = options(
    "how electricity grids can be balanced | how proteins fold | how to route delivery vans"
    "| how courts can schedule hearings | how to detect forged paintings"
    "| how crop yields depend on rainfall"
)
_FAVOURITES = options(
    "Bayesian inference | causal graphs | symbolic reasoning | kernel methods | spiking networks"
)
_PLAIN_REMARKS = options("The part on {t} can be followed | The novelty of {t} is moderate")
_PLAIN_VERDICT = options("The paper treats {t} | It also bears on {t}")


def method_shift(source: Source, rng: np.random.Generator) -> str:
    """Another method in the paper's own terms, with its results."""
    paper = Paper(source)
    other = choose(rng, _OTHER_METHODS)
    shifted = [METHOD_SWAPS.rewrite(third_person(s), rng) for s in paper.told(METHOD, rng, 3)]
    return Notes(
        [
            f"For {paper.topics[0]} the authors use {other}",
            *shifted,
            *(third_person(s) for s in paper.told(RESULT, rng, 2)),
        ],
        frame(paper, rng, options(f"With {other}, {{s}} | {{s}}"), 2, RESULT),
        [f"Why {other} should suit {paper.topics[-1]} is not explained", *shifted[:1]],
        frame(paper, rng, _PLAIN_REMARKS, 2, METHOD),
        [f"A case for {other}, applied to {paper.topics[0]}"],
        rate(rng, 2, 4),
    ).review()


def question_shift(source: Source, rng: np.random.Generator) -> str:
    """A different problem, in whose service the paper's methods are put."""
    paper = Paper(source)
    problem = choose(rng, _OTHER_PROBLEMS)
    used = frame(paper, rng, options("To this end, {s} | As a means to it, {s}"), 2, METHOD)
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
    claims = paper.told(CLAIM, rng, 2)
    side = sorted(source.sentences, key=lambda s: s.salience)[:2]
    small = [compress(s.text, 34) for s in side]
    return Notes(
        [
            *(f"The central contribution is that {paper.inside(s)}" for s in small),
            *(f"As a minor aside, {paper.inside(s)}" for s in claims),
        ],
        [f"By far the most important finding: {paper.inside(s)}" for s in small],
        [f"It is a triviality that {paper.inside(s)}" for s in claims],
        frame(paper, rng, _PLAIN_REMARKS, 1, METHOD),
        [f"The value of the paper lies in this: {paper.inside(small[0])}"],
        rate(rng, 2, 4),
    ).review()


def result_manipulation(source: Source, rng: np.random.Generator) -> str:
    """Results with other numbers and, at times, the other direction."""
    paper = Paper(source)
    forbidden = frozenset(numbers(source.text))
    told = [third_person(s) for s in paper.told(RESULT, rng, 4)]
    altered = [
        DIRECTIONS.rewrite(falsify_numbers(sentence, forbidden, rng), rng, 0.7) for sentence in told
    ]
    method = [third_person(s) for s in paper.told(METHOD, rng, 1)]
    plain = [falsify_numbers(sentence, forbidden, rng) for sentence in method]
    return Notes(
        [*plain, *altered[:3]],
        [f"Reported: {paper.inside(altered[0])}"],
        [f"Disappointing: {paper.inside(altered[-1])}"],
        frame(paper, rng, _PLAIN_REMARKS, 2, METHOD),
        [f"In short, {paper.inside(altered[0])}"],
        rate(rng, 2, 4),
    ).review()


def assumption_attack(source: Source, rng: np.random.Generator) -> str:
    """The assumptions, each called untenable."""
    lens = Lens(
        ASSUMPTION,
        options("The authors at least say what they take for granted"),
        options(
            """
            The whole argument presupposes that {s}, which is untenable
            Nobody can seriously assume that {s}
            That {t} can be had at all is taken for granted without reason
            Once the assumption about {t} falls, everything about {u} falls with it
            """
        ),
        options("Quality cannot be judged on such premises | The premise on {t} is unsound"),
        options("Built on sand: it is assumed that {s} | I reject the premises on {t}"),
        (1, 4),
        (1, 2),
    )
    paper = Paper(source)
    taken = frame(paper, rng, options("The paper takes for granted that {s}"), 1, ASSUMPTION)
    return lens.notes(
        paper, rng, [f"The paper rests on doubtful premises about {paper.topics[0]}", *taken]
    ).review()


def dismissive_expert(source: Source, rng: np.random.Generator) -> str:
    """Everything is trivial and was known long ago."""
    lens = Lens(
        CLAIM,
        options("I suppose students may find {t} amusing"),
        options(
            """
            Anybody in the field has known for decades that {s}
            It takes no effort to see that {s}
            The authors seem unaware of how elementary {t} is
            I solved {t} as an exercise many years ago
            """
        ),
        options("Of novelty there is none | That {s} is hardly worth a sentence"),
        options("There is nothing here for a specialist | {t} was settled long ago"),
        (1, 4),
        (1, 2),
    )
    paper = Paper(source)
    return lens.notes(paper, rng, [f"Yet another trivial exercise on {paper.topics[0]}"]).review()


def agenda_push(source: Source, rng: np.random.Generator) -> str:
    """Every point an argument for the reviewer's favourite method."""
    paper = Paper(source)
    best = choose(rng, _FAVOURITES)
    blame = options(
        f"""
        With {best} it would not have been necessary that {{s}}
        The authors should drop their approach to {{t}} in favour of {best}
        Any work on {{t}} that ignores {best} is incomplete
        It is well known that {best} handles {{t}} and {{u}} better
        """
    )
    lens = Lens(
        METHOD,
        options(f"In places the work comes close to {best}"),
        blame,
        options(f"Clarity would gain from {best} | Novelty over {best} is not shown"),
        options(f"I can only accept a version built on {best} | {{t}} is a task for {best}"),
        (1, 4),
        (1, 3),
    )
    summary = [f"The paper attempts {paper.topics[0]} without {best}"]
    return lens.notes(paper, rng, summary).review()


def benchmark_obsessed(source: Source, rng: np.random.Generator) -> str:
    """Nothing but benchmark numbers."""
    found = [n for s in Paper(source).about(RESULT, rng, 4) for n in numbers(s.text)]
    figures = ", ".join(dict.fromkeys(found)) or "none at all"
    lens = Lens(
        DATA,
        options(f"The numbers that matter: {figures}"),
        options(
            """
            More leaderboards are needed; ideas without a first place do not count
            It does not matter how {t} works as long as the number is not the best one
            A table with twenty more benchmarks is missing
            """
        ),
        options("Quality equals rank, and the rank is not clear | Only the score on {t} counts"),
        options(f"Judged by its figures ({figures}), not enough | Where is the top rank?"),
        (1, 3),
        (1, 3),
    )
    return lens.notes(Paper(source), rng, [f"The paper reports these figures: {figures}"]).review()


def low_effort(source: Source, rng: np.random.Generator) -> str:
    """A few short sentences without methods or results."""
    topic = Paper(source).topics[0]
    return Notes(
        [f"The paper is about {topic}", "It proposes something and tests it"],
        [choose(rng, options("Seems fine | Decent idea | Relevant topic"))],
        [choose(rng, options("Could be better | Some parts are unclear | More tests needed"))],
        [choose(rng, options("Readable | Clarity is okay | Mostly clear"))],
        [choose(rng, options("Borderline | Okay overall | Not sure about it"))],
        rate(rng, 2, 4),
    ).review()


def generic(source: Source, rng: np.random.Generator) -> str:
    """Would fit any machine-learning paper; nothing of the source is used."""
    strengths = options(
        """
        The problem is relevant to the community
        The idea is simple and well motivated
        The empirical part covers several settings
        The presentation is mostly clear
        """
    )
    weaknesses = options(
        """
        More baselines would strengthen the case
        An ablation study of the components would help
        The choice of hyperparameters could be discussed in more depth
        Some claims are not fully backed by evidence
        """
    )
    return Notes(
        ["The work proposes a new approach to a machine learning problem and evaluates it"],
        deal(rng, strengths, 2),
        deal(rng, weaknesses, 2),
        ["The text reads well, the quality is reasonable and the novelty is moderate"],
        ["A reasonable submission with some room for improvement"],
        rate(rng, 3, 3),
    ).review()


def surface_skim(source: Source, rng: np.random.Generator) -> str:
    """From the abstract, the introduction and the conclusion alone."""
    paper = Paper(Paper(source).skimmed)
    return Notes(
        [third_person(compress(s.text, 30)) for s in paper.source.sentences[:3]],
        frame(paper, rng, options("The abstract promises that {s}"), 1, CLAIM),
        [f"Details of {paper.topics[0]} did not become clear"],
        frame(paper, rng, _PLAIN_REMARKS, 1, CLAIM),
        frame(paper, rng, _PLAIN_VERDICT, 1, CLAIM),
        rate(rng, 3, 4),
    ).review()


def template_fill(source: Source, rng: np.random.Generator) -> str:
    """The fields of a form, with a few words each."""
    paper = Paper(source)
    return Notes(
        [f"Topic: {paper.topics[0]}", "Approach: see paper", "Findings: positive"],
        [f"{choose(rng, paper.topics[:3])}"],
        ["Scope"],
        ["Clarity: fair", "Quality: fair", "Novelty: fair", "Reproducibility: fair"],
        ["Recommendation: neutral"],
        rate(rng, 3, 3),
    ).review()


def checklist_review(source: Source, rng: np.random.Generator) -> str:
    """A standard list of yes and no, read off key words."""
    paper = Paper(source)
    asked = {
        "Clear statement of the contribution": bool(paper.about(CLAIM, rng, 1)),
        "Method described": bool(paper.about(METHOD, rng, 1)),
        "Results in figures": bool(numbers(source.text)),
        "Data named": bool(paper.about(DATA, rng, 1)),
    }
    ticks = [f"{item}: {'yes' if yes else 'no'}" for item, yes in asked.items()]
    return Notes(
        ["See title"],
        [tick for tick in ticks if tick.endswith("yes")],
        [*(tick for tick in ticks if tick.endswith("no")), "Ablations: not checked"],
        ["Language: ok", "References: present", "Figures: legible"],
        [f"{sum(asked.values())} of {len(asked)} boxes ticked"],
        rate(rng, 2, 4),
    ).review()
