"""Case flipping (TVD-MI paper, section 4.2.1)."""

from __future__ import annotations

from judgelab.attack.protocol import RuleAttack
from judgelab.core.step import Place

EVERY = 5  # as released


class CaseFlip(RuleAttack):
    """Swaps the case of every fifth character, from the first on: style gets flat."""

    name = "case_flip"
    expects = "no_rise"

    def rule(self, text: str, at: Place) -> str:
        return "".join(c.swapcase() if i % EVERY == 0 else c for i, c in enumerate(text))
