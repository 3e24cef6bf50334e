"""GEM: mutual information with peers' texts, estimated by an LM (GEM paper, section 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.scores import Scores
from judgelab.mechanism.logprob import ConditionalMechanism, measure_conditional
from judgelab.mechanism.protocol import Definition, Reads
from judgelab.mechanism.texts import judged_pairs, score_directed


@dataclass(frozen=True)
class Gem(ConditionalMechanism):
    """f(x, y) = log P(y | x, z) - log P(y | z), nats summed over y, its end token included.

    GEM and GEM-S read preprocessed texts; z is nothing for GEM and the item's synopsis for
    GEM-S. GEM-raw reads texts as written, cut after ``truncate`` characters. An agent's score is
    the mean over the references (or, where none is marked, over all other agents).
    """

    synopsis: bool = False  # condition on the item's synopsis; items without one are unscored
    reads: Reads = "preprocessed"  # which texts: raw, or preprocessed
    name: str = "gem"  # gem, gem_s, gem_s_assw or gem_raw
    measurement = "gem"

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        whole = self.truncate is not None
        return measure_conditional(panel, lm, self.setting, judged_pairs(panel), whole=whole)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        uncut = definition == "released" and "marginal_whole" in measured
        marginal = measured["marginal_whole" if uncut else "marginal"].values
        gain = measured["peer_given_agent"] - marginal[:, None, :]
        tokens = measured["tokens"].where(measured["tokens"] > 0).values[:, None, :]
        per_token = gain / tokens
        values = per_token.values[~np.isnan(per_token.values)]
        beside = {"nats_per_token": float(values.mean()) if len(values) else np.nan}
        return score_directed(per_token if self.per == "token" else gain, beside)
