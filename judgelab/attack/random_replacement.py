"""Random replacement: a text about something else (GEM paper, the Yelp degradations)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from judgelab.attack.protocol import PanelAttack
from judgelab.core.errors import DataError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.step import Cell, Written, present, with_texts

ALONE = "no other item that the agent answered"
SHORT = "too few words, between spaces, for a share of them to be replaced"
WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class RandomReplacement(PanelAttack):
    """Gives every text of an agent to another of the items that the agent answered.

    The items that an agent answered are put in a ring, in an order drawn from the seed, and each
    gets the text of the next: no item keeps its own, and every text is used once, so that nothing
    but the match between text and item changes. A single text has nowhere to go and becomes None.
    With a ``share`` below 1 a text keeps its first words, and the other's last ones follow; one of
    so few words that none or all would be replaced becomes None.

    Raises:
        DataError: the panel has one item.
    """

    share: Annotated[float, Field(gt=0, le=1)] = 1.0  # of each text's words that are replaced
    name = "random_replacement"

    def rewrite(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Exchange the texts of every agent among the items."""
        if len(panel.items) < 2:
            raise DataError(
                f"attack={self.name} takes texts from other items, but the panel has "
                f"{len(panel.items)}: use limit=2 or more."
            )
        texts, moved = present(panel), dict[Cell, Written]()
        lots = {cell: self.place(panel, cell, seed).rng.random() for cell in texts}
        order = sorted(texts, key=lambda cell: (lots[cell], panel.items[cell[0]].id))
        for agent in range(len(panel.agents)):
            ring = [cell for cell in order if cell[1] == agent]
            for cell, following in zip(ring, ring[1:] + ring[:1], strict=True):
                alone = following == cell
                other = None if alone else self._with_ending(texts[cell], texts[following])
                moved[cell] = Written(other, ALONE if alone else SHORT)
        return with_texts(panel, moved, **self.facts(moved.values()))

    def _with_ending(self, text: str, other: str) -> str | None:
        """The text, its last words those of the other; None where none or all would be."""
        if self.share == 1:
            return other
        own, others = ([word.start() for word in WORD.finditer(one)] for one in (text, other))
        rest, added = len(own) - round(self.share * len(own)), round(self.share * len(others))
        if not 0 < rest < len(own) or not added:
            return None
        return text[: own[rest]] + other[others[-added] :]
