"""What produces the responses: a record, rules, a prompted LM, several models."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self

from judgelab.core import step
from judgelab.core.errors import ConfigError
from judgelab.core.lm import Capability, ChatRequest, EvaluationLM
from judgelab.core.panel import Panel


class Agents(Protocol):
    """Produces the responses. Derive from it.

    Attributes:
        requires: what its LM must be able to do.
    """

    requires: ClassVar[frozenset[Capability]] = frozenset()

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
        """The panel itself.

        Raises:
            ConfigError: the dataset holds sources but no responses.
        """
        if panel.agents:
            return panel
        named = panel.provenance.get("dataset")
        dataset = f"The dataset {named!r}" if isinstance(named, str) else "The dataset"
        raise ConfigError(
            f"{dataset} has no recorded responses: use agents=rules or agents=prompted."
        )


def written(
    lm: EvaluationLM, requests: Sequence[ChatRequest], part: str, unanswered: Counter[str]
) -> list[str | None]:
    """One batch of replies; a refused, failed or empty one is None and counted by its reason."""
    replies = step.written(lm, dict(enumerate(requests))).values()
    unanswered.update(f"{part}: {one.reason}" for one in replies if one.text is None)
    return [one.text for one in replies]
