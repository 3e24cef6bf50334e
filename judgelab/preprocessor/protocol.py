"""The seam of the preprocessor axis."""

from __future__ import annotations

from typing import Protocol

from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel


class Preprocessor(Protocol):
    """A rewriting of the texts, after the attack and before the mechanism.

    Attributes:
        name: as on the command line.
        requires: what the LM that writes must be able to do.
    """

    @property
    def name(self) -> str: ...

    @property
    def requires(self) -> frozenset[Capability]: ...

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """The rewritten panel; items and agents stay. What could not be rewritten is None."""
        ...
