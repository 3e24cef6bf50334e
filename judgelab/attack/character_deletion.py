"""Random deletions of characters (DHP paper, Table 2)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np

from judgelab.attack.protocol import NO_LM, Expectation
from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel


def delete_characters(text: str, k: int, rng: np.random.Generator) -> str:
    """The text less ``k`` of its letters and digits, drawn alike; all where there are fewer."""
    places = [i for i, c in enumerate(text) if c.isalnum()]
    gone = set(rng.choice(places, size=min(k, len(places)), replace=False).tolist())
    return "".join(c for i, c in enumerate(text) if i not in gone)


@dataclass(frozen=True)
class CharacterDeletion:
    """Deletes ``k`` alphanumeric characters at random.

    Args:
        k: how many; 10 (minor) and 50 (major) for SummEval's references.

    Raises:
        ConfigError: k below 1.
    """

    k: int = 10
    name: ClassVar[str] = "character_deletion"
    expects: ClassVar[Expectation] = "fall"
    requires: ClassVar[frozenset[Capability]] = NO_LM

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ConfigError(f"attack.k={self.k} must be at least 1.")

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Delete from every text."""
        return panel.map(
            lambda text, item, agent, rng: delete_characters(text, self.k, rng),
            seed=seed,
            salt=self.name,
            attack=self.name,
            attack_settings=asdict(self),
        )
