"""What the text-only mechanisms share: one number per text, and the weaker text's for a pair."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray as xr

from judgelab.panel import Agent, Item, Panel
from judgelab.scores import Scores, measured, weaker_of_two

TextScore = Callable[[str, Item, Agent], float]


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
