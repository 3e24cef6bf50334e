"""Format standardisation (TVD-MI paper, section 4.2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgelab.attack.protocol import Expectation, RuleAttack, Tag, marker
from judgelab.core.step import Place


@dataclass(frozen=True)
class Format(RuleAttack):
    """Wraps every text in a 6-digit marker.

    The release derives the marker from the source (``tag="source"``), which hands a critic the
    answer to "do these share a source?"; the default does not.
    """

    tag: Tag = "constant"
    name: ClassVar[str] = "format"
    expects: ClassVar[Expectation] = "no_rise"

    def rule(self, text: str, at: Place) -> str:
        """The text between an opening and a closing marker."""
        tag = marker(self.tag, at.item, at.agent, 6)
        return f"<{tag}> {text} </{tag}>"
