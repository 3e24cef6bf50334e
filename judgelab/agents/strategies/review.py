"""Notes on a paper, and the review written from them (TVD-MI paper, appendix C.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgelab.agents.strategies.lexicon.base import Lexicon
from judgelab.agents.strategies.lexicon.research import CLAIM, LIMIT, METHOD, RESULT
from judgelab.agents.strategies.paper import Paper, third_person
from judgelab.agents.strategies.rewrite import deal, finish

HEADINGS = (
    "Summary Of The Paper",
    "Strength And Weaknesses",
    "Clarity, Quality, Novelty And Reproducibility",
    "Summary Of The Review",
    "Correctness",
    "Technical Novelty And Significance",
    "Empirical Novelty And Significance",
)


@dataclass(frozen=True)
class Notes:
    """What a reviewer wrote down while reading; the review is written from this alone.

    Attributes:
        summary: sentences on what the paper does.
        strengths, weaknesses: one point each.
        remarks: on clarity, quality, novelty, reproducibility.
        verdict: two or three sentences.
        scores: correctness, technical novelty, empirical novelty; 1 (lowest) to 5.
    """

    summary: Sequence[str]
    strengths: Sequence[str]
    weaknesses: Sequence[str]
    remarks: Sequence[str]
    verdict: Sequence[str]
    scores: tuple[int, int, int]

    def review(self) -> str:
        """The seven sections of the review form."""
        points = [
            *(["Strengths:"] if self.strengths else []),
            *(f"- {finish(point)}" for point in self.strengths),
            *(["Weaknesses:"] if self.weaknesses else []),
            *(f"- {finish(point)}" for point in self.weaknesses),
        ]
        bodies = (
            _prose(self.summary),
            "\n".join(points),
            _prose(self.remarks),
            _prose(self.verdict),
            *(str(score) for score in self.scores),
        )
        parts = zip(HEADINGS, bodies, strict=True)
        return "\n\n".join(f"# {heading}\n{body}" for heading, body in parts)


@dataclass(frozen=True)
class Lens:
    """A reviewer's leaning: which sentences catch the eye, and what is said about them.

    Attributes:
        cue: words of the sentences that are noticed.
        praise, blame, remarks, verdict: frames; ``{s}`` is a noticed sentence, ``{t}`` a topic.
        counts: how many points of praise and of blame are made.
        scores: lowest and highest score given.
    """

    cue: Lexicon
    praise: Sequence[str]
    blame: Sequence[str]
    remarks: Sequence[str]
    verdict: Sequence[str]
    counts: tuple[int, int] = (1, 3)
    scores: tuple[int, int] = (2, 3)

    def notes(
        self, paper: Paper, rng: np.random.Generator, summary: Sequence[str] | None = None
    ) -> Notes:
        """Notes taken through this lens; the summary is a faithful one unless given."""
        praised, blamed = self.counts
        return Notes(
            summary=faithful_summary(paper, rng) if summary is None else summary,
            strengths=frame(paper, rng, self.praise, praised, RESULT, LIMIT),
            weaknesses=frame(paper, rng, self.blame, blamed, self.cue),
            remarks=frame(paper, rng, self.remarks, 2, self.cue),
            verdict=frame(paper, rng, self.verdict, 2, CLAIM),
            scores=rate(rng, *self.scores),
        )


def faithful_summary(paper: Paper, rng: np.random.Generator) -> list[str]:
    """What the paper claims, how it goes about it, and what it finds."""
    told = [
        *paper.told(CLAIM, rng, 2),
        *paper.told(METHOD, rng, 2),
        *paper.told(RESULT, rng, 2),
    ]
    return summarised(paper, told)


def summarised(paper: Paper, told: Sequence[str]) -> list[str]:
    """The title, then the statements once each, as a reviewer reports them."""
    return [
        f"The paper under review is {paper.title}",
        *(third_person(s) for s in dict.fromkeys(told)),
    ]


def frame(
    paper: Paper,
    rng: np.random.Generator,
    frames: Sequence[str],
    n: int,
    cue: Lexicon,
    without: Lexicon | None = None,
) -> list[str]:
    """``n`` frames (or all there are), filled with sentences of the cue and with topics."""
    n = min(n, len(frames))
    chosen = deal(rng, frames, n)
    sentences = paper.told(cue, rng, n, without)
    topics = deal(rng, paper.topics, n)
    return [
        text.format(
            s=paper.inside(sentences[i % len(sentences)]),
            t=topics[i],
            u=topics[(i + 1) % n],
            title=paper.title,
        )
        for i, text in enumerate(chosen)
    ]


def rate(rng: np.random.Generator, low: int, high: int) -> tuple[int, int, int]:
    """Three scores between ``low`` and ``high``."""
    first, second, third = (int(score) for score in rng.integers(low, high + 1, size=3))
    return first, second, third


def _prose(sentences: Sequence[str]) -> str:
    return " ".join(finish(sentence) for sentence in sentences)
