"""A research paper as a reviewer reads it, and the review written from the notes alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from judgelab.agents.strategies.lexicon import LEXICONS
from judgelab.agents.strategies.rewrite import compress, deal, embed, finish, vary
from judgelab.agents.strategies.text import Sentence, Source

HEADINGS = (
    "Summary Of The Paper",
    "Strength And Weaknesses",
    "Clarity, Quality, Novelty And Reproducibility",
    "Summary Of The Review",
    "Correctness",
    "Technical Novelty And Significance",
    "Empirical Novelty And Significance",
)
_HEADING = re.compile(r"\s*#{1,6}\s*(.+)")
_PLAIN_HEADING = re.compile(
    r"\s*(?:\d+(?:\.\d+)*\.?\s+)?(abstract|introduction|background|related work|methods?|approach"
    r"|experiments?|evaluation|results?|discussion|limitations?|conclusions?)\s*:?\s*",
    re.IGNORECASE,
)
_LONGEST = 34
_SKIMMED = ("abstract", "introduction", "conclusion")
_THIRD = (
    (re.compile(r"^We\b"), "The authors"),
    (re.compile(r"\b[Ww]e\b"), "the authors"),
    (re.compile(r"^Our\b"), "Their"),
    (re.compile(r"\b[Oo]ur\b"), "their"),
    (re.compile(r"\bus\b"), "them"),
)


@dataclass(frozen=True)
class Paper:
    """A paper's text with what a reviewer looks for in it.

    A cue is the name of a word table: CLAIM, METHOD, RESULT, LIMIT and others.
    """

    source: Source

    @cached_property
    def title(self) -> str:
        """The first line if it looks like a title, else a phrase with the main topic."""
        first = next(line for line in self.source.text.splitlines() if line.strip())
        heading = _HEADING.fullmatch(first)
        bare = (heading.group(1) if heading else first).strip().removeprefix("Title:").strip()
        if 1 < len(bare.split()) <= 25 and bare[-1:] not in {".", "?", "!"}:
            return bare
        return f"a paper on {self.topics[0]}"

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """What it is about, most frequent first; never empty."""
        return self.source.topics[:8] or ("this subject",)

    @cached_property
    def skimmed(self) -> Source:
        """Abstract, introduction and conclusion; else the first and last sentences."""
        kept: list[str] = []
        section = ""
        for line in self.source.text.splitlines():
            heading = _HEADING.fullmatch(line) or _PLAIN_HEADING.fullmatch(line)
            if heading:
                section = heading.group(1).lower()
            elif any(word in section for word in _SKIMMED) or line.lower().startswith("abstract"):
                kept.append(line)
        short = Source("\n".join(kept), self.source.noun)
        if short.sentences:
            return short
        ends = [*self.source.sentences[:4], *self.source.sentences[4:][-2:]]
        return Source("\n".join(s.text for s in ends), self.source.noun)

    def about(
        self, cue: str, rng: np.random.Generator, n: int, without: str = ""
    ) -> list[Sentence]:
        """Up to ``n`` salient sentences with words of the cue, in order; may be empty.

        Sentences with a word of the cue ``without`` are passed over.
        """

        def weight(sentence: Sentence) -> float:
            if without and LEXICONS[without].found(sentence.text):
                return 0.0
            return float(min(LEXICONS[cue].count(sentence.text), 3))

        return self.source.salient(rng, n, weight, 0.3)

    def told(self, cue: str, rng: np.random.Generator, n: int, without: str = "") -> list[str]:
        """Those sentences in the reviewer's words; the most salient ones where none fits."""
        found = self.about(cue, rng, n, without) or self.source.salient(rng, n)
        return [vary(compress(s.text, _LONGEST), self.source, rng, 0.3) for s in found]

    def reported(self, cue: str, rng: np.random.Generator, n: int) -> list[str]:
        """The same in the third person."""
        return [third_person(sentence) for sentence in self.told(cue, rng, n)]

    def inside(self, text: str) -> str:
        """Ready to stand inside a sentence, with the authors as "the authors"."""
        return third_person(embed(text, self.source))

    def summary(self, told: Sequence[str]) -> list[str]:
        """The title, then the statements once each, as a reviewer reports them."""
        statements = [third_person(sentence) for sentence in dict.fromkeys(told)]
        return [f"The paper under review is {self.title}", *statements]

    def faithful_summary(self, rng: np.random.Generator) -> list[str]:
        """What the paper claims, how it goes about it, and what it finds."""
        return self.summary(
            [s for cue in ("CLAIM", "METHOD", "RESULT") for s in self.told(cue, rng, 2)]
        )

    def frame(
        self,
        rng: np.random.Generator,
        frames: Sequence[str],
        n: int,
        cue: str,
        without: str = "",
        **words: str,
    ) -> list[str]:
        """``n`` frames (or all there are), filled with sentences of the cue and with topics.

        ``{s}`` is a sentence, ``{t}`` and ``{u}`` are topics, and ``words`` are fields as well.
        """
        n = min(n, len(frames))
        chosen = deal(rng, frames, n)
        sentences = self.told(cue, rng, n, without)
        topics = deal(rng, self.topics, n)
        return [
            text.format(
                s=self.inside(sentences[i % len(sentences)]),
                t=topics[i],
                u=topics[(i + 1) % n],
                **words,
            )
            for i, text in enumerate(chosen)
        ]


