"""What can be said of a paper by somebody who read no more than its synopsis."""

from __future__ import annotations

import re

import numpy as np

from judgelab.core.sections import sentences

OPENING = (
    "Going by its synopsis, the paper says the following.",
    "The paper can be summed up as follows.",
    "What the authors report is, in short, this.",
)
FOR = (
    "The question that the paper asks is a relevant one.",
    "The approach seems reasonable for what it sets out to do.",
    "The contribution is stated in clear terms.",
    "The work should interest a part of the community.",
    "The authors support what they say with some evidence.",
    "The paper takes up a problem that is worth more attention.",
    "The idea can be explained in a few words, which speaks for it.",
    "The work builds on what is known and goes a step further.",
)
AGAINST = (
    "It is not certain how far the findings carry over to other settings.",
    "The comparison with existing approaches may not be complete.",
    "The conditions under which the approach works could be spelled out.",
    "The cost of the approach deserves a closer look.",
    "It is left open which part of the work makes the difference.",
    "The limits of the work are not given much room.",
    "The distance to earlier work could be made clearer.",
    "More evidence would make the claims more convincing.",
)
QUESTIONS = (
    "How sensitive are the findings to the choices that were made?",
    "What would change in a different setting?",
    "Which part of the approach matters most?",
    "How does this compare with the simplest alternative?",
    "Where does the approach stop working?",
    "What do the authors see as the next step?",
)
REMARKS = (
    "As far as the synopsis shows, the paper is written clearly and its quality is acceptable.",
    "The novelty appears to be moderate, and nothing speaks against reproducing the work.",
    "The presentation seems to be in order, and the contribution is new to some extent.",
)
VERDICT = (
    "A solid piece of work with open points; it is close to the threshold.",
    "There are arguments on both sides, and the decision is not an easy one.",
    "The idea has merit, but some of the points above should be addressed.",
)
_LONGEST = 160


def generic_review(synopsis: str, rng: np.random.Generator) -> str:
    """A review in the four sections of ICLR 2023: four reasons for and four against."""
    said = [piece for line in synopsis.splitlines() for piece in sentences(line)]
    said = said or [" ".join(synopsis.split())]
    reasons = [*_drawn(FOR, 4, rng), *_drawn(AGAINST, 4, rng)]
    points = [
        f"{k % 4 + 1}. {reason}\n   - This concerns what the synopsis says here: {_quoted(line)}"
        for k, (reason, line) in enumerate(zip(reasons, _around(said, 8), strict=True))
    ]
    strengths_and_weaknesses = "\n".join(
        ["Strengths:", *points[:4], "", "Weaknesses:", *points[4:], "", "Questions:"]
        + [f"- {question}" for question in _drawn(QUESTIONS, 3, rng)]
    )
    return "\n\n".join(
        f"{header}:\n\n{body}"
        for header, body in (
            ("Summary Of The Paper", " ".join([*_drawn(OPENING, 1, rng), *said[:4]])),
            ("Strength And Weaknesses", strengths_and_weaknesses),
            ("Clarity, Quality, Novelty And Reproducibility", *_drawn(REMARKS, 1, rng)),
            ("Summary Of The Review", *_drawn(VERDICT, 1, rng)),
        )
    )


def _drawn(options: tuple[str, ...], count: int, rng: np.random.Generator) -> list[str]:
    return [options[k] for k in rng.choice(len(options), size=count, replace=False)]


def _around(lines: list[str], count: int) -> list[str]:
    return [lines[k % len(lines)] for k in range(count)]


def _quoted(line: str) -> str:
    """A sentence in quotation marks, cut after a word where it is long."""
    if len(line) <= _LONGEST:
        return f'"{line}"'
    cut = re.sub(r"\s+\S*$", "", line[:_LONGEST])
    return f'"{cut} ..."'
