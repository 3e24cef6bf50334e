"""BLEU against the human reference (sacrebleu)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import xarray as xr

from judgelab.capability import Capability
from judgelab.evaluation_lm.protocol import EvaluationLM
from judgelab.mechanism.protocol import NOTHING, Definition
from judgelab.mechanism.surface import measure_texts, score_texts
from judgelab.panel import Agent, Item, Panel
from judgelab.scores import Scores


@dataclass(frozen=True)
class Bleu:
    """Sentence BLEU / 100 against the item's reference; NaN where there is no reference.

    The TVD-MI paper's baseline for translation, there as corpus BLEU per agent; sentence BLEU
    (exponential smoothing, effective order) is what an item-level study can use.
    """

    name: ClassVar[str] = "bleu"
    measurement: ClassVar[str] = "text"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = NOTHING

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent] in [0, 1]."""
        from sacrebleu.metrics.bleu import BLEU

        metric = BLEU(effective_order=True)

        def bleu(text: str, item: Item, agent: Agent) -> float:
            if item.reference is None:
                return np.nan
            return float(metric.sentence_score(text, [item.reference]).score) / 100

        return measure_texts(panel, bleu)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """The value itself."""
        return score_texts(measured)
