"""Scores of texts across items: blocks of items, within which every text meets every other.

Scores have the shape [blocks, agents, peers, m, m]: entry [k, a, b, i, j] is that of agent a's text
about the i-th item of block k with b's about the j-th. NaN is unscored, and fills up small blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats, divide

Places = NDArray[np.intp]
FEWEST = 4
"""Items of the smallest block: 24 permutations."""


def deal(keys: Sequence[str], size: int) -> list[Places]:
    """Places of the items, in blocks of about ``size``, by their keys alone.

    Args:
        keys: one of each item, made of what the item holds, so that neither order nor names
            decide which items meet.
    """
    order = np.argsort(np.array(keys, dtype=object), kind="stable")
    count = max(len(keys) // max(size, FEWEST), 2)  # one learns what is tried on the other
    return [order[first::count] for first in range(count)]


def blocked(cells: Floats, agents: int) -> Floats:
    """[blocks, agents, peers, m, m] from [blocks, m agents, m agents], whose rows run over agents
    within items."""
    m = cells.shape[1] // agents
    parts = cells.reshape(len(cells), m, agents, m, agents)
    return np.ascontiguousarray(parts.transpose(0, 2, 4, 1, 3))


def centred(scores: Floats) -> Floats:
    """The same without what a text has with all texts of a peer: its length, its style.

    Both directions are averaged; then the means over either text's items are taken away, within
    every block and pair of agents. These means stay as they are where an agent's texts change
    places, so a test by permutation is the same with and without them.
    """
    turned = scores.transpose(0, 2, 1, 4, 3)
    both = _mean(np.stack([scores, turned]), 0)
    rows, columns = _mean(both, -1)[..., None], _mean(both, -2)[..., None, :]
    return both - rows - columns + _mean(both, (-2, -1))[..., None, None]


def by_item(blocks: Sequence[Places], values: Floats) -> Floats:
    """[items, ...] from values [blocks, m, ...]."""
    items = np.full((sum(map(len, blocks)), *values.shape[2:]), np.nan)
    for places, row in zip(blocks, values, strict=True):
        items[places] = row[: len(places)]
    return items


def matched(cells: Floats) -> Floats:
    """[blocks, m] what texts of one item have more than texts of two, from centred [blocks, m, m].

    The mean over items is the mean of the matched scores less that of the mismatched. What an
    item adds to either is in its own value, so that items are the units of an interval.
    """
    known = ~np.isnan(cells)
    rows, columns = known.any(axis=2).sum(axis=1), known.any(axis=1).sum(axis=1)
    both = np.einsum("kii->ki", known).sum(axis=1)
    # what is left of 1 on the diagonal after the means have been taken away
    left = 1 - divide(1, columns) - divide(1, rows) + divide(both, rows * columns)
    left = np.where(left > 1e-9, left, np.nan)  # of one text of a peer or an agent nothing is
    return np.asarray(divide(np.einsum("kii->ki", cells), left[:, None]))


def with_peers(cells: Floats, agent: int, group: Places) -> Floats:
    """[blocks, m, m] mean over an agent's peers of its scores [blocks, peers, m, m].

    Args:
        group: [agents] those with one number wrote the same texts; they count as one peer, and
            are none to each other.
    """
    share = (group != group[agent]) / np.bincount(group)[group]
    known = ~np.isnan(cells)
    over = share[:, None, None] * known
    return divide((np.where(known, cells, 0.0) * over).sum(axis=1), over.sum(axis=1))


def effects(scores: Sequence[Floats], blocks: Sequence[Places], group: Places) -> Floats:
    """[items, agents] ``matched`` of the scores of each agent with its peers."""
    each = (with_peers(cells, agent, group) for agent, cells in enumerate(scores))
    return np.stack([by_item(blocks, matched(own)) for own in each], axis=1)


def correlation(x: Floats, y: Floats) -> float:
    """Pearson's, over what both know; NaN of fewer than three or where one never changes."""
    known = ~np.isnan(x) & ~np.isnan(y)
    if known.sum() < 3 or np.ptp(x[known]) == 0 or np.ptp(y[known]) == 0:
        return np.nan
    return float(np.corrcoef(x[known], y[known])[0, 1])


def _mean(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    known = ~np.isnan(values)
    return divide(np.where(known, values, 0.0).sum(axis=axis), known.sum(axis=axis))
