"""Repetition: run by the authors of the TVD-MI paper, but not reported."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from judgelab.attack.protocol import NO_LM, Expectation
from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel


@dataclass(frozen=True)
class Repetition:
    """Says everything twice, joined by a phrase."""

    joint: str = " To reiterate: "
    name: ClassVar[str] = "repetition"
    expects: ClassVar[Expectation] = "no_rise"
    requires: ClassVar[frozenset[Capability]] = NO_LM

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Repeat every text."""
        return panel.map(
            lambda text, item, agent, rng: text + self.joint + text,
            seed=seed,
            salt=self.name,
            attack=self.name,
            attack_settings=asdict(self),
        )
