"""ChatEval with grades: roles debate one answer before each gives it a number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import xarray as xr

from judgelab.core.errors import ConfigError
from judgelab.core.exchange import Cell, Why, no_grade
from judgelab.core.panel import Panel
from judgelab.core.reply.grade import read_grade
from judgelab.core.step import present
from judgelab.mechanism.debate import Debate, Question
from judgelab.mechanism.texts import TextMechanism


@dataclass(frozen=True)
class ChatEvalPointwise(Debate, TextMechanism):
    """Every answer is debated; its grade is the mean of the roles' last numbers.

    The prompt's fields are task, source, text, low, high, role and said. A number outside the
    scale, or none, leaves that role out; an answer that no role graded is unscored.

    Args:
        low: lowest grade.
        high: highest grade.

    Raises:
        ConfigError: the scale has no length.
    """

    low: float = 1.0
    high: float = 5.0
    name: ClassVar[str] = "chat_eval_pointwise"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low >= self.high:
            raise ConfigError(f"mechanism.low={self.low} must lie below high={self.high}.")

    def questions(self, panel: Panel) -> Iterable[Question]:
        """Each answer by itself."""
        scale = {"low": f"{self.low:g}", "high": f"{self.high:g}"}
        for (k, j), text in present(panel).items():
            item, task = panel.items[k], panel.task_description
            key = (self.name, item.id, panel.agents[j].name)
            yield (k, j, j), key, {"task": task, "source": item.source, "text": text} | scale

    def read(self, text: str) -> float:
        """The grade that the words state, or the number that they begin or end with (``which``)."""
        return read_grade(text, self.low, self.high, self.which)

    @property
    def unread(self) -> Why:
        """See Debate."""
        return no_grade(self.low, self.high)

    def outcome(self, panel: Panel, given: Mapping[Cell, list[float]]) -> xr.DataArray:
        """``value`` [item, agent]: the mean grade; NaN for absent texts and unread replies."""
        value = np.full((len(panel.items), len(panel.agents)), np.nan)
        for (k, j, _), grades in given.items():
            value[k, j] = np.mean(grades)
        return xr.DataArray(value, dims=("item", "agent"), name="value")
