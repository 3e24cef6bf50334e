"""Asking until it is clear: what is still open after a batch of items, whom it needs, what is sure.

The one implementation, on a matrix of scores [turns, competitors]. A turn is one item, or some that
make one score (two single texts, which are compared): the row of the matrix is the unit of every
interval and every order. Whoever has several scores an item hands their mean in. The caller draws
the order of the turns at random, from a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from judgelab.core.bounds import ConfidenceLevel, Count, Positive
from judgelab.core.errors import ConfigError
from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.intervals.means import Bounds
from judgelab.stats.sequential import Standing, sequence_ends, standing, ties
from judgelab.study.common.templates import sentences


@dataclass(frozen=True)
class Stop:
    """Ask in batches, in a random order of the items, and stop when it is clear.

    Without ``width`` and ``order`` everything is asked at once. With both, two that surely differ
    by less than ``width`` are settled, too: a tie.

    Args:
        width: an interval is narrow enough at this width, from end to end, in the unit of the
            figure.
        order: with this confidence all orders and ties that are called sure are right.
        top: only who is among the best so many matters; null: the whole order.
        batch: items between two looks. Looks cost no certainty.
    """

    width: Positive | None = None
    order: ConfidenceLevel | None = None
    top: Count | None = None
    batch: Annotated[int, Field(ge=2)] = 10

    def __post_init__(self) -> None:
        if self.top is not None and self.order is None:
            raise ConfigError("study.stop.top needs study.stop.order, the confidence: set .95.")

    @property
    def on(self) -> bool:
        """Whether anything may be left unasked."""
        return self.width is not None or self.order is not None

    def among(self, names: Sequence[str], figure: str) -> Stop:
        """The question that so many competitors leave: one alone has a width and no order.

        Raises:
            ConfigError: an order of one is wanted, or the best so many of no more.
        """
        if self.order is None:
            return self
        if len(names) < 2:
            if self.width is None:
                raise ConfigError(
                    f"study.stop.order is about the order of several, and there is {names[0]} "
                    f"alone: ask for its {figure} to a width, study.stop.width=.1"
                )
            return replace(self, order=None, top=None)
        if self.top is not None and self.top >= len(names):
            raise ConfigError(
                f"study.stop.top={self.top} of {len(names)} leaves nothing to ask: choose fewer."
            )
        return self

    def look(
        self, scores: Floats, level: float, bounds: Bounds | None
    ) -> tuple[Standing, Mask, Mask, Mask]:
        """What some items say: sure orders, ties, and what is wanted and not settled yet.

        Args:
            scores: [items so far, competitors], NaN where not asked or unscored.
            level: of intervals, and of orders where none are asked for.
            bounds: least and largest score; None: there are none.

        Returns:
            Orders, a tie having none; pairs that are tied, and that are open; [competitors] whose
            interval is too wide, nobody where an order is wanted.
        """
        tied, open_pairs = np.zeros((2, *(scores.shape[1],) * 2), np.bool_)
        wide = np.zeros(scores.shape[1], np.bool_)
        if self.order is not None and self.width is not None:
            tied = ties(scores, self.width, self.order, bounds)
        stepwise = self.order is None or self.width is None
        order = standing(scores, self.order or level, bounds, stepwise=stepwise)
        order = Standing(order.above & ~tied)
        if self.order is not None:
            open_pairs = order.open_pairs(self.top) & ~tied
        elif self.width is not None:
            low, high = sequence_ends(scores.T, level, bounds)
            wide = ~(high - low <= self.width)
        return order, tied, open_pairs, wide


@dataclass(frozen=True)
class Elimination:
    """What came of asking until it was clear."""

    stop: Stop  # what was wanted (of one competitor: a width)
    names: Sequence[str]
    sizes: NDArray[np.int64]  # [turns] items of each
    least: int  # scored items that everybody was to have
    who: Mask  # [turns asked, competitors] who was asked about what
    score_counts: NDArray[np.int64]  # [competitors] items that gave a score
    standing: Standing  # standing, tied, open_pairs, wide: as of ``Stop.look`` after the last
    tied: Mask
    open_pairs: Mask
    wide: Mask
    bounded: bool  # whether scores have a least and a largest value
    figure: str  # what competitors are scored by
    item: str  # what they are asked about

    @property
    def items(self) -> tuple[int, int]:
        """How many were asked about, and how many there are."""
        return int(self.sizes[: len(self.who)].sum()), int(self.sizes.sum())

    @property
    def count(self) -> Mapping[str, int]:
        """Name -> items it was asked about."""
        return dict(zip(self.names, (self.sizes[: len(self.who)] @ self.who).tolist(), strict=True))

    @property
    def share_saved(self) -> float:
        """Share of all questions that were not asked."""
        return 1 - sum(self.count.values()) / max(1, self.items[1] * len(self.names))

    @property
    def ties(self) -> list[tuple[str, ...]]:
        """Pairs that surely differ by less than the width."""
        return [(self.names[i], self.names[j]) for i, j in np.argwhere(np.triu(self.tied))]

    @property
    def open(self) -> list[tuple[str, ...]]:
        """Pairs whose order is wanted and not settled."""
        return [(self.names[i], self.names[j]) for i, j in np.argwhere(np.triu(self.open_pairs))]

    @property
    def sentences(self) -> list[str]:
        """How much was asked and saved, what is sure, and what is open."""
        stop, orders = self.stop, self.standing
        names, top = np.array(self.names), stop.top or 0
        width, sure = (f"{x or 0:g}".removeprefix("0") for x in (stop.width, stop.order))
        return sentences(
            __package__,
            "stopping.md.j2",
            outcome=self,
            few=list(names[self.score_counts < self.least]),
            wide=list(names[self.wide]),
            width=width,
            sure=sure,
            pairs=len(names) * (len(names) - 1) // 2,
            above=int(orders.above.sum()),
            order=list(names[np.argsort(orders.rank_low)]),
            surely=list(names[orders.rank_high <= top]),
            maybe=list(names[orders.rank_low <= top]),
        )


def until_clear(
    stop: Stop,
    sizes: Sequence[int],
    names: Sequence[str],
    ask: Callable[[range, Mask], None],
    scores: Callable[[], Floats],
    level: float,
    bounds: Bounds | None,
    least: int = 0,
    *,
    together: Callable[[], bool] = lambda: False,
    figure: str = "agreement with people",
    item: str = "labelled item",
) -> Elimination:
    """Ask competitors about items, batch by batch, until all that is wanted of them is clear.

    A rest of few items joins the last batch: what pairs items would have none to pair there.

    Args:
        sizes: items of each turn, in the order drawn.
        ask: asks the competitors [competitors] about the items of these turns.
        scores: [turns asked, competitors] so far, higher is better; NaN where not asked, unscored.
            Rows of turns that were not asked yet may be there, NaN.
        level, bounds: of intervals; least and largest score, None: there are none.
        least: nobody stops before so many of its items are scored.
        together: whether all are asked until nothing is open, as scores depend on one another.
        figure, item: what competitors are scored by and asked about, in words.

    Raises:
        ConfigError: an order of one competitor.
    """
    stop = stop.among(names, figure)
    to_ask, each = np.ones(len(names), np.bool_), np.array(sizes, np.int64)
    who: Mask = np.empty((0, len(names)), np.bool_)
    so_far: Floats = np.empty((0, len(names)))
    counts, state = np.zeros(len(names), np.int64), stop.look(so_far, level, bounds)
    while (start := len(who)) < len(each) and to_ask.any():
        sums = np.cumsum(each[start:])  # items of this batch, if it ended with each turn
        size = int(np.searchsorted(sums, stop.batch)) + 1
        size = size if size < len(sums) and sums[-1] - sums[size - 1] >= stop.batch else len(sums)
        ask(range(start, start + size), to_ask)
        who = np.concatenate([who, np.tile(to_ask, (size, 1))])
        so_far = np.asarray(scores()[: len(who)])
        state = stop.look(so_far, level, bounds)
        counts = each[: len(who)] @ ~np.isnan(so_far)
        to_ask = state[2].any(axis=1) | state[3] | (counts < least)
        if to_ask.any() and together():
            to_ask = np.ones(len(names), np.bool_)
    return Elimination(
        stop, names, each, least, who, counts, *state, bounds is not None, figure, item
    )
