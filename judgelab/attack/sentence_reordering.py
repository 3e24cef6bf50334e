"""Reordering of sentences (DHP paper, Table 2, summarisation)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from judgelab.attack.protocol import RuleAttack
from judgelab.core.sentences import heading, sentences
from judgelab.core.step import Place


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """(start, end) of the sentences, without headings: what stands between them is layout."""
    spans, start = [], 0
    for piece in sentences(text):
        lines = piece.splitlines()
        while len(lines) > 1 and heading(lines[0]):
            lines.pop(0)
        one = "\n".join(lines)
        parts = [re.escape(part) for part in one.split()]
        match = re.compile(r"\s*".join(parts)).search(text, start)
        if match is None:
            continue
        start = match.end()
        if not heading(one):
            spans.append(match.span())
    return spans


@dataclass(frozen=True)
class SentenceReordering(RuleAttack):
    """Shuffles ``k`` sentences: nothing is lost but the order."""

    # how many sentences take part: 2 (minor), null for all (major)
    k: Annotated[int, Field(ge=2)] | None = None
    name = "sentence_reordering"

    def rule(self, text: str, at: Place) -> str:
        """``k`` sentences in each other's places (a draw that leaves the order is drawn again);
        white space and headings stay where they are. A text of one sentence stays as it is, and so
        does one whose drawn sentences are equal."""
        spans = sentence_spans(text)
        parts = [text[start:end] for start, end in spans]
        if len(set(parts)) < 2:
            return text
        count = min(self.k or len(parts), len(parts))
        places = np.sort(at.rng.choice(len(parts), size=count, replace=False))
        originals = [parts[i] for i in places]
        if len(set(originals)) < 2:
            return text
        shuffled = originals
        while shuffled == originals:
            shuffled = [originals[i] for i in at.rng.permutation(count)]
        for place, sentence in zip(places, shuffled, strict=True):
            parts[place] = sentence
        ends = [0, *(end for _, end in spans)]
        gaps = [text[end:start] for end, (start, _) in zip(ends, spans, strict=False)]
        return "".join(gap + part for gap, part in zip(gaps, parts, strict=True)) + text[ends[-1] :]

    def fault(self, before: str, after: str) -> str:
        """The same sentences in another order, two of them moved where k is 2, and no more."""
        parts = [before[start:end] for start, end in sentence_spans(before)]
        if sorted(before) != sorted(after) or any(part not in after for part in parts):
            return "a sentence or the space between sentences changed"
        order = sorted(parts, key=after.index)
        moved = sum(a != b for a, b in zip(parts, order, strict=True))
        return "" if moved and (self.k is None or moved <= self.k) else f"{moved} sentences moved"
