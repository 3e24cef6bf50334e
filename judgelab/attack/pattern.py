"""Pattern injection (TVD-MI paper, section 4.2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgelab.attack.protocol import Expectation, RuleAttack, Tag, marker
from judgelab.core.step import Place

START, EVERY = 3, 5


@dataclass(frozen=True)
class Pattern(RuleAttack):
    """Adds artificial uniformity by a 3-digit marker in every fifth place.

    The release derives the marker from the source (``tag="source"``), which hands a critic the
    answer to "do these share a source?"; the default does not.
    """

    tag: Tag = "constant"
    name: ClassVar[str] = "pattern"
    expects: ClassVar[Expectation] = "no_rise"

    def rule(self, text: str, at: Place) -> str:
        """Put the marker after the words with index 3, 8, 13, ...

        Words are split at any white space and joined by one space, so line breaks collapse; the
        marker carries its own spaces, so two spaces follow it (as released).
        """
        words = text.split()
        for index in range(START, len(words), EVERY):
            words[index] += f" <pattern-{marker(self.tag, at.item, at.agent, 3)}> "
        return " ".join(words)
