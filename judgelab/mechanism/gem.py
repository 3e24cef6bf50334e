"""GEM: mutual information with peers' texts, estimated by an LM (GEM paper, section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import xarray as xr

from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import Scores
from judgelab.mechanism.conditional import Setting, measure_conditional
from judgelab.mechanism.peers import judged_pairs, score_directed
from judgelab.mechanism.protocol import BaseMechanism, Definition, Reads, Subject


@dataclass(frozen=True)
class Gem(BaseMechanism):
    """f(x, y) = log P(y | x, z) - log P(y | z), nats summed over y, its end token included.

    GEM and GEM-S read preprocessed texts; z is nothing for GEM and the item's synopsis for
    GEM-S. GEM-raw reads texts as written, cut after ``truncate`` characters. An agent's score is
    the mean over the references (or, where none is marked, over all other agents).

    Definitions (they differ only under ``truncate``):
        corrected, paper: y is cut alike in both terms.
        released: y is cut in the first term only, which makes the score of long texts y absurd.

    Args:
        name: gem, gem_s, gem_s_assw or gem_raw.
        prompt: fields synopsis and response.
        synopsis: condition on the item's synopsis; items without one are unscored.
        per: ``sum`` (as in the paper) or nats per ``token`` of y.
        truncate: characters of x and y that count; None for all.
        reads: which texts: raw, or preprocessed.

    Raises:
        ConfigError: truncate below 1.
    """

    name: str
    prompt: Prompt
    synopsis: bool = False
    per: Literal["sum", "token"] = "sum"
    truncate: int | None = None
    reads: Reads = "preprocessed"
    measurement: ClassVar[str] = "gem"
    subject: ClassVar[Subject] = "pair"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = (frozenset({Capability.LOGPROB}),)

    def __post_init__(self) -> None:
        if self.truncate is not None and self.truncate < 1:
            raise ConfigError("mechanism.truncate must be at least 1, or null for whole texts.")

    @property
    def setting(self) -> Setting:
        """How a text is predicted from another one."""
        return Setting(self.prompt, self.synopsis, self.truncate)

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """Candidates' texts before each reference, and each reference alone."""
        whole = self.truncate is not None
        return measure_conditional(panel, lm, self.setting, judged_pairs(panel), whole=whole)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """Pointwise mutual information; diagnostics hold its mean per token beside it."""
        uncut = definition == "released" and "marginal_whole" in measured
        marginal = measured["marginal_whole" if uncut else "marginal"].values
        gain = measured["conditional"] - marginal[:, None, :]
        tokens = measured["tokens"].where(measured["tokens"] > 0).values[:, None, :]
        per_token = gain / tokens
        known = per_token.values[~np.isnan(per_token.values)]
        beside = {"nats_per_token": float(known.mean()) if len(known) else np.nan}
        return score_directed(per_token if self.per == "token" else gain, beside)
