"""The interface of the mechanism axis: measuring talks to a model, scoring never does."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

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


Subject = Literal["text", "pair", "choice"]
"""What a mechanism scores: a text by itself; a text held against another, a peer's or a reference,
which is evidence on it; or which of two texts is better."""


class Mechanism(Protocol):
    """An evaluation mechanism; ``BaseMechanism`` has the defaults.

    Attributes:
        name: as on the command line.
        measurement: which kind of measurement ``measure`` makes; ``replay`` finds recorded
            measurements by it.
        requires: sets of capabilities, any one of which is enough.
        reads: ``raw`` texts as written, or what the preprocessor made of them.
        subject: what it scores.
        tasks: of the panels that it fits; empty: any.
    """

    @property
    def name(self) -> str: ...

    @property
    def measurement(self) -> str: ...

    @property
    def requires(self) -> tuple[frozenset[Capability], ...]: ...

    @property
    def reads(self) -> Reads: ...

    @property
    def subject(self) -> Subject: ...

    @property
    def tasks(self) -> frozenset[str]: ...

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """Ask the LM everything that is needed, once; NaN where an answer is missing."""
        ...

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """Pure arithmetic on measurements."""
        ...


class BaseMechanism:
    """What a mechanism is unless it says otherwise; derive from it."""

    subject: ClassVar[Subject] = "text"

    @property
    def tasks(self) -> frozenset[str]:
        """Any."""
        return frozenset()


NOTHING: tuple[frozenset[Capability], ...] = (frozenset(),)
"""``requires`` of a mechanism that asks no LM."""

BY_LOGPROB: tuple[frozenset[Capability], ...] = (frozenset({Capability.LOGPROB}),)
"""``requires`` of a mechanism that asks for log-probabilities."""
