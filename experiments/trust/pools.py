"""Pools drawn from real judgments: the superpopulation is known, and so is every drawn pool.

The items (documents, where several texts share one) of a table whose labels are all there are drawn
with replacement into a pool, and a first part of the pool is labelled. The items being a random
sample of the table, what holds for the whole table is the truth of a superpopulation; what holds
for the pool with all its labels is the truth of that pool.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judgelab.core.judgments import JudgmentTable, Units

TIMES = 10
"""A pool is at least so many times as large as its labelled part."""


@dataclass(frozen=True)
class Pool:
    """One draw.

    Attributes:
        seen: labels of the first items alone; what an audit gets.
        whole: the same pool with all its labels; what is true of it.
    """

    seen: JudgmentTable
    whole: JudgmentTable


@dataclass(frozen=True)
class Source:
    """Real judgments to draw from; every unit has a label."""

    table: JudgmentTable

    def __post_init__(self) -> None:
        if not self.table.labelled.all():
            raise ValueError("Pools are drawn from units that all have a label.")

    def places(self) -> list[NDArray[np.intp]]:
        """Units of every cluster."""
        of = self.table.clusters
        order = np.argsort(of, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(of[order])) + 1)

    def pools(self, labels: int, count: int, seed: int, size: int | None = None) -> Iterator[Pool]:
        """So many pools, the first ``labels`` clusters of each labelled.

        Args:
            size: clusters of a pool; by default ``TIMES`` the labels.
        """
        places, rng = self.places(), np.random.default_rng(seed)
        for _ in range(count):
            drawn = rng.integers(len(places), size=size or TIMES * labels)
            yield self._pool([places[k] for k in drawn], labels)

    def copies(self, count: int) -> JudgmentTable:
        """So many copies of the whole table: the superpopulation itself, as large as one likes."""
        places = self.places()
        return self._pool(places * count, len(places) * count).whole

    def _pool(self, drawn: list[NDArray[np.intp]], labels: int) -> Pool:
        units = np.concatenate(drawn)
        turn = np.repeat(np.arange(len(drawn)), [len(part) for part in drawn])
        known = turn < labels
        whole = _unchecked(self.table, _named(self.table.units, units, turn, known), units)
        return Pool(replace(whole, labels=np.where(known[:, None], whole.labels, np.nan)), whole)


def _named(
    units: Units, chosen: NDArray[np.intp], turn: NDArray[np.intp], known: NDArray[np.bool_]
) -> Units:
    """Copies under names of their own: an item that is drawn twice is two items."""
    made = units.at(chosen)
    tag = np.array([f" #{k}" for k in range(int(turn[-1]) + 1)], object)[turn]
    return replace(
        made,
        item=made.item + tag,
        cluster=made.cluster + tag,
        chance=np.full(len(chosen), known.mean()),
        turn=np.where(known, turn, np.nan),
    )


def _unchecked(table: JudgmentTable, units: Units, chosen: NDArray[np.intp]) -> JudgmentTable:
    return replace(
        table,
        units=units,
        labels=table.labels[chosen],
        verdicts=table.verdicts[:, chosen],
        asked=table.asked[:, chosen],
    )
