"""Asking until it is clear: what is still open after a batch of items, whom it needs, what is sure.

The one implementation, on a matrix of scores [turns, competitors]. A turn is one item, or whatever
else a score is one value of (a cluster of items, a prompt): the row of the matrix is the unit of
every interval, every order and of the pool (``study.stop.target=pool``). Whoever has several scores
an item hands their mean in. The caller draws the order of the turns at random, from a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from judgelab.core.bounds import ConfidenceLevel, Count, Positive
from judgelab.core.errors import ConfigError
from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.sequential.elimination import Standing, standing, ties, widths
from judgelab.stats.sequential.ends import Bounds
from judgelab.study.common.templates import sentences

APPROXIMATE = (
    "Scores of this mechanism have no least and largest value: that its intervals hold at every "
    "look is exact for normal scores, and nearly so for others that are not strongly skewed."
)
"""experiments/stopping says by how much they fail for skewed ones."""
LOOKS = (
    "This run could stop after every batch. Its intervals and orders hold at every look, and are "
    "wider for that than those of a run whose items were fixed beforehand."
)
POOL = (
    "Sure is what asking about all {items} items would say (study.stop.target=pool), not what "
    "other items like these would."
)


@dataclass(frozen=True)
class Words:
    """What the competitors are called, what they are scored by, and what they are asked about."""

    competitor: str
    figure: str
    item: str = "item"


JUDGES = Words("judge", "agreement with people", "labelled item")
CANDIDATES = Words("candidate", "mean score")


@dataclass(frozen=True)
class Stop:
    """Ask in batches, in a random order of the items, and stop when it is clear.

    Without ``width`` and ``order`` everything is asked at once. With both, the order of two is
    settled, too, where they surely differ by less than ``width``: then it is a tie.

    Args:
        width: an interval is narrow enough at this width, from end to end, in the unit of the
            figure.
        order: with this confidence all orders and ties that are called sure are right.
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

    def among(self, competitors: int, words: Words = JUDGES) -> Stop:
        """The question that so many competitors leave: one alone has a width and no order.

        Raises:
            ConfigError: an order of one is wanted, or the best so many of no more.
        """
        if self.order is None:
            return self
        who, figure = words.competitor, words.figure
        if competitors < 2:
            if self.width is None:
                raise ConfigError(
                    f"study.stop.order needs two {who}s or more; one {who}'s {figure} is asked to "
                    "a width: study.stop.width=.1"
                )
            return replace(self, order=None, top=None)
        if self.top is not None and self.top >= competitors:
            raise ConfigError(
                f"study.stop.top={self.top} of {competitors} {who}s leaves nothing to ask: choose "
                "fewer."
            )
        return self

    def of(self, items: int, bounds: Bounds | None) -> int | None:
        """How many items the answer is about; None: all like these.

        Args:
            items: rows that the whole matrix of scores would have.

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
        """Which orders are sure, with the confidence asked for, or else ``level``; of ties none."""
        near, pool = self.tied(scores, bounds, items), self.of(items, bounds)
        stepwise = self.order is None or self.width is None
        found = standing(scores, self.order or level, bounds, pool, stepwise=stepwise)
        return replace(found, above=found.above & ~near)

    def tied(self, scores: Floats, bounds: Bounds | None, items: int) -> Mask:
        """[competitors, competitors] pairs that surely differ by less than ``width``."""
        if self.order is None or self.width is None:
            return np.zeros((scores.shape[1],) * 2, np.bool_)
        return ties(scores, self.width, self.order, bounds, self.of(items, bounds))

    def needed(
        self, scores: Floats, level: float, bounds: Bounds | None, items: int, least: int = 0
    ) -> Mask:
        """[competitors] who has to be asked about more items.

        Args:
            scores: [items so far, competitors], NaN where not asked or unscored.
            level: of intervals.
            bounds: least and largest score; None: there are none.
            items: there are in all.
            least: scores that everybody must have before asking may stop.
        """
        few = (~np.isnan(scores)).sum(axis=0) < least
        if self.order is None:
            return np.asarray(few | self.wide(scores, level, bounds, items))
        return np.asarray(few | self.open(scores, level, bounds, items).any(axis=1))

    def wide(self, scores: Floats, level: float, bounds: Bounds | None, items: int) -> Mask:
        """[competitors] whose interval is wider than asked for."""
        pool = self.of(items, bounds)
        return np.asarray(widths(scores, level, bounds, pool) > (self.width or np.inf))

    def open(self, scores: Floats, level: float, bounds: Bounds | None, items: int) -> Mask:
        """[competitors, competitors] pairs whose order is wanted and not settled."""
        if self.order is None:
            return np.zeros((scores.shape[1],) * 2, np.bool_)
        pairs = self.standing(scores, level, bounds, items).wanted(self.top)
        return np.asarray(pairs & ~self.tied(scores, bounds, items))


def in_batches(
    stop: Stop,
    turns: int,
    competitors: int,
    ask: Callable[[range, Mask], None],
    needed: Callable[[int], Mask],
) -> Mask:
    """[turns asked, competitors] who was asked, batch by batch until nobody is needed any more.

    A rest of few items joins the last batch: what pairs items would have none to pair there.

    Args:
        ask: asks these competitors about the items of these turns.
        needed: [competitors] who is needed after so many turns.
    """
    who, done, shown = np.ones(competitors, np.bool_), 0, list[Mask]()
    while done < turns and who.any():
        size = stop.batch if turns - done >= 2 * stop.batch else turns - done
        ask(range(done, done + size), who)
        shown += [who] * size
        done += size
        who = needed(done)
    return np.array(shown, np.bool_).reshape(done, competitors)


@dataclass(frozen=True)
class Elimination:
    """What came of asking until it was clear.

    Attributes:
        stop: what was wanted (of one competitor: a width).
        names: of the competitors.
        turns: there are in all.
        least: scores that everybody was to have.
        who: [turns asked, competitors] who was asked about what.
        scored: [competitors] turns that gave a score.
        standing: which orders are sure; a tie has none.
        tied: [competitors, competitors] pairs that surely differ by less than the width.
        left: [competitors, competitors] pairs whose order is wanted and not settled.
        wide: [competitors] whose interval is wider than wanted; nobody where an order is wanted.
        bounded: whether scores have a least and a largest value.
        words: what all these are called.
    """

    stop: Stop
    names: Sequence[str]
    turns: int
    least: int
    who: Mask
    scored: NDArray[np.int64]
    standing: Standing
    tied: Mask
    left: Mask
    wide: Mask
    bounded: bool
    words: Words

    @property
    def count(self) -> Mapping[str, int]:
        """Name -> turns it was asked about."""
        return {n: int(k) for n, k in zip(self.names, self.who.sum(axis=0), strict=True)}

    @property
    def saved(self) -> float:
        """Share of all questions that were not asked."""
        return 1 - float(self.who.sum()) / max(1, self.turns * len(self.names))

    @property
    def open(self) -> list[tuple[str, ...]]:
        """Pairs whose order is left open; of a width: names, alone, of those that are too wide."""
        return [*_pairs(self.names, self.left), *((name,) for name in self._wide)]

    @property
    def ties(self) -> list[tuple[str, ...]]:
        """Pairs that surely differ by less than the width."""
        return _pairs(self.names, self.tied)

    @property
    def sentences(self) -> list[str]:
        """How much was asked and saved, what is sure, what is open, and of what."""
        stop, found = self.stop, self.standing
        names, top = np.array(self.names), stop.top or 0
        return sentences(
            __package__,
            "stopping.md.j2",
            asked=self,
            words=self.words,
            few=list(names[self.scored < self.least]),
            wide=self._wide,
            width=_decimal(stop.width or 0.0),
            sure=_decimal(stop.order or 0.0),
            pairs=len(names) * (len(names) - 1) // 2,
            left=_pairs(self.names, self.left),
            above=int(found.above.sum()),
            order=list(names[np.argsort(found.rank_low)]),
            surely=list(names[found.rank_high <= top]),
            maybe=list(names[found.rank_low <= top]),
            approximate="" if self.bounded else APPROXIMATE,
            pool=POOL.format(items=self.turns) if stop.target == "pool" else "",
        )

    @property
    def _wide(self) -> list[str]:
        return [name for name, one in zip(self.names, self.wide, strict=True) if one]


def until_clear(
    stop: Stop,
    turns: int,
    names: Sequence[str],
    ask: Callable[[range, Mask], None],
    scores: Callable[[], Floats],
    level: float,
    bounds: Bounds | None,
    least: int = 0,
    *,
    together: Callable[[], bool] = lambda: False,
    words: Words = JUDGES,
) -> Elimination:
    """Ask competitors about items, batch by batch, until all that is wanted of them is clear.

    Args:
        stop: what is wanted.
        turns: items in all (the pool, where the answer is about that), in the order drawn.
        names: of the competitors.
        ask: asks the competitors [competitors] about the items of these turns.
        scores: [turns asked, competitors] so far, higher is better; NaN where not asked, unscored.
            Rows of turns that were not asked yet may be there, NaN.
        level: of intervals.
        bounds: least and largest score; None: there are none.
        least: nobody stops before so many of its items are scored.
        together: whether all are asked until nothing is open, as scores depend on one another.
        words: what competitors, their figure and the items are called.

    Raises:
        ConfigError: an order of one competitor, or the pool's answer of scores without bounds.
    """
    stop = stop.among(len(names), words)
    stop.of(turns, bounds)  # refused before anything is asked

    def needed(done: int) -> Mask:
        who = stop.needed(scores()[:done], level, bounds, turns, least)
        return np.full(len(names), True) if who.any() and together() else who

    who = in_batches(stop, turns, len(names), ask, needed)
    found = np.asarray(scores() if len(who) else np.empty((0, len(names))))[: len(who)]
    wide = stop.order is None and stop.wide(found, level, bounds, turns)
    return Elimination(
        stop=stop,
        names=names,
        turns=turns,
        least=least,
        who=who,
        scored=(~np.isnan(found)).sum(axis=0),
        standing=stop.standing(found, level, bounds, turns),
        tied=stop.tied(found, bounds, turns),
        left=stop.open(found, level, bounds, turns),
        wide=np.broadcast_to(wide, len(names)),
        bounded=bounds is not None,
        words=words,
    )


def _pairs(names: Sequence[str], which: Mask) -> list[tuple[str, ...]]:
    return [(names[i], names[j]) for i, j in np.argwhere(np.triu(which))]


def _decimal(x: float) -> str:
    """``.05`` and ``1.2``."""
    return f"{x:g}".removeprefix("0")
