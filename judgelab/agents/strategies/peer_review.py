"""Reviews in good faith, plain or with a leaning (TVD-MI paper, Table 7, Faithful and Style)."""

from __future__ import annotations

import numpy as np

from judgelab.agents.strategies.lexicon.base import options
from judgelab.agents.strategies.lexicon.registers import TECHNICAL
from judgelab.agents.strategies.lexicon.research import (
    ASSUMPTION,
    CLAIM,
    DATA,
    IMPLEMENTATION,
    LIMIT,
    METHOD,
    RELATED,
    RESULT,
    STATISTICS,
    THEORY,
)
from judgelab.agents.strategies.paper import Paper
from judgelab.agents.strategies.review import Lens, Notes, faithful_summary, frame, rate, summarised
from judgelab.agents.strategies.source import Source

_FAIR_REMARKS = options(
    """
    Clarity is good where {s}
    The description of {t} is easy to follow
    The novelty lies in how {t} and {u} are combined
    Reproducing the work looks feasible, given what is said about {t}
    """
)
_FAIR_VERDICT = options(
    """
    In sum: {s}
    The work on {t} is sound within its limits
    The main point stands: {s}
    """
)
_HARSH = Lens(
    LIMIT,
    options("One may grant that {s}"),
    options(
        """
        It is a serious flaw that {s}
        The treatment of {t} is superficial and leaves the reader unconvinced
        The paper does not justify its choices on {t} and {u}
        Even where {s}, the evidence is thin
        """
    ),
    options("The writing on {t} is hard to follow | Quality suffers because {s}"),
    options("The weaknesses clearly prevail | A paper on {t} should do far better than this"),
    (1, 4),
    (1, 2),
)
_POSITIVE = Lens(
    RESULT,
    options(
        """
        It is outstanding that {s}
        The treatment of {t} is a real breakthrough
        I was thrilled to read that {s}
        The ideas on {t} and {u} will inspire many readers
        """
    ),
    options("If anything, one would love to read even more about {t}"),
    options("The text is a pleasure to read | The novelty is striking, above all that {s}"),
    options("A wonderful paper: {s} | I recommend it without reservation"),
    (4, 1),
    (4, 5),
)
_THEORY = Lens(
    THEORY,
    options("The formal side has its merits: {s}"),
    options(
        """
        The statement that {s} is not turned into a theorem
        No bound is given for {t}, which leaves the theory incomplete
        The link between {t} and {u} calls for a proof
        It stays open under which conditions {s}
        """
    ),
    options("The definitions around {t} should be formal | In theory, {s} deserves a derivation"),
    options("Without a theory of {t} the work remains descriptive | The core is that {s}"),
)
_IMPLEMENTATION = Lens(
    IMPLEMENTATION,
    options("Useful for practitioners: {s}"),
    options(
        """
        It is reported that {s}, but the exact settings are missing
        How much memory {t} takes, and on which hardware, should be stated
        The code for {t} must be released with its configuration files
        Which library computes {t}, and in which precision, is not said
        """
    ),
    options("Reproducibility hinges on {t}: settings are needed | One must know how {s}"),
    options("I would have to see the code for {t} | In practice it counts that {s}"),
)
_COMPARISON = Lens(
    RELATED,
    options("There is some comparison: {s}"),
    options(
        """
        It is claimed that {s}, yet half of the literature is left out of the comparison
        Other groups have reached more on {t} with less
        The paper should be held against every recent method for {t} and {u}
        Compared with work of the last three years, the part on {t} looks pale
        """
    ),
    options("The novelty over earlier work on {t} is doubtful | Others have shown that {s}"),
    options("Next to its competitors the paper falls short on {t} | All it adds is that {s}"),
)
_PEDANTIC = Lens(
    METHOD,
    options("The content is clear enough: {s}"),
    options(
        """
        In the sentence saying that {s}, a comma is missing
        The symbol for {t} is introduced twice with different fonts
        Captions that mention {t} end with a full stop in some places and without in others
        The hyphen in compounds with {t} is used inconsistently
        """
    ),
    options("Notation for {t} is untidy | The line about {u} overruns the margin"),
    options("The formatting of {t} must be revised | Content apart, which is that {s}"),
    (1, 4),
)
_SCOPE = Lens(
    CLAIM,
    options("As far as it goes, {s}"),
    options(
        """
        Beyond showing that {s}, the paper should cover speech, video and robotics as well
        A full theory of {t} in every other field ought to be added
        One expects a user study on {t} with several thousand people
        The authors should also settle how {t} and {u} behave in the open world
        """
    ),
    options("The scope of {t} is far too narrow | It is not enough that {s}"),
    options("The paper should have solved much more than {t} | So far it only shows that {s}"),
)
_STATISTICAL = Lens(
    STATISTICS,
    options("Some repetition is reported: {s}"),
    options(
        """
        Where it says that {s}, an interval and a test are missing
        The number of seeds behind {t} is too small for any conclusion
        No correction for multiple comparisons is made over {t} and {u}
        The variance of {t} is not separated from that of {u}
        """
    ),
    options("The statistics of {t} are below standard | One cannot judge how sure it is that {s}"),
    options("Without tests the claims on {t} are open | It may be chance that {s}"),
)
_FUTURE = Lens(
    LIMIT,
    options("A starting point is made: {s}"),
    options(
        """
        It is left for later that {s}
        The next step would be to extend {t} to harder settings
        How {t} interacts with {u} remains to be explored
        Open questions on {t} outnumber the answers
        """
    ),
    options("The outlook on {t} could be wider | Later work must take up that {s}"),
    options("The paper is a first step on {t} | What is done is that {s}, and much remains"),
)
_WRITING = Lens(
    CLAIM,
    options("The message can be made out: {s}"),
    options(
        """
        The sentence that {s} is too long and should be split
        The section on {t} starts without any transition
        The terms {t} and {u} alternate without reason
        The introduction takes too long to reach {t}
        """
    ),
    options("The flow around {t} is bumpy | The structure hides that {s}"),
    options("A thorough edit of the part on {t} is needed | Readers should be told first that {s}"),
)


