"""Case flipping (TVD-MI paper, section 4.2.1)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from judgelab.attack.protocol import NO_LM, Expectation
from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel


def case_flip(text: str, every: int = 5) -> str:
    """Swap the case of the characters at index 0, every, 2*every, ..."""
    return "".join(c.swapcase() if i % every == 0 else c for i, c in enumerate(text))


@dataclass(frozen=True)
class CaseFlip:
    """Flattens stylistic variation deterministically; every 5th character as released."""

    every: int = 5
    name: ClassVar[str] = "case_flip"
    expects: ClassVar[Expectation] = "no_rise"
    requires: ClassVar[frozenset[Capability]] = NO_LM

    def __post_init__(self) -> None:
        if self.every < 1:
            raise ConfigError(f"attack.every={self.every} must be at least 1.")

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Flip the case of every text."""
        return panel.map(
            lambda text, item, agent, rng: case_flip(text, self.every),
            seed=seed,
            salt=self.name,
            attack=self.name,
            attack_settings=asdict(self),
        )
