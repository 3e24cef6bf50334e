"""Constant padding (TVD-MI paper, section 4.2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgelab.attack.protocol import Expectation, RuleAttack
from judgelab.core.errors import ConfigError
from judgelab.core.step import Place


@dataclass(frozen=True)
class Padding(RuleAttack):
    """Appends a space and ``count`` times ``symbol``: systematic noise, 10 X as released."""

    symbol: str = "X"
    count: int = 10
    name: ClassVar[str] = "padding"
    expects: ClassVar[Expectation] = "no_rise"

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ConfigError(f"attack.count={self.count} must not be negative.")

    def rule(self, text: str, at: Place) -> str:
        """Pad the text."""
        return f"{text} {self.symbol * self.count}"
