"""What calls that failed can hide, where a failed call was stored as a real result is.

Recorded cells of 0 are real zeros or failed calls; of each item only the number of failures is
known. A figure then has a worst and a best case: the failures put where, and decided as, they move
it most.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats

STEPS = 512  # common values tried for the largest d: they are off by less than a thousandth of it
FEW = 12  # items up to which every choice of ends is tried


def decided(
    cells: ArrayLike, failures: ArrayLike, effect: ArrayLike, low: float, high: float
) -> Floats:
    """The cells with every failure decided so that sum(effect * cells) is largest.

    Args:
        cells: [items, agents, agents]; which of the zeros are failures is not known.
        failures: [items] how many of them are.
        effect: [agents, agents] what one unit more in a cell adds; its negative gives the least.
        low, high: what a call may have given, low <= 0 <= high.
    """
    table = np.array(cells, dtype=np.float64)
    weight = np.nan_to_num(np.asarray(effect, dtype=np.float64))
    value = np.where(weight > 0, high, low)
    gain = weight * value
    for item, count in zip(table, np.asarray(failures, dtype=np.int64), strict=True):
        zero = np.flatnonzero(item == 0)
        best = zero[np.argsort(-gain.flat[zero], kind="stable")[: max(int(count), 0)]]
        item.flat[best] = value.flat[best]
    return table


def effect_size_bounds(low: ArrayLike, high: ArrayLike) -> tuple[float, float]:
    """Least and largest mean / sd of differences [items] that lie in [low, high] each.

    d is not monotone in the differences, as those far from the others raise the sd: the largest
    d has all items as near as they can be to one common value, the least has the items with the
    highest middles at their high ends and the others at their low ones (for a negative d the
    other way round). Both kinds are tried; up to ``FEW`` items also every choice of ends, as the
    middles' order is then not all that counts. Infinite where all items may have one and the same
    value, which leaves no sd. NaN items are left out; NaN for fewer than two.
    """
    ends = np.array([low, high], dtype=np.float64)
    ends = ends[:, ~np.isnan(ends).any(axis=0)]
    if ends.shape[1] < 2:
        return np.nan, np.nan
    bottom, top = ends
    common = np.unique(np.concatenate([np.linspace(ends.min(), ends.max(), STEPS), *ends]))
    middles = (bottom + top) / 2
    cuts = np.concatenate([[-np.inf], np.sort(middles)])
    candidates = np.concatenate(
        [
            np.clip(common[:, None], bottom, top),
            np.where(middles > cuts[:, None], top, bottom),
            np.where(_choices(len(bottom)), top, bottom),
        ]
    )
    spread = candidates.std(axis=1, ddof=1)
    defined = spread > 1e-12 * np.abs(candidates).max(initial=1.0)
    if not defined.any():
        return np.nan, np.nan
    effects: NDArray[np.float64] = candidates.mean(axis=1)[defined] / spread[defined]
    least, most = float(effects.min()), float(effects.max())
    if bottom.max() < top.min():  # they may all be one value
        least = -np.inf if bottom.max() < 0 else least
        most = np.inf if top.min() > 0 else most
    return least, most


def _choices(items: int) -> NDArray[np.bool_]:
    """[2^items, items] every choice of ends; none for more than ``FEW`` items."""
    if items > FEW:
        return np.zeros((0, items), dtype=np.bool_)
    return (np.arange(1 << items)[:, None] >> np.arange(items) & 1).astype(np.bool_)


def linear_effect(figure: Callable[[Floats], Floats], agents: int) -> Floats:
    """[agents, agents] what one unit in a cell adds to a figure that is linear in the cells.

    Args:
        figure: [items] from cells [items, agents, agents].
    """
    size = agents * agents
    cells = np.concatenate([np.zeros((1, size)), np.eye(size)]).reshape(-1, agents, agents)
    cells[:, np.arange(agents), np.arange(agents)] = np.nan
    values = figure(cells)
    return np.asarray((values[1:] - values[0]).reshape(agents, agents))
