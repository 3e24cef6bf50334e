"""Constant padding (TVD-MI paper, section 4.2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgelab.attack.protocol import Expectation, RuleAttack
from judgelab.core.bounds import Natural
from judgelab.core.step import Place


@dataclass(frozen=True)
class Padding(RuleAttack):
    """Appends a space and ``count`` times ``symbol``: systematic noise, 10 X as released."""

    symbol: str = "X"
    count: Natural = 10
    name: ClassVar[str] = "padding"
    expects: ClassVar[Expectation] = "no_rise"

    def rule(self, text: str, at: Place) -> str:
        """Pad the text."""
        return f"{text} {self.symbol * self.count}"
