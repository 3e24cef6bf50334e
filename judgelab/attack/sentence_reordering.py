"""Reordering of sentences (DHP paper, Table 2, summarisation)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from judgelab.attack.protocol import RuleAttack
from judgelab.core.sentences import sentences
from judgelab.core.step import Place


def reorder(text: str, k: int | None, rng: np.random.Generator) -> str:
    """The text with ``k`` of its sentences shuffled (all for None) among their places.

    The order does change: a draw that leaves it is drawn again. A text of one sentence stays
    as it is, and so does one whose drawn sentences are equal.
    """
    parts = sentences(text)
    count = len(parts) if k is None else min(k, len(parts))
    if len(set(parts)) < 2:
        return text
    places = np.sort(rng.choice(len(parts), size=count, replace=False))
    chosen = [parts[i] for i in places]
    if len(set(chosen)) < 2:
        return text
    shuffled = chosen
    while shuffled == chosen:
        shuffled = [chosen[i] for i in rng.permutation(count)]
    for place, sentence in zip(places, shuffled, strict=True):
        parts[place] = sentence
    return " ".join(parts)


@dataclass(frozen=True)
class SentenceReordering(RuleAttack):
    """Shuffles ``k`` sentences: nothing is lost but the order.

    Args:
        k: how many sentences take part: 2 (minor), null for all (major).
    """

    k: Annotated[int, Field(ge=2)] | None = None
    name: ClassVar[str] = "sentence_reordering"

    def rule(self, text: str, at: Place) -> str:
        """Reorder the text."""
        return reorder(text, self.k, at.rng)
