"""The seam of the synopsis axis."""

from __future__ import annotations

from typing import Protocol

from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel


class Synopsis(Protocol):
    """What is public about an item before anybody judges it (GEM paper, section 3.2).

    Attributes:
        name: as on the command line.
        requires: what the LM that writes must be able to do.
    """

    @property
    def name(self) -> str: ...

    @property
    def requires(self) -> frozenset[Capability]: ...

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """The panel with ``Item.synopsis`` set; None where there is none."""
        ...
