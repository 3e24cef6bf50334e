"""What the text-only mechanisms share: one number per text, and the weaker text's for a pair."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray as xr

from judgelab.panel import Agent, Item, Panel
from judgelab.scores import Scores, measured

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
    return measured(panel, value=(("item", "agent"), values))


def score_texts(data: xr.Dataset) -> Scores:
    """The value itself; a pair is as good as its weaker text."""
    value = data["value"]
    peer = value.rename(agent="peer")
    pair = xr.where(value < peer, value, peer).where(value.notnull() & peer.notnull())
    pair = pair.transpose("item", "agent", "peer")
    diagonal = np.arange(value.sizes["agent"])
    pair.values[:, diagonal, diagonal] = np.nan
    return Scores(agent=value, pair=pair)
