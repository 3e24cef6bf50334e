"""BARTScore with the evaluation LM in BART's place (GEM paper, appendix D.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import xarray as xr

from judgelab.core.bounds import Count
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.scores import Scores, transposed
from judgelab.mechanism.logprob import ConditionalMechanism, measure_conditional
from judgelab.mechanism.protocol import Definition
from judgelab.mechanism.texts import judged_pairs, reference_pairs, score_directed


@dataclass(frozen=True)
class BartScore(ConditionalMechanism):
    """Log-probability of one text after the other, nats; no synopsis, no marginal.

    recall is log P(y | x), precision log P(x | y), f1 their arithmetic mean, x being the text
    that is judged and y its peer's. An agent's score is the mean over its peers.
    """

    truncate: Count | None = 10_000
    part: Literal["precision", "recall", "f1"] = "f1"
    name: str = "bartscore"
    reads = "raw"
    measurement = "bartscore"

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``peer_given_agent`` [item, x, y] = log P(y | x), only for directions that are used."""
        forth = judged_pairs(panel)
        pairs = {"recall": forth, "precision": forth.T, "f1": forth | forth.T}[self.part]
        return measure_conditional(panel, lm, self.setting, pairs, alone=False)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        recall = measured["peer_given_agent"]  # [item, x, y]
        if self.per == "token":
            tokens = measured["tokens"].where(measured["tokens"] > 0)
            recall = recall / tokens.values[:, None, :]
        precision = transposed(recall)
        parts = {"recall": recall, "precision": precision, "f1": (recall + precision) / 2}
        # parts exist for the pairs (y, x), too
        pairs = xr.DataArray(reference_pairs(measured["reference"].values), dims=("agent", "peer"))
        return score_directed(parts[self.part].where(pairs))
