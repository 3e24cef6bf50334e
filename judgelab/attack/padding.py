"""Constant padding (TVD-MI paper, section 4.2.1)."""

from __future__ import annotations

from judgelab.attack.protocol import RuleAttack
from judgelab.core.step import Place


class Padding(RuleAttack):
    """Appends systematic noise: a space and ten X, as released."""

    name = "padding"
    expects = "no_rise"

    def rule(self, text: str, at: Place) -> str:
        return f"{text} {'X' * 10}"
