"""Named entities replaced by fictional ones (DHP paper, Table 2 and appendix D)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from judgelab.attack.protocol import Perturbation, share_changed, words_of
from judgelab.core.prompt import Prompt

MOST = 0.5  # share of the words that a few names can be: what changes more is another text


@dataclass(frozen=True)
class FictionalEntities(Perturbation):
    """Puts fictional names, places, numbers or terms in the place of real ones.

    An LM writes it, as in the paper: rules named a third of biomedical terms and half of the names
    of translations wrongly. See ``Perturbation`` for the settings.
    """

    prompt: Prompt = field(default_factory=lambda: Prompt("perturb_entities.txt"))
    by: Literal["lm"] = "lm"
    name = "fictional_entities"

    def fault(self, before: str, after: str) -> str:
        """So many words are new at least, and most are the old ones."""
        old, new = words_of(before), words_of(after)
        fresh = len(set(new) - set(old))
        if share_changed(old, new) > MOST:
            return "another text"
        return "" if fresh >= self.count else f"{fresh} entities replaced, not {self.amount}"
