"""A research paper as a reviewer reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from judgelab.agents.strategies.lexicon.base import Lexicon
from judgelab.agents.strategies.rewrite import compress, embed, vary
from judgelab.agents.strategies.source import Sentence, Source

_HEADING = re.compile(r"\s*#{1,6}\s*(.+)")
_PLAIN_HEADING = re.compile(
    r"\s*(?:\d+(?:\.\d+)*\.?\s+)?(abstract|introduction|background|related work|methods?|approach"
    r"|experiments?|evaluation|results?|discussion|limitations?|conclusions?)\s*:?\s*",
    re.IGNORECASE,
)
_LONGEST = 34
_SKIMMED = ("abstract", "introduction", "conclusion")


@dataclass(frozen=True)
class Paper:
    """A paper's text with what a reviewer looks for in it."""

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
        self, cue: Lexicon, rng: np.random.Generator, n: int, without: Lexicon | None = None
    ) -> list[Sentence]:
        """Up to ``n`` salient sentences with words of the cue, in order; may be empty.

        Sentences with a word of ``without`` are passed over.
        """

        def weight(sentence: Sentence) -> float:
            if without is not None and without.found(sentence.text):
                return 0.0
            return float(min(cue.count(sentence.text), 3))

        return self.source.salient(rng, n, weight, 0.3)

    def told(
        self, cue: Lexicon, rng: np.random.Generator, n: int, without: Lexicon | None = None
    ) -> list[str]:
        """Those sentences in the reviewer's words; the most salient ones where none fits."""
        found = self.about(cue, rng, n, without) or self.source.salient(rng, n)
        return [vary(compress(s.text, _LONGEST), self.source, rng, 0.3) for s in found]

    def inside(self, text: str) -> str:
        """Ready to stand inside a sentence, with the authors as "the authors"."""
        return third_person(embed(text, self.source))


def third_person(text: str) -> str:
    """ "We" and "our" as a reviewer reports them."""
    for pattern, word in _THIRD:
        text = pattern.sub(word, text)
    return text


_THIRD = (
    (re.compile(r"^We\b"), "The authors"),
    (re.compile(r"\b[Ww]e\b"), "the authors"),
    (re.compile(r"^Our\b"), "Their"),
    (re.compile(r"\b[Oo]ur\b"), "their"),
    (re.compile(r"\bus\b"), "them"),
)
