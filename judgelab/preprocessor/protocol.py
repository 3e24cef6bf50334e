"""The seam of the preprocessor axis."""

from __future__ import annotations

from typing import Protocol

from judgelab.evaluation_lm.protocol import EvaluationLM
from judgelab.panel import Panel


class Preprocessor(Protocol):
    """A rewriting of the texts, after the attack and before the mechanism."""

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """The rewritten panel; items and agents stay."""
        ...