def faithful(source: Source, rng: np.random.Generator) -> str:
    """What the paper claims, does, finds and concedes."""
    paper = Paper(source)
    limits = [f"The authors state a limit: {paper.inside(s)}" for s in _limits(paper, rng, 2)]
    return Notes(
        faithful_summary(paper, rng),
        frame(paper, rng, options("It is shown that {s} | A clear merit: {s}"), 2, RESULT, LIMIT),
        limits or [f"Limits of {paper.topics[0]} are hardly discussed"],
        frame(paper, rng, _FAIR_REMARKS, 3, METHOD),
        frame(paper, rng, _FAIR_VERDICT, 2, CLAIM),
        rate(rng, 3, 4),
    ).review()


def objective_analysis(source: Source, rng: np.random.Generator) -> str:
    """Strengths and limits, each with the sentence that supports it."""
    paper = Paper(source)
    limits = [f"Against it: {paper.inside(s)}" for s in _limits(paper, rng, 3)]
    return Notes(
        faithful_summary(paper, rng),
        frame(
            paper, rng, options("In favour: {s} | Evidence is given: {s} | {s}"), 3, RESULT, LIMIT
        ),
        limits or [f"The evidence on {paper.topics[-1]} is incomplete"],
        frame(paper, rng, _FAIR_REMARKS, 4, METHOD),
        frame(paper, rng, _FAIR_VERDICT, 2, RESULT),
        rate(rng, 3, 4),
    ).review()


