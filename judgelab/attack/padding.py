"""Constant padding (TVD-MI paper, section 4.2.1)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from judgelab.attack.protocol import NO_LM, Expectation
from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel


@dataclass(frozen=True)
class Padding:
    """Appends a space and ``count`` times ``symbol``: systematic noise, 10 X as released."""

    symbol: str = "X"
    count: int = 10
    name: ClassVar[str] = "padding"
    expects: ClassVar[Expectation] = "no_rise"
    requires: ClassVar[frozenset[Capability]] = NO_LM

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ConfigError(f"attack.count={self.count} must not be negative.")

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Pad every text."""
        return panel.map(
            lambda text, item, agent, rng: f"{text} {self.symbol * self.count}",
            seed=seed,
            salt=self.name,
            attack=self.name,
            attack_settings=asdict(self),
        )
