"""Random deletion of a run of words (DHP paper, Table 2, translation)."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np

from judgelab.attack.protocol import NO_LM, Expectation
from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel

_WORD = re.compile(r"\S+\s*")


def delete_run(text: str, k: int, rng: np.random.Generator) -> str:
    """The text less ``k`` words in a row, wherever they start; at least one word is left."""
    words = _WORD.findall(text)
    k = min(k, len(words) - 1)
    if k < 1:
        return text
    lead = text[: len(text) - sum(map(len, words))]
    start = int(rng.integers(len(words) - k + 1))
    return (lead + "".join(words[:start] + words[start + k :])).rstrip()


@dataclass(frozen=True)
class WordDeletion:
    """Deletes ``k`` continuous words at random; words are separated by white space.

    Args:
        k: how many; 5 (minor) and 25 (major) for the WMT22 references.

    Raises:
        ConfigError: k below 1.
    """

    k: int = 5
    name: ClassVar[str] = "word_deletion"
    expects: ClassVar[Expectation] = "fall"
    requires: ClassVar[frozenset[Capability]] = NO_LM

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ConfigError(f"attack.k={self.k} must be at least 1.")

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Delete from every text."""
        return panel.map(
            lambda text, item, agent, rng: delete_run(text, self.k, rng),
            seed=seed,
            salt=self.name,
            attack=self.name,
            attack_settings=asdict(self),
        )
