"""No preprocessing."""

from __future__ import annotations

from dataclasses import dataclass

from judgelab.evaluation_lm.protocol import EvaluationLM
from judgelab.panel import Panel


@dataclass(frozen=True)
class Identity:
    """The texts as they are."""

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """The same panel."""
        return panel
