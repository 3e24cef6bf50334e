"""The synopsis that came with the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel


@dataclass(frozen=True)
class RecordedSynopsis:
    """Leaves ``Item.synopsis`` as the dataset filled it (abstract, categories, keywords)."""

    name: ClassVar[str] = "recorded"
    requires: ClassVar[frozenset[Capability]] = frozenset()

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """The same panel."""
        return panel
