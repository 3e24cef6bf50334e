"""Case flipping (TVD-MI paper, section 4.2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgelab.attack.protocol import Expectation, RuleAttack
from judgelab.core.bounds import Count
from judgelab.core.step import Place


@dataclass(frozen=True)
class CaseFlip(RuleAttack):
    """Flattens stylistic variation deterministically; every 5th character as released."""

    every: Count = 5
    name: ClassVar[str] = "case_flip"
    expects: ClassVar[Expectation] = "no_rise"

    def rule(self, text: str, at: Place) -> str:
        """Swap the case of the characters at index 0, every, 2*every, ..."""
        return "".join(c.swapcase() if i % self.every == 0 else c for i, c in enumerate(text))
