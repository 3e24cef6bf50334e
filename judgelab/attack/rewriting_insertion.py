"""Sentences said twice, in other words (DHP paper, Table 2, summarisation)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgelab.attack.protocol import Perturbation
from judgelab.attack.rephrase import rephrase
from judgelab.core.sentences import sentences
from judgelab.core.step import Place

LEADS = (
    "In other words: ",
    "To put it differently: ",
    "That is to say: ",
    "Put another way: ",
    "What this means is this: ",
)


@dataclass(frozen=True)
class RewritingInsertion(Perturbation):
    """Inserts a rewritten version right after some sentences: nothing is false, but said twice.

    By rules, the version has some phrases exchanged and an announcement before it. See
    ``Perturbation`` for the settings.
    """

    name: ClassVar[str] = "rewriting_insertion"

    def rule(self, text: str, at: Place) -> str:
        """Say sentences drawn alike again."""
        parts = sentences(text)
        for place in reversed(self.chosen(len(parts), at.rng)):
            lead = LEADS[int(at.rng.integers(len(LEADS)))]
            parts.insert(place + 1, lead + rephrase(parts[place]))
        return " ".join(parts) if parts else text
