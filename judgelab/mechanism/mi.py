"""Mutual information as a difference of entropies (TVD-MI paper, section 4.2, "MI (DoE)")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.scores import Scores, mean_over, symmetric
from judgelab.mechanism.logprob import delimiter_for, measure_logprob
from judgelab.mechanism.protocol import BaseMechanism, Definition, Reads, Subject

if TYPE_CHECKING:
    import xarray as xr

Per = Literal["token", "sum"]


def pointwise_mi(data: xr.Dataset, per: Per) -> xr.DataArray:
    """[item, agent, peer] log P(text | peer's text) - log P(text): nats, per token or summed."""
    gain = data["conditional"] - data["marginal"]
    return gain / data["tokens"].where(data["tokens"] > 0) if per == "token" else gain


@dataclass(frozen=True)
class Mi(BaseMechanism):
    """Payment of agent i: the mean over peers j of the two directed pointwise MIs.

    u_i = 1/2 (mean_j d_ij + mean_j d_ji), d_ij = log P(y_i | y_j) - log P(y_i), in nats per token
    (as in the paper) or per text. The pair score is the symmetrised d.
    """

    per: Per = "token"
    delimiter: str | None = None
    name: ClassVar[str] = "mi"
    measurement: ClassVar[str] = "logprob"
    subject: ClassVar[Subject] = "pair"
    reads: ClassVar[Reads] = "preprocessed"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = (frozenset({Capability.LOGPROB}),)

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """All ordered pairs and marginals: M texts cost M(M-1) + M log-probabilities an item."""
        return measure_logprob(panel, lm, delimiter_for(panel.task, self.delimiter))

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """The same under every definition."""
        pair = symmetric(pointwise_mi(measured, self.per))
        return Scores(agent=mean_over(pair, "peer"), pair=pair)
