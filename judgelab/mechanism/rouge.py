"""ROUGE against the human reference (rouge-score)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import xarray as xr

from judgelab.capability import Capability
from judgelab.evaluation_lm.protocol import EvaluationLM
from judgelab.mechanism.protocol import NOTHING, Definition
from judgelab.mechanism.surface import measure_texts, score_texts
from judgelab.panel import Agent, Item, Panel
from judgelab.scores import Scores


@dataclass(frozen=True)
class Rouge:
    """F1 of ``kind`` against the item's reference; NaN where there is no reference.

    The TVD-MI paper's baseline for summarisation. Its code compares sets of words; this is
    standard ROUGE (docs/definitions.md).

    Args:
        kind: rouge1, rouge2 or rougeL.
        stemmer: Porter stemming, as ROUGE's authors had it for English.
    """

    kind: Literal["rouge1", "rouge2", "rougeL"] = "rouge1"
    stemmer: bool = True
    name: ClassVar[str] = "rouge"
    measurement: ClassVar[str] = "text"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = NOTHING

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent] in [0, 1]."""
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer([self.kind], use_stemmer=self.stemmer)

        def f1(text: str, item: Item, agent: Agent) -> float:
            if item.reference is None:
                return np.nan
            return float(scorer.score(item.reference, text)[self.kind].fmeasure)

        return measure_texts(panel, f1)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """The value itself."""
        return score_texts(measured)
