"""A control: the text does not matter."""

from __future__ import annotations

import xarray as xr

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel, rng_for
from judgelab.mechanism.texts import TextMechanism, measure_texts


class Random(TextMechanism):
    """A number in [0, 1) drawn from (seed, item, agent). A study must find nothing in it."""

    name = "random"
    measurement = "text"

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        return measure_texts(
            panel,
            lambda text, item, agent: float(rng_for(seed, "random", item.id, agent.name).random()),
        )