def third_person(text: str) -> str:
    """ "We" and "our" as a reviewer reports them."""
    for pattern, word in _THIRD:
        text = pattern.sub(word, text)
    return text


def rate(rng: np.random.Generator, low: int, high: int) -> tuple[int, int, int]:
    """Three scores between ``low`` and ``high``."""
    first, second, third = (int(score) for score in rng.integers(low, high + 1, size=3))
    return first, second, third


@dataclass(frozen=True)
class Notes:
    """What a reviewer wrote down while reading.

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
        points: list[str] = []
        for kind, found in (("Strengths:", self.strengths), ("Weaknesses:", self.weaknesses)):
            points += [kind, *(f"- {finish(point)}" for point in found)] if found else []
        bodies = (
            _prose(self.summary),
            "\n".join(points),
            _prose(self.remarks),
            _prose(self.verdict),
            *(str(score) for score in self.scores),
        )
        parts = zip(HEADINGS, bodies, strict=True)
        return "\n\n".join(f"# {heading}\n{body}" for heading, body in parts)


def _prose(sentences: Sequence[str]) -> str:
    return " ".join(finish(sentence) for sentence in sentences)


@dataclass(frozen=True)
class Lens:
    """A reviewer's leaning: which sentences catch the eye, and what is said about them.

    Attributes:
        cue: of the sentences that are noticed.
        praise, blame, remarks, verdict: frames; ``{s}`` is a noticed sentence, ``{t}`` a topic.
        summary: what the paper does, with ``{topic}``; empty for a faithful summary.
        register: words to replace in the summary.
        counts: how many points of praise and of blame are made.
        scores: lowest and highest score given.
    """

    cue: str
    praise: Sequence[str]
    blame: Sequence[str]
    remarks: Sequence[str]
    verdict: Sequence[str]
    summary: str = ""
    register: str = ""
    counts: tuple[int, int] = (1, 3)
    scores: tuple[int, int] = (2, 3)

    def review(self, paper: Paper, rng: np.random.Generator, *more: str, **words: str) -> str:
        """The review through this lens; ``more`` ends the summary, ``words`` fill the frames."""
        praised, blamed = self.counts
        return Notes(
            [*self._summary(paper, rng, words), *more],
            paper.frame(rng, self.praise, praised, "RESULT", "LIMIT", **words),
            paper.frame(rng, self.blame, blamed, self.cue, **words),
            paper.frame(rng, self.remarks, 2, self.cue, **words),
            paper.frame(rng, self.verdict, 2, "CLAIM", **words),
            rate(rng, *self.scores),
        ).review()

    def _summary(
        self, paper: Paper, rng: np.random.Generator, words: Mapping[str, str]
    ) -> list[str]:
        if self.summary:
            return [self.summary.format(topic=paper.topics[0], **words)]
        summary = paper.faithful_summary(rng)
        if self.register:
            return [LEXICONS[self.register].rewrite(sentence, rng) for sentence in summary]
        return summary
