"""Deletion and completion (GEM paper, appendix D.3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle

import numpy as np

from judgelab.attack.protocol import WritingAttack
from judgelab.attack.sentence_deletion import Deletion, Gap, thin, thin_as_released
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.resources import words
from judgelab.core.step import Cell, Place, Written, present, write_texts

MARKER = "[There is one missing sentence]"
# could stand in any review, and say nothing about any paper
FILLERS: list[str] = words("attack/words/fillers.yaml")


@dataclass(frozen=True)
class DeletionCompletion(WritingAttack):
    """Replaces every other sentence with filler.

    With ``by: lm`` each gap is marked and the LM completes the whole text (the prompt's field); a
    reply that still shows the marker counts as unwritten. With ``by: rules`` each gap gets a
    sentence of a fixed list. A text without a second sentence in any section stays as it is.
    """

    definition: Deletion = "corrected"  # as in attack=sentence_deletion
    name = "deletion_completion"

    def with_gaps(self, text: str, gap: Gap) -> str:
        """The text with ``gap()`` in the place of every other sentence."""
        released = self.definition == "released"
        return thin_as_released(text, gap, bold=True) if released else thin(text, gap)

    def rule(self, text: str, at: Place) -> str:
        return self.with_gaps(text, filler(at.rng))

    def by_lm(self, panel: Panel, lm: EvaluationLM) -> dict[Cell, Written]:
        marked = {cell: self.with_gaps(t, lambda: MARKER) for cell, t in present(panel).items()}
        requests = {
            cell: self.request_on(panel, cell, text=text)
            for cell, text in marked.items()
            if MARKER in text
        }

        def read(_: Cell, text: str) -> Written:
            return Written(None, "a gap was left open") if MARKER in text else Written(text)

        whole = {cell: Written(text) for cell, text in marked.items()}
        return whole | write_texts(lm, requests, read)


def filler(rng: np.random.Generator) -> Gap:
    """Gives one sentence a call, in a drawn order; all of them before any comes again."""
    order = cycle(rng.permutation(len(FILLERS)))
    return lambda: FILLERS[next(order)]
