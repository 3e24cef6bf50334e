"""The seam of the agents axis."""

from __future__ import annotations

from typing import Protocol

from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel


class Agents(Protocol):
    """Whoever answers the items."""

    @property
    def requires(self) -> frozenset[Capability]: ...

    def answer(self, panel: Panel, lm: EvaluationLM) -> Panel:
        """The panel's items with agents and their texts (None where an agent gave none)."""
        ...
