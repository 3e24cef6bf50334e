"""Repetition: run by the authors of the TVD-MI paper, but not reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgelab.attack.protocol import Expectation, RuleAttack
from judgelab.core.step import Place


@dataclass(frozen=True)
class Repetition(RuleAttack):
    """Says everything twice, joined by a phrase."""

    joint: str = " To reiterate: "
    name: ClassVar[str] = "repetition"
    expects: ClassVar[Expectation] = "no_rise"

    def rule(self, text: str, at: Place) -> str:
        """Repeat the text."""
        return text + self.joint + text
