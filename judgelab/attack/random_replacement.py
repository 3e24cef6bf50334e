"""Random replacement: a text about something else (GEM paper, the Yelp degradations)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from judgelab.attack.protocol import NO_LM, Expectation
from judgelab.core.capability import Capability
from judgelab.core.errors import DataError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel, rng_for

ALONE = "no other item that the agent answered"


@dataclass(frozen=True)
class RandomReplacement:
    """Gives every text of an agent to another of the items that the agent answered.

    The items that an agent answered are put in a ring, in an order drawn from the seed, and each
    gets the text of the next: no item keeps its own, and every text is used once, so that nothing
    but the match between text and item changes. A single text has nowhere to go and becomes None.

    Raises:
        DataError: the panel has one item.
    """

    name: ClassVar[str] = "random_replacement"
    expects: ClassVar[Expectation] = "fall"
    requires: ClassVar[frozenset[Capability]] = NO_LM

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Exchange the texts of every agent among the items."""
        if len(panel.items) < 2:
            raise DataError(
                f"attack={self.name} takes texts from other items, but the panel has "
                f"{len(panel.items)}: use limit=2 or more."
            )
        columns = [self._column(panel, j, seed) for j in range(len(panel.agents))]
        texts = tuple(tuple(column[i] for column in columns) for i in range(len(panel.items)))
        before, after = (
            sum(text is not None for row in rows for text in row) for rows in (panel.texts, texts)
        )
        facts = {
            "attack": self.name,
            "attack_settings": {},
            "attack_unwritten": {ALONE: before - after} if before > after else {},
        }
        return replace(panel, texts=texts, provenance={**panel.provenance, **facts})

    def _column(self, panel: Panel, j: int, seed: int) -> Sequence[str | None]:
        """One agent's texts, by item."""
        agent = panel.agents[j].name
        answered = [i for i, row in enumerate(panel.texts) if row[j] is not None]
        ring = sorted(
            answered,
            key=lambda i: (
                rng_for(seed, self.name, panel.items[i].id, agent).random(),
                panel.items[i].id,
            ),
        )
        column: list[str | None] = [None] * len(panel.items)
        for i, following in zip(ring, ring[1:] + ring[:1], strict=True):
            column[i] = None if following == i else panel.texts[following][j]
        return column