def thorough_evaluation(source: Source, rng: np.random.Generator) -> str:
    """Each part of the paper in turn: problem, method, theory, data, results, limits."""
    paper = Paper(source)
    parts = [s for cue in (CLAIM, METHOD, THEORY, DATA, RESULT) for s in paper.told(cue, rng, 2)]
    limits = [f"Conceded: {paper.inside(s)}" for s in _limits(paper, rng, 3)]
    assumed = frame(paper, rng, options("It rests on this: {s}"), 1, ASSUMPTION)
    return Notes(
        summarised(paper, parts),
        frame(paper, rng, options("Supported: {s} | Convincing: {s} | {s}"), 3, RESULT, LIMIT),
        [*limits, *assumed],
        frame(paper, rng, _FAIR_REMARKS, 4, IMPLEMENTATION),
        frame(paper, rng, _FAIR_VERDICT, 3, CLAIM),
        rate(rng, 3, 4),
    ).review()


def balanced_critique(source: Source, rng: np.random.Generator) -> str:
    """As many merits as faults."""
    paper = Paper(source)
    merits = options("On the one hand, {s} | It speaks for the paper that {s}")
    faults = options("On the other hand, {s} | It weighs against the paper that {s}")
    return Notes(
        faithful_summary(paper, rng),
        frame(paper, rng, merits, 2, RESULT, LIMIT),
        frame(paper, rng, faults, 2, LIMIT),
        frame(paper, rng, _FAIR_REMARKS, 2, METHOD),
        frame(paper, rng, options("Merits and faults of {t} balance | Both count: {s}"), 2, CLAIM),
        (3, 3, 3),
    ).review()


def overly_technical(source: Source, rng: np.random.Generator) -> str:
    """The faithful content in heavy jargon."""
    paper = Paper(source)
    heavy = Lens(
        METHOD,
        options("The operational formalism instantiates the following: {s}"),
        options(
            """
            The parametrisation of the {t} manifold is under-specified with respect to {u}
            Identifiability modulo {t} is not established, notwithstanding that {s}
            The spectral and information-geometric regime of {t} is not characterised
            """
        ),
        options("The latent factorisation over {t} is opaque | Formally, {s}"),
        options("Asymptotically, the apparatus around {t} is admissible | Operationally, {s}"),
    )
    summary = [TECHNICAL.rewrite(s, rng) for s in faithful_summary(paper, rng)]
    return heavy.notes(paper, rng, summary).review()


def harsh_critique(source: Source, rng: np.random.Generator) -> str:
    """Nearly all about faults."""
    return _seen(source, rng, _HARSH)


def overly_positive(source: Source, rng: np.random.Generator) -> str:
    """Admiration throughout."""
    return _seen(source, rng, _POSITIVE)


def theory_focus(source: Source, rng: np.random.Generator) -> str:
    """Proofs, bounds, definitions."""
    return _seen(source, rng, _THEORY)


def implementation_obsessed(source: Source, rng: np.random.Generator) -> str:
    """Code, settings, hardware."""
    return _seen(source, rng, _IMPLEMENTATION)


def comparison_fixated(source: Source, rng: np.random.Generator) -> str:
    """Other work, everywhere."""
    return _seen(source, rng, _COMPARISON)


def pedantic_details(source: Source, rng: np.random.Generator) -> str:
    """Commas, symbols, captions."""
    return _seen(source, rng, _PEDANTIC)


def scope_creep(source: Source, rng: np.random.Generator) -> str:
    """Much more should have been done."""
    return _seen(source, rng, _SCOPE)


def statistical_nitpick(source: Source, rng: np.random.Generator) -> str:
    """Intervals, seeds, tests."""
    return _seen(source, rng, _STATISTICAL)


def future_work_focus(source: Source, rng: np.random.Generator) -> str:
    """What is left open."""
    return _seen(source, rng, _FUTURE)


def writing_critique(source: Source, rng: np.random.Generator) -> str:
    """Wording, structure, flow."""
    return _seen(source, rng, _WRITING)


def _seen(source: Source, rng: np.random.Generator, lens: Lens) -> str:
    return lens.notes(Paper(source), rng).review()


def _limits(paper: Paper, rng: np.random.Generator, n: int) -> list[str]:
    """Limits that the paper itself states; empty where it states none."""
    return paper.told(LIMIT, rng, n) if paper.about(LIMIT, rng, n) else []
