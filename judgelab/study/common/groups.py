"""Which agents count as good faith and which as problematic, under each definition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.core.panel import GOOD_FAITH, PROBLEMATIC, Agent, Panel
from judgelab.mechanism.protocol import Definition

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Groups:
    """Masks [agents].

    Attributes:
        good, bad: what an agent-level score should tell apart; the human reference is in neither.
        pair_good: agents whose pairs among each other are the positives of the pair AUC; pairs
            of one of them with one of ``bad`` are the negatives.
    """

    good: Mask
    bad: Mask
    pair_good: Mask

    @property
    def known(self) -> bool:
        """Whether there is anything to tell apart."""
        return bool(self.good.any() and self.bad.any())


def category(agent: Agent, definition: Definition) -> str | None:
    """The paper's category of an agent, or the one its authors' code uses."""
    key = "category_released" if definition == "released" else "category_paper"
    return agent.meta.get(key, agent.category)


def groups(panel: Panel, definition: Definition) -> Groups:
    """Group the agents of a panel.

    ``corrected`` and ``released`` take Faithful and Style pairs as positives (``released`` adds
    the human reference where its category is Faithful, as for ICLR); ``paper`` takes Faithful
    alone, as section 5.2 words it.
    """
    categories = [category(agent, definition) for agent in panel.agents]
    reference = np.array([agent.reference for agent in panel.agents], dtype=np.bool_)

    def among(wanted: frozenset[str]) -> Mask:
        return np.array([c in wanted for c in categories], dtype=np.bool_)

    good = among(GOOD_FAITH)
    pair_good = {
        "corrected": good & ~reference,
        "released": good,
        "paper": among(frozenset({"Faithful"})) & ~reference,
    }[definition]
    return Groups(good & ~reference, among(PROBLEMATIC) & ~reference, pair_good)


def in_pairing_order(panel: Panel, mask: Mask) -> NDArray[np.intp]:
    """Indices of the masked agents, by the rank the release gives them, else as they stand.

    The order matters only to the release's random down-sampling of pairs.
    """
    ranks = [int(agent.meta.get("pairing_rank", k)) for k, agent in enumerate(panel.agents)]
    chosen = np.flatnonzero(mask)
    return chosen[np.argsort([ranks[k] for k in chosen], kind="stable")]
