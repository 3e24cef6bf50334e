"""What people said about a panel's answers: grades, and preferences between them."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from judgelab.core.panel import Item, Panel

Floats = NDArray[np.float64]


def all_pairs(panel: Panel) -> NDArray[np.int64]:
    """[pairs, 2] agents of every unordered pair of agents that are no references."""
    plain = [k for k, agent in enumerate(panel.agents) if not agent.reference]
    first, second = np.triu_indices(len(plain), 1)
    return np.array(plain, dtype=np.int64)[np.stack([first, second], axis=1)]


def grades_of(panel: Panel) -> Floats:
    """[items, agents] people's grade of each answer; NaN where there is none."""
    names = [agent.name for agent in panel.agents]
    return np.array(
        [[item.human.get(name, np.nan) for name in names] for item in panel.items],
        dtype=np.float64,
    ).reshape(len(panel.items), len(names))


def preferences_of(panel: Panel, pairs: NDArray[np.int64]) -> Floats:
    """[items, pairs] 1 where people prefer the first answer, -1 the second, 0 a tie, NaN unknown.

    The higher grade is preferred. An item's ``meta["preferences"]``, a JSON list of [better,
    worse] agents, decides the pairs it names.
    """
    grades = grades_of(panel)
    gold = np.sign(grades[:, pairs[:, 0]] - grades[:, pairs[:, 1]])
    place = {agent.name: k for k, agent in enumerate(panel.agents)}
    column = {(int(i), int(j)): k for k, (i, j) in enumerate(pairs)}
    for row, item in enumerate(panel.items):
        for better, worse in _named(item):
            if better in place and worse in place:
                i, j = place[better], place[worse]
                if (i, j) in column:
                    gold[row, column[i, j]] = 1.0
                elif (j, i) in column:
                    gold[row, column[j, i]] = -1.0
    return gold


def _named(item: Item) -> list[tuple[str, str]]:
    listed = json.loads(item.meta.get("preferences", "[]"))
    return [(str(better), str(worse)) for better, worse in listed]
