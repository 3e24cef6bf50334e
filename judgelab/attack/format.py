"""Format standardisation (TVD-MI paper, section 4.2.1)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from judgelab.attack.protocol import NO_LM, Expectation, Tag, marker
from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel


def wrap(text: str, tag: str) -> str:
    """The text between an opening and a closing marker."""
    return f"<{tag}> {text} </{tag}>"


@dataclass(frozen=True)
class Format:
    """Wraps every text in a 6-digit marker.

    The release derives the marker from the source (``tag="source"``), which hands a critic the
    answer to "do these share a source?"; the default does not.
    """

    tag: Tag = "constant"
    name: ClassVar[str] = "format"
    expects: ClassVar[Expectation] = "no_rise"
    requires: ClassVar[frozenset[Capability]] = NO_LM

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Wrap every text."""
        return panel.map(
            lambda text, item, agent, rng: wrap(text, marker(self.tag, item, agent, 6)),
            seed=seed,
            salt=self.name,
            attack=self.name,
            attack_settings=asdict(self),
        )
