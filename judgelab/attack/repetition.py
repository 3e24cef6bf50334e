"""Repetition: run by the authors of the TVD-MI paper, but not reported."""

from __future__ import annotations

from judgelab.attack.protocol import RuleAttack
from judgelab.core.step import Place


class Repetition(RuleAttack):
    """Says everything twice, joined by a phrase."""

    name = "repetition"
    expects = "no_rise"

    def rule(self, text: str, at: Place) -> str:
        return f"{text} To reiterate: {text}"
