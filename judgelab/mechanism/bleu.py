"""BLEU against the human reference, or against peers' texts (sacrebleu)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import xarray as xr

from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.scores import Scores
from judgelab.mechanism.protocol import NOTHING, BaseMechanism, Definition, Reads, Subject
from judgelab.mechanism.surface import measure_against, score_against


@dataclass(frozen=True)
class Bleu(BaseMechanism):
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
    measurement: ClassVar[str] = "text"
    subject: ClassVar[Subject] = "pair"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = NOTHING

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent], or ``directed`` [item, agent, peer]; in [0, 1]."""
        from sacrebleu.metrics.bleu import BLEU

        metric = BLEU(effective_order=True)

        def bleu(text: str, reference: str) -> float:
            return float(metric.sentence_score(text, [reference]).score) / 100

        return measure_against(panel, bleu)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """The value itself, or its mean over peers."""
        return score_against(measured)
