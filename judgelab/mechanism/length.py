"""A control: the longer text is better."""

from __future__ import annotations

import xarray as xr

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.mechanism.texts import TextMechanism, measure_texts


class Length(TextMechanism):
    """Words of the text. A mechanism that does not beat this measures length."""

    name = "length"
    measurement = "text"

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        return measure_texts(panel, lambda text, item, agent: len(text.split()))
