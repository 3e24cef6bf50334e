"""The responses a dataset came with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from judgelab.agents import Agents
from judgelab.core.errors import ConfigError
from judgelab.core.lm import Capability
from judgelab.core.panel import Panel

if TYPE_CHECKING:
    from judgelab.core.lm import EvaluationLM


@dataclass(frozen=True)
class Recorded(Agents):
    """Takes the dataset's own responses as they are."""

    requires: ClassVar[frozenset[Capability]] = frozenset()

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
