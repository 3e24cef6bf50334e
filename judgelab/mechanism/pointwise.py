"""One answer at a time on a scale of 5 or 100 levels (Auto-PRE paper, Table 8)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM, Exchange
from judgelab.core.panel import Item, Panel
from judgelab.core.reply.grade import no_grade, stated_grade
from judgelab.core.scores import TEXT, measured
from judgelab.core.step import present
from judgelab.mechanism.closed import ClosedMechanism, whole_grades
from judgelab.mechanism.texts import TextMechanism


class GradeMechanism(ClosedMechanism, TextMechanism):
    """A chat LM gives every text a grade, which is its score; the prompt's fields are task, source
    and text. A reply that states no grade of the scale, or several, leaves the text unscored."""

    reads = "raw"

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest grade."""

    @property
    def labels(self) -> Mapping[str, str]:
        return whole_grades(*self.bounds)

    def source(self, item: Item) -> str:
        return item.source

    def graded_agents(self, panel: Panel) -> NDArray[np.bool_]:
        """[agents] whose texts are graded."""
        return np.ones(len(panel.agents), dtype=np.bool_)

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent]: the grade; NaN for absent texts and unread replies."""
        has_grade, requests = self.graded_agents(panel), {}
        for (k, j), text in present(panel).items():
            if has_grade[j]:
                item = panel.items[k]
                key = (self.name, item.id, panel.agents[j].name)
                fields = {"task": panel.task_description, "source": self.source(item)}
                requests[k, j] = self.request(lm, key, {**fields, "text": text})
        exchange = Exchange.ask(lm, requests)
        value = self.read(
            exchange,
            lambda _, reply: stated_grade(reply.text, *self.bounds),
            lambda _, text: no_grade(text, *self.bounds),
            lambda _: {grade: float(grade) for grade in self.labels},
        )
        return measured(panel, value=(TEXT, value)).assign_attrs(self.attrs(lm))


@dataclass(frozen=True)
class Pointwise(GradeMechanism):
    """A number for every answer.

    The release takes the first number, gives a reply without one -1, and lets others through.

    Raises:
        ConfigError: the scale has no length, or labels cannot be had of it.
    """

    name: str = "pointwise5"  # pointwise5 or pointwise100
    low: float = 1.0  # lowest number of the scale
    high: float = 5.0  # highest number
    measurement = "pointwise"

    def __post_init__(self) -> None:
        if self.low >= self.high:
            raise ConfigError(f"mechanism.low={self.low} must lie below high={self.high}.")
        super().__post_init__()

    @property
    def bounds(self) -> tuple[float, float]:
        return self.low, self.high
