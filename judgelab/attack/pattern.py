"""Pattern injection (TVD-MI paper, section 4.2.1)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from judgelab.attack.protocol import NO_LM, Expectation, Tag, marker
from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel


def inject(text: str, tag: str, start: int = 3, step: int = 5) -> str:
    """Put a marker after the words with index start, start + step, ...

    Words are split at any white space and joined by one space, so line breaks collapse; the
    marker carries its own spaces, so two spaces follow it (as released).
    """
    words = text.split()
    for index in range(start, len(words), step):
        words[index] += f" <pattern-{tag}> "
    return " ".join(words)


@dataclass(frozen=True)
class Pattern:
    """Adds artificial uniformity by a 3-digit marker in every fifth place.

    The release derives the marker from the source (``tag="source"``), which hands a critic the
    answer to "do these share a source?"; the default does not.
    """

    tag: Tag = "constant"
    name: ClassVar[str] = "pattern"
    expects: ClassVar[Expectation] = "no_rise"
    requires: ClassVar[frozenset[Capability]] = NO_LM

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Inject the marker into every text."""
        return panel.map(
            lambda text, item, agent, rng: inject(text, marker(self.tag, item, agent, 3)),
            seed=seed,
            salt=self.name,
            attack=self.name,
            attack_settings=asdict(self),
        )
