"""Rewritten versions of sentences inserted right after them (DHP paper, Table 2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Literal

from judgelab.attack.protocol import Perturbation, words_of
from judgelab.attack.sentence_reordering import sentence_spans
from judgelab.core.prompt import Prompt

LEAST = 0.15  # share of a sentence's words that its rewriting has otherwise, or elsewhere
MOST = 0.8  # a sentence that has less in common with the one before it is no rewriting of it


@dataclass(frozen=True)
class RewritingInsertion(Perturbation):
    """Inserts a rewritten version right after some sentences: nothing is false, but said twice.

    An LM writes it, as in the paper: rules found no sentence to rewrite in four of five texts. See
    ``Perturbation`` for the settings.
    """

    prompt: Prompt = field(default_factory=lambda: Prompt("perturb_insertion.txt"))
    by: Literal["lm"] = "lm"
    name = "rewriting_insertion"

    def fault(self, before: str, after: str) -> str:
        """So many sentences more, each a rewriting of the one before it and not the same."""
        old = [before[start:end] for start, end in sentence_spans(before)]
        new = [after[start:end] for start, end in sentence_spans(after)]
        inserted = []
        for place, sentence in enumerate(new):
            if old and sentence == old[0]:
                old.pop(0)
            elif place == 0:
                return "the first sentence is not the original's"
            else:
                inserted.append((new[place - 1], sentence))
        if old:
            return "a sentence of the original is gone"
        if not all(LEAST <= _novelty(sentence, other) <= MOST for sentence, other in inserted):
            return "an inserted sentence is the same, or another one"
        return self.count_fault(len(inserted), "sentences inserted")


def _novelty(sentence: str, other: str) -> float:
    """Share of the sentence's words that the other has not, or not in their order. What the other
    adds counts nothing: a lead-in before the same words rewrites none."""
    old, new = ([word.lower() for word in words_of(one)] for one in (sentence, other))
    common = sum(size for *_, size in SequenceMatcher(None, old, new, False).get_matching_blocks())
    return 1 - common / max(len(old), 1)
