"""What the text-only mechanisms share: one number per text, or per text and reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.scores import Scores, measured, weaker_of_two
from judgelab.mechanism.peers import judged_pairs, score_directed

if TYPE_CHECKING:
    import xarray as xr

TextScore = Callable[[str, Item, Agent], float]
Compare = Callable[[str, str], float]


def measure_texts(panel: Panel, score: TextScore) -> xr.Dataset:
    """``value`` [item, agent]: ``score`` of every present text; NaN for absent ones."""
    values = [
        [
            np.nan if text is None else score(text, item, agent)
            for text, agent in zip(row, panel.agents, strict=True)
        ]
        for item, row in zip(panel.items, panel.texts, strict=True)
    ]
    return measured(panel, value=(("item", "agent"), np.array(values, dtype=np.float64)))


def score_texts(data: xr.Dataset) -> Scores:
    """The value itself; a pair is as good as its weaker text."""
    value = data["value"]
    return Scores(agent=value, pair=weaker_of_two(value))


def measure_against(panel: Panel, compare: Compare) -> xr.Dataset:
    """``compare(text, reference)`` with the items' human references, else with peers' texts.

    Returns:
        ``value`` [item, agent] where any item has a reference text (NaN for items without);
        where none has, ``directed`` [item, agent, peer] for the pairs that are judged (GEM
        paper, section 4). NaN where a text is absent.
    """
    if any(item.reference is not None for item in panel.items):

        def one(text: str, item: Item, agent: Agent) -> float:
            return np.nan if item.reference is None else compare(text, item.reference)

        return measure_texts(panel, one)
    judged = judged_pairs(panel)
    directed = np.full((len(panel.items), *judged.shape), np.nan)
    for k, row in enumerate(panel.texts):
        for i, j in np.argwhere(judged):
            x, y = row[i], row[j]
            if x is not None and y is not None:
                directed[k, i, j] = compare(x, y)
    return measured(panel, directed=(("item", "agent", "peer"), directed))


def score_against(data: xr.Dataset) -> Scores:
    """What ``measure_against`` measured, as scores."""
    return score_directed(data["directed"]) if "directed" in data else score_texts(data)
