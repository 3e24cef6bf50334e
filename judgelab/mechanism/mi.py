"""Mutual information as a difference of entropies (TVD-MI paper, section 4.2, "MI (DoE)")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.scores import Scores, both_directions, symmetric
from judgelab.mechanism.logprob import LogprobMechanism
from judgelab.mechanism.protocol import Definition

if TYPE_CHECKING:
    import xarray as xr

Per = Literal["token", "sum"]


def pointwise_mi(data: xr.Dataset, per: Per) -> xr.DataArray:
    """[item, agent, peer] log P(text | peer's text) - log P(text): nats, per token or summed."""
    gain = data["conditional"] - data["marginal"]
    return gain / data["tokens"].where(data["tokens"] > 0) if per == "token" else gain


@dataclass(frozen=True)
class Mi(LogprobMechanism):
    """Payment of agent i: the mean over peers j of the two directed pointwise MIs.

    u_i = 1/2 (mean_j d_ij + mean_j d_ji), d_ij = log P(y_i | y_j) - log P(y_i), in nats per token
    (as in the paper) or per text. The pair score is the symmetrised d.
    """

    per: Per = "token"
    name: str = "mi"  # mi, or mi_sum (per text)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        gain = pointwise_mi(measured, self.per)
        return Scores(agent=both_directions(gain), pair=symmetric(gain))

    def measure_pairs(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.DataArray:
        """d_ij of each direction, in nats."""
        data = self.measure(panel, lm, seed=seed)
        return pointwise_mi(data, self.per).assign_attrs(data.attrs)
