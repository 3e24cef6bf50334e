"""Who is judged and against whom: candidates, and the references they are held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.panel import Agent, Panel, keeping, without


def with_references(panel: Panel, names: Sequence[str] | None) -> Panel:
    """The panel with these agents as its references; None leaves those the data marks.

    Raises:
        ConfigError: a name that no agent has.
    """
    if names is None:
        return panel
    known = [agent.name for agent in panel.agents]
    for name in names:
        if name not in known:
            raise ConfigError(
                f"study.references: no agent is called {name!r}.{did_you_mean(name, known)}"
            )
    agents = tuple(replace(agent, reference=agent.name in names) for agent in panel.agents)
    return replace(panel, agents=agents)


def with_item_references(panel: Panel) -> Panel:
    """The panel with the items' own references as texts of one agent more, which is a reference.

    So nobody's texts are given up for them. A panel that marks references stays as it is.
    """
    own = [(item.reference or "").strip() for item in panel.items]
    if _references(panel).any() or not any(own):
        return panel
    names = {agent.name for agent in panel.agents}
    name = "reference"
    while name in names:
        name += "*"
    rows = zip(panel.texts, panel.items, own, strict=True)
    texts = tuple((*row, item.reference if said else None) for row, item, said in rows)
    agents = (*panel.agents, Agent(name, reference=True))
    return panel.with_agents(agents, texts, references="of the data")


def without_reference_texts(panel: Panel) -> Panel:
    """The panel with candidates' texts only, so that no LM is paid to rewrite the others."""
    return without(panel, _references(panel))


def with_reference_texts_of(panel: Panel, clean: Panel) -> Panel:
    """The panel with the reference agents' texts of another state: only candidates change.

    GEM paper, Algorithm 1: x is replaced by x', y stays.
    """
    return keeping(panel, clean, _references(panel))


def _references(panel: Panel) -> NDArray[np.bool_]:
    return np.array([agent.reference for agent in panel.agents], dtype=np.bool_)
