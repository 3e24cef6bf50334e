"""What produces the responses: a record, rules, a prompted LM, several models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self

from judgelab.core.errors import ConfigError
from judgelab.core.lm import Capability, EvaluationLM
from judgelab.core.panel import Panel


class Agents(Protocol):
    """Produces the responses. Derive from it."""

    requires: ClassVar[frozenset[Capability]] = frozenset()  # what its LM must be able to do

    def with_lms(self, use: Callable[[str, EvaluationLM], EvaluationLM]) -> Self:
        """The same with each LM of its own as ``use`` returns it: cached, metered, counted."""
        return self

    @abstractmethod
    def answer(self, panel: Panel, lm: EvaluationLM) -> Panel:
        """The panel's items with agents and their texts (None where an agent gave none)."""
        ...


@dataclass(frozen=True)
class Recorded(Agents):
    """Takes the dataset's own responses as they are."""

    def answer(self, panel: Panel, lm: EvaluationLM | None = None) -> Panel:
        """The panel itself; a ConfigError where the dataset holds no responses."""
        if panel.agents:
            return panel
        raise ConfigError(
            f"The dataset {panel.provenance.get('dataset', '')!r} has no recorded responses: use "
            "agents=rules or agents=prompted."
        )
