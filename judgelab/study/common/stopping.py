"""When a study has asked enough: what is still open after a batch of items, and whom it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from judgelab.core.bounds import ConfidenceLevel, Count, Positive
from judgelab.core.errors import ConfigError
from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.sequential.elimination import Standing, standing, widths
from judgelab.stats.sequential.ends import Bounds, surely_within


@dataclass(frozen=True)
class Stop:
    """Ask in batches, in a random order of the items, and stop when it is clear.

    Without ``width`` and ``order`` everything is asked at once. With both, the order of two is
    settled, too, where they surely differ by less than ``width``.

    Args:
        width: an interval is narrow enough at this width, from end to end, in the unit of the
            figure.
        order: with this confidence every order that is called sure is right.
        top: only who is among the best so many matters; null: the whole order.
        target: population: sure of all items like these. pool: sure of what asking about all of
            these very items would say; that is sooner, and says less. Bounded scores only.
        batch: items between two looks. Looks cost no certainty.
    """

    width: Positive | None = None
    order: ConfidenceLevel | None = None
    top: Count | None = None
    target: Literal["population", "pool"] = "population"
    batch: Annotated[int, Field(ge=2)] = 10

    def __post_init__(self) -> None:
        if self.top is not None and self.order is None:
            raise ConfigError("study.stop.top needs study.stop.order, the confidence: set .95.")

    @property
    def on(self) -> bool:
        """Whether anything may be left unasked."""
        return self.width is not None or self.order is not None

    def of(self, items: int, bounds: Bounds | None) -> int | None:
        """How many items the answer is about; None: all like these.

        Raises:
            ConfigError: a pool's answer is wanted of scores without bounds.
        """
        if self.target == "population":
            return None
        if bounds is None:
            raise ConfigError(
                "study.stop.target=pool needs scores with a least and a largest value, which those "
                "of this mechanism have not: leave study.stop.target=population."
            )
        return items

    def standing(self, scores: Floats, level: float, bounds: Bounds | None, items: int) -> Standing:
        """Which orders are sure, with the confidence asked for, or else ``level``."""
        return standing(scores, self.order or level, bounds, self.of(items, bounds))

    def needed(self, scores: Floats, level: float, bounds: Bounds | None, items: int) -> Mask:
        """[competitors] who has to be asked about more items.

        Args:
            scores: [items so far, competitors], NaN where not asked or unscored.
            level: of intervals.
            bounds: least and largest score; None: there are none.
            items: there are in all.
        """
        if self.order is None:
            pool = self.of(items, bounds)
            return np.asarray(widths(scores, level, bounds, pool) > (self.width or np.inf))
        return np.asarray(self.open(scores, level, bounds, items).any(axis=1))

    def open(self, scores: Floats, level: float, bounds: Bounds | None, items: int) -> Mask:
        """[competitors, competitors] pairs whose order is wanted and not settled."""
        if self.order is None:
            return np.zeros((scores.shape[1],) * 2, np.bool_)
        pairs = self.standing(scores, level, bounds, items).wanted(self.top)
        if self.width is not None:
            first, second = np.nonzero(np.triu(pairs))
            gaps = (scores[:, first] - scores[:, second]).T
            reach = None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])
            count = len(pairs) * (len(pairs) - 1) / 2  # all: which are open was found by looking
            each = 1 - (1 - self.order) / max(1, count)
            near = surely_within(gaps, self.width, each, reach, self.of(items, bounds))
            pairs[first[near], second[near]] = pairs[second[near], first[near]] = False
        return pairs
