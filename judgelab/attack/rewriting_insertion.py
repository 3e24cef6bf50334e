"""Sentences said twice, in other words (DHP paper, Table 2, summarisation)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judgelab.attack.perturbation import Perturbation
from judgelab.attack.rephrase import rephrase
from judgelab.core.sentences import sentences

LEADS = (
    "In other words: ",
    "To put it differently: ",
    "That is to say: ",
    "Put another way: ",
    "What this means is this: ",
)


def said_again(sentence: str, rng: np.random.Generator) -> str:
    """The sentence in slightly other words, behind a phrase that announces them."""
    lead = LEADS[int(rng.integers(len(LEADS)))]
    return lead + rephrase(sentence)


@dataclass(frozen=True)
class RewritingInsertion(Perturbation):
    """Inserts a rewritten version right after some sentences: nothing is false, but said twice.

    By rules, the version has some phrases exchanged and an announcement before it. See
    ``Perturbation`` for the settings.
    """

    name: ClassVar[str] = "rewriting_insertion"

    def rule(self, text: str, rng: np.random.Generator) -> str:
        """Say sentences drawn alike again."""
        parts = sentences(text)
        for place in reversed(self.chosen(len(parts), rng)):
            parts.insert(place + 1, said_again(parts[place], rng))
        return " ".join(parts) if parts else text
