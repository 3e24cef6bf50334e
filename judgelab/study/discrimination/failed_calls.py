"""Worst and best case of figures on recorded cells whose zeros may be failed calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import xarray as xr

from judgelab.core.scores import Scores
from judgelab.mechanism.calls import DONE, HIDDEN
from judgelab.stats.discrimination.failed_calls import decided, effect_size_bounds
from judgelab.stats.intervals.arrays import Floats
from judgelab.study.common.panels import Panels, ScoredPanel

RANGE = {"verdict": (0.0, 1.0), "p_minus_q": (-1.0, 1.0)}
"""Recorded cells -> what a call may have given."""

Score = Callable[[xr.Dataset], Scores]
Bounds = Mapping[str, tuple[float, float]]


def cases(
    scored: ScoredPanel, score: Score, figure: Callable[[Floats], Floats]
) -> tuple[ScoredPanel, ...]:
    """The panel with its hidden failed calls decided to make a figure of each item least, largest.

    Args:
        scored: the panel; without hidden calls there are no cases.
        score: the mechanism's scoring step.
        figure: [items] from the scores [items, agents], linear in them.
    """
    data = scored.measured
    if HIDDEN not in data:
        return ()
    name = next(known for known in RANGE if known in data)
    effect = _effect(data, name, score, figure)
    hidden, low_high = data[HIDDEN].values, RANGE[name]
    made = []
    for sign in (-1, 1):
        cells = decided(data[name].values, hidden, sign * effect, *low_high)
        filled = data.drop_vars([DONE, HIDDEN]).assign({name: (data[name].dims, cells)})
        made.append(replace(scored, measured=filled, scores=score(filled)))
    return tuple(made)


def bounds(per_item: Mapping[str, Floats], other: Mapping[str, Floats]) -> Bounds:
    """Least and largest value of each statistic, from its values per item in both cases.

    d is bounded over whatever lies between the cases. An AUC has no such bound: its values are
    those of the two cases, which are made for the difference of the groups' means.
    """
    found = {"effect_size": effect_size_bounds(per_item["effect_size"], other["effect_size"])}
    for name in ("auc", "pair_auc"):
        ends = [float(np.nanmean(side[name])) if np.isfinite(side[name]).any() else np.nan
                for side in (per_item, other)]  # fmt: skip
        found[name] = (min(ends), max(ends))
    return found


def notes(states: Panels) -> Iterator[str]:
    """How many calls it is about, for each panel that has some."""
    for name, one in states.items():
        if HIDDEN in one.measured:
            hidden = one.measured[HIDDEN].values
            yield (
                f"{hidden.sum():,} failed calls of {np.count_nonzero(hidden)} items of the {name} "
                "panel are recorded as 0, like a real 0. Each item's scores are those of its "
                "completed calls if failing does not depend on the result; worst and best case "
                "decide the failures against and for good faith."
            )


def _effect(
    data: xr.Dataset, name: str, score: Score, figure: Callable[[Floats], Floats]
) -> Floats:
    """[agents, agents] what one unit in a cell adds to the figure: scores are linear in cells."""
    agents = data.sizes["agent"]
    size = agents * agents
    probe = data.drop_vars([DONE, HIDDEN]).isel(item=np.zeros(1 + size, dtype=np.int64))
    units = np.concatenate([np.zeros((1, size)), np.eye(size)])
    cells = units.reshape(-1, agents, agents)
    cells[:, np.arange(agents), np.arange(agents)] = np.nan
    probe = probe.assign_coords(item=[str(k) for k in range(1 + size)])
    probe = probe.assign({name: (data[name].dims, cells)})
    found = figure(np.asarray(score(probe).agent.values, dtype=np.float64))
    return np.asarray((found[1:] - found[0]).reshape(agents, agents))
