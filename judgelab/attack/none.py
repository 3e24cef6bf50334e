"""No manipulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgelab.attack.protocol import NO_LM, Expectation
from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel


@dataclass(frozen=True)
class NoAttack:
    """Leaves the panel as it is; a run then has no attacked half."""

    name: ClassVar[str] = "none"
    expects: ClassVar[Expectation] = "no_rise"
    requires: ClassVar[frozenset[Capability]] = NO_LM

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """The same panel."""
        return panel
