"""A control: the longer text is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.mechanism.texts import TextMechanism, measure_texts

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Length(TextMechanism):
    """Words of the text. A mechanism that does not beat this measures length."""

    name: ClassVar[str] = "length"
    measurement: ClassVar[str] = "text"

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent], a count."""
        return measure_texts(panel, lambda text, item, agent: len(text.split()))
