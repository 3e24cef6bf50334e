"""The seam of the mechanism axis: measuring talks to a model, scoring never does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.scores import Scores

if TYPE_CHECKING:
    import xarray as xr

Definition = Literal["paper", "released", "corrected"]
"""Whose definition of a quantity: as printed, as the authors' code computes it, or as we hold
it should be. docs/definitions.md lists every place where the three differ."""


Reads = Literal["raw", "preprocessed"]
"""Which texts a mechanism sees: those written, or those that the preprocessor made of them."""


class Mechanism(Protocol):
    """An evaluation mechanism.

    Attributes:
        name: as on the command line.
        measurement: which kind of measurement ``measure`` makes; ``replay`` finds recorded
            measurements by it.
        requires: sets of capabilities, any one of which is enough.
        reads: ``raw`` texts as written, or what the preprocessor made of them.
    """

    @property
    def name(self) -> str: ...

    @property
    def measurement(self) -> str: ...

    @property
    def requires(self) -> tuple[frozenset[Capability], ...]: ...

    @property
    def reads(self) -> Reads: ...

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """Ask the LM everything that is needed, once; NaN where an answer is missing."""
        ...

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """Pure arithmetic on measurements."""
        ...


NOTHING: tuple[frozenset[Capability], ...] = (frozenset(),)
"""``requires`` of a mechanism that asks no LM."""
