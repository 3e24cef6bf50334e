"""Format standardisation (TVD-MI paper, section 4.2.1)."""

from __future__ import annotations

from dataclasses import dataclass

from judgelab.attack.protocol import RuleAttack, Tag, marker
from judgelab.core.step import Place


@dataclass(frozen=True)
class Format(RuleAttack):
    """Wraps every text in a 6-digit marker, which is derived from the ``tag``."""

    tag: Tag = "constant"
    name = "format"
    expects = "no_rise"

    def rule(self, text: str, at: Place) -> str:
        tag = marker(self.tag, at.item, at.agent, 6)
        return f"<{tag}> {text} </{tag}>"
