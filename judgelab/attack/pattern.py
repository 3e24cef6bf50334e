"""Pattern injection (TVD-MI paper, section 4.2.1)."""

from __future__ import annotations

from dataclasses import dataclass

from judgelab.attack.protocol import RuleAttack, Tag, marker
from judgelab.core.step import Place

START, EVERY = 3, 5


@dataclass(frozen=True)
class Pattern(RuleAttack):
    """Adds uniformity by a 3-digit marker, derived from the ``tag``, every five words."""

    tag: Tag = "constant"
    name = "pattern"
    expects = "no_rise"

    def rule(self, text: str, at: Place) -> str:
        """Put the marker after the words with index 3, 8, 13, ...

        Words are split at any white space and joined by one space, so line breaks collapse; the
        marker carries its own spaces, so two spaces follow it (as released).
        """
        words = text.split()
        for index in range(START, len(words), EVERY):
            words[index] += f" <pattern-{marker(self.tag, at.item, at.agent, 3)}> "
        return " ".join(words)
