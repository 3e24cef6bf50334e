"""The seam of the agents axis."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Protocol, Self

from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel


class Agents(Protocol):
    """Whoever produces the responses. Derive from it."""

    def with_lms(self, use: Callable[[str, EvaluationLM], EvaluationLM]) -> Self:
        """The same with each LM of its own as ``use`` returns it: cached, metered, counted."""
        return self

    @property
    @abstractmethod
    def requires(self) -> frozenset[Capability]: ...

    @abstractmethod
    def answer(self, panel: Panel, lm: EvaluationLM) -> Panel:
        """The panel's items with agents and their texts (None where an agent gave none)."""
        ...
