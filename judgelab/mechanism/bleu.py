"""BLEU against the human reference, or against peers' texts (sacrebleu)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgelab.mechanism.protocol import Reads
from judgelab.mechanism.texts import Compare, ReferenceMechanism


@dataclass(frozen=True)
class Bleu(ReferenceMechanism):
    """Sentence BLEU / 100 against the item's reference; NaN where there is no reference.

    The TVD-MI paper's baseline for translation, there as corpus BLEU per agent; sentence BLEU
    (exponential smoothing, effective order) is what an item-level study can use.

    Where no item of the panel has a reference, a text is scored against its peers' texts: the
    reference agents, or all others (GEM paper; its code is NLTK's sentence BLEU on NLTK's tokens
    without smoothing, which is practically 0 for two texts that share no run of four words).

    Args:
        reads: which texts: raw, or preprocessed.
    """

    reads: Reads = "raw"
    name: ClassVar[str] = "bleu"

    def comparison(self) -> Compare:
        """Sentence BLEU / 100."""
        from sacrebleu.metrics.bleu import BLEU

        metric = BLEU(effective_order=True)
        return lambda text, reference: float(metric.sentence_score(text, [reference]).score) / 100
