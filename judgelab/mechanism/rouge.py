"""ROUGE against the human reference, or against peers' texts (rouge-score)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import xarray as xr

from judgelab.capability import Capability
from judgelab.evaluation_lm.protocol import EvaluationLM
from judgelab.mechanism.protocol import NOTHING, Definition, Reads
from judgelab.mechanism.surface import measure_against, score_against
from judgelab.panel import Panel
from judgelab.scores import Scores


@dataclass(frozen=True)
class Rouge:
    """F1 of ``kind`` against the item's reference; NaN where there is no reference.

    The TVD-MI paper's baseline for summarisation. Its code compares sets of words; this is
    standard ROUGE (docs/definitions.md).

    Where no item of the panel has a reference, a text is scored against its peers' texts: the
    reference agents, or all others. With ``kind=rougeL`` that is the GEM paper's baseline.

    Args:
        kind: rouge1, rouge2 or rougeL.
        stemmer: Porter stemming, as ROUGE's authors had it for English.
        reads: which texts: raw, or preprocessed.
    """

    kind: Literal["rouge1", "rouge2", "rougeL"] = "rouge1"
    stemmer: bool = True
    reads: Reads = "raw"
    measurement: ClassVar[str] = "text"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = NOTHING

    @property
    def name(self) -> str:
        """rouge (unigrams), rouge_2 or rouge_l."""
        return {"rouge1": "rouge", "rouge2": "rouge_2", "rougeL": "rouge_l"}[self.kind]

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent], or ``directed`` [item, agent, peer]; in [0, 1]."""
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer([self.kind], use_stemmer=self.stemmer)

        def f1(text: str, reference: str) -> float:
            return float(scorer.score(reference, text)[self.kind].fmeasure)

        return measure_against(panel, f1)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """The value itself, or its mean over peers."""
        return score_against(measured)
