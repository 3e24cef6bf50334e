"""ChatEval with grades: roles debate one answer before each gives it a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError
from judgelab.core.exchange import no_grade
from judgelab.core.panel import Panel
from judgelab.core.reply.grade import stated_grade
from judgelab.core.scores import measured
from judgelab.core.step import present
from judgelab.mechanism.chat_eval import Debate, Question
from judgelab.mechanism.texts import TextMechanism


@dataclass(frozen=True)
class ChatEvalPointwise(Debate, TextMechanism):
    """Every answer is debated; its grade is the mean of the roles' last numbers.

    The prompt's fields are task, source, text, low, high, role and said. A number outside the
    scale, or none, leaves that role out; an answer that no role graded is unscored.

    Raises:
        ConfigError: the scale has no length.
    """

    low: float = 1.0  # lowest grade
    high: float = 5.0  # highest grade
    name = "chat_eval_pointwise"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low >= self.high:
            raise ConfigError(f"mechanism.low={self.low} must lie below high={self.high}.")

    def _questions(self, panel: Panel) -> Iterable[Question]:
        scale = {"low": f"{self.low:g}", "high": f"{self.high:g}"}
        for (k, j), text in present(panel).items():
            item, task = panel.items[k], panel.task_description
            key = (self.name, item.id, panel.agents[j].name)
            yield (k, j, j), key, {"task": task, "source": item.source, "text": text} | scale

    def _read(self, text: str | None) -> float:
        return stated_grade(text, self.low, self.high)

    def _unread(self, text: str) -> str:
        return no_grade(text, self.low, self.high)

    def _together(self, said: Sequence[float]) -> float:
        return float(np.mean(said))

    def _data(self, panel: Panel, outcome: NDArray[np.float64]) -> xr.Dataset:
        """``value`` [item, agent]; NaN for absent texts and unread replies."""
        grades = np.diagonal(outcome, axis1=1, axis2=2)
        return measured(panel, value=(("item", "agent"), grades))
