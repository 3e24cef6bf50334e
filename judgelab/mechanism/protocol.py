"""The interface of the mechanism axis: measuring talks to a model, scoring never does."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Literal, Protocol

from judgelab.core.errors import ConfigError
from judgelab.core.lm import Capability, EvaluationLM
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

BY_LOGPROB: tuple[frozenset[Capability], ...] = (frozenset({Capability.LOGPROB}),)
"""``requires`` of a mechanism that asks for log-probabilities."""


class Mechanism(Protocol):
    """An evaluation mechanism. Derive from it: what is usual has a default."""

    @property
    @abstractmethod
    def name(self) -> str:
        """As on the command line."""
        ...

    @property
    def measurement(self) -> str:
        """Which kind of measurement ``measure`` makes; recorded ones are found by it."""
        return self.name

    @property
    def requires(self) -> tuple[frozenset[Capability], ...]:
        """Sets of capabilities, any one of which is enough; by default no LM is asked."""
        return (frozenset(),)

    @property
    def reads(self) -> Reads:
        """Which texts."""
        return "preprocessed"

    @property
    def subject(self) -> Subject:
        """What is scored."""
        return "text"

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Least and largest score of a text; None: there are none, or they are not known."""
        return None

    @property
    def levels(self) -> tuple[str, ...]:
        """Words that scores from 0 stand for; empty: they stand for none."""
        return ()

    @property
    def tasks(self) -> frozenset[str]:
        """Of the panels that it fits; empty: any."""
        return frozenset()

    def fits(self, panel: Panel) -> None:
        """Before anything is asked.

        Raises:
            ConfigError: it is for other tasks than the panel's.
        """
        if self.tasks and panel.task not in self.tasks:
            tasks = sorted(self.tasks)
            raise ConfigError(
                f"mechanism={self.name} is for {', '.join(tasks)}, and the task of the dataset is "
                f"{panel.task!r}: choose another mechanism, or, where the texts are of such a "
                f"task, say so (dataset.task={tasks[0]})."
            )

    @abstractmethod
    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """Ask the LM everything that is needed, once; NaN where an answer is missing."""
        ...

    def measure_part(self, part: Panel, whole: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``measure`` some items of a panel, as those of the whole are measured.

        Whoever reads off a panel what there is to be measured reads it off ``whole``, so that all
        parts have the same variables. By default nothing is read off.
        """
        return self.measure(part, lm, seed=seed)

    @abstractmethod
    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """Pure arithmetic on measurements."""
        ...

    def measure_pairs(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.DataArray:
        """[item, agent, peer] score of each text with each other of its item, nothing taken off.

        For studies that put texts about several items beside each other, and hold their own
        controls against what these score.

        Raises:
            ConfigError: it scores texts one by one.
        """
        if self.subject == "pair":
            data = self.measure(panel, lm, seed=seed)
            scores = self.score(data)
            pairs = scores.pair if scores.directed is None else scores.directed
            if pairs is not None:
                return pairs.assign_attrs(data.attrs)
        raise ConfigError(
            f"mechanism={self.name} does not hold texts against each other: choose one that does "
            "(mi_sum, tvd_mi, gem)."
        )
