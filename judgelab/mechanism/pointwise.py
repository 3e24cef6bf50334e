"""One answer at a time on a scale of 5 or 100 levels (Auto-PRE paper, Table 8)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError
from judgelab.core.exchange import Exchange, no_grade
from judgelab.core.lm import EvaluationLM, Reply
from judgelab.core.panel import Item, Panel
from judgelab.core.reply.choice import Reading
from judgelab.core.reply.grade import read_grade
from judgelab.core.scores import measured
from judgelab.core.step import present
from judgelab.mechanism.closed import ClosedMechanism, whole_grades, with_shares
from judgelab.mechanism.protocol import Reads
from judgelab.mechanism.texts import TextMechanism


@dataclass(frozen=True)
class GradeMechanism(ClosedMechanism, TextMechanism):
    """A chat LM gives every text a grade, which is its score.

    Args:
        prompt: fields task, source and text.
        reads: which texts: raw, or preprocessed.
    """

    reads: Reads = "raw"

    @property
    @abstractmethod
    def scale(self) -> tuple[float, float]:
        """Lowest and highest grade."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The scale."""
        return self.scale

    @abstractmethod
    def read(self, reply: Reply) -> float:
        """The grade in a reply; NaN where there is none."""

    def source(self, item: Item) -> str:
        """The item's source, as the prompt shows it."""
        return item.source

    def graded(self, panel: Panel) -> NDArray[np.bool_]:
        """[agents] whose texts are graded."""
        return np.ones(len(panel.agents), dtype=np.bool_)

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent]: the grade; NaN for absent texts and unread replies.

        By labels, ``expected`` is the mean grade under their probabilities.
        """
        closed, graded, task = self.closed, self.graded(panel), panel.task_description
        requests = {
            (k, j): closed.request(
                lm,
                (self.name, panel.items[k].id, panel.agents[j].name),
                {"task": task, "source": self.source(panel.items[k]), "text": text},
            )
            for (k, j), text in present(panel).items()
            if graded[j]
        }
        value = np.full((len(panel.items), len(panel.agents)), np.nan)
        said, why = Exchange.put(lm, requests), no_grade(*self.scale)
        for cell, grade in said.read(lambda _, reply: self.read(reply), lambda _: why).items():
            value[cell] = grade
        dims = ("item", "agent")
        data = measured(panel, value=(dims, value)).assign_attrs(closed.attrs(lm))
        return with_shares(data, dims, said.replies, closed.labels, graded=True)


@dataclass(frozen=True)
class Pointwise(GradeMechanism):
    """A number for every answer.

    A reply that states no grade of the scale, or several, leaves the answer unscored (the release
    takes the first number, gives a reply without one -1, and lets others through).

    Args:
        name: pointwise5 or pointwise100.
        low: lowest number of the scale.
        high: highest number.
        which: the grade that the reply states (see ``stated_grade``), or its first or last number.

    Raises:
        ConfigError: the scale has no length, or labels cannot be had of it.
    """

    name: str = "pointwise5"
    low: float = 1.0
    high: float = 5.0
    which: Reading = "stated"
    measurement: ClassVar[str] = "pointwise"

    def __post_init__(self) -> None:
        if self.low >= self.high:
            raise ConfigError(f"mechanism.low={self.low} must lie below high={self.high}.")
        super().__post_init__()

    @property
    def labels(self) -> Mapping[str, str]:
        """The whole numbers of the scale."""
        return whole_grades(self.low, self.high)

    @property
    def scale(self) -> tuple[float, float]:
        """As set."""
        return self.low, self.high

    def read(self, reply: Reply) -> float:
        """What the reply states, or its first or last number."""
        return read_grade(reply.text, self.low, self.high, self.which)
