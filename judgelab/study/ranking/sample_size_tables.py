"""The question of a sample size, what rating costs, and the tables of the answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from judgelab.core.result import Row, Table, Value
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.ranking.confidence import (
    Circumstances,
    Confidence,
    Method,
    confidence,
    minimum_delta,
    required_n,
    required_r,
)
from judgelab.stats.ranking.simulation import MOST_ITEMS, Draws

POINTS = 60  # of a curve
SIZES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000)


@dataclass(frozen=True)
class Question:
    """Two systems that answer the same items: the settings of SampleSize that say what is asked.

    Attributes:
        target: confidence asked for.
        scores: human scores in place of ``sd``.
        empty: cells of the human scores' column that hold none.
    """

    delta: float
    target: float
    sd: float
    item_correlation: float = 0.0
    system_bias_sd: float = 0.0
    scores: Floats | None = None
    empty: int = 0

    @property
    def without_bias(self) -> Question:
        """The same question by Algorithm 1 alone."""
        return replace(self, system_bias_sd=0.0)

    def items(self, r: float) -> float:
        """Fewest items; infinite where no number is enough."""
        return required_n(r, self.delta, self.target, self.scores, **self._known)

    def correlation(self, n: float) -> float:
        """Least correlation; infinite where none is enough."""
        return required_r(n, self.delta, self.target, self.scores, **self._known)

    def difference(self, r: float, n: float) -> float:
        """Least difference."""
        return minimum_delta(r, n, self.target, self.scores, **self._known)

    def sure(
        self, r: ArrayLike, n: ArrayLike, method: Method = "closed_form", draws: Draws | None = None
    ) -> Confidence:
        """Confidence with these items."""
        return confidence(r, n, self.delta, self.scores, method=method, draws=draws, **self._known)

    @property
    def _known(self) -> Circumstances:
        return {
            "sd": self.sd if self.scores is None else None,
            "paired": True,
            "item_correlation": self.item_correlation,
            "system_bias_sd": self.system_bias_sd,
        }


@dataclass(frozen=True)
class Bill:
    """What rating costs.

    Attributes:
        systems: how many are rated on every item.
        each: cost of one rated text; None: not known.
        currency: its name; empty where unknown.
    """

    systems: int
    each: float | None = None
    currency: str = ""

    def texts(self, items: float) -> float:
        """Texts to be rated."""
        return items * self.systems

    def cost(self, items: float) -> float | None:
        """Of so many items; None where the price is not known, or the items have no end."""
        if self.each is None or not math.isfinite(items):
            return None
        return self.texts(items) * self.each

    def said(self, amount: float) -> str:
        """``12.40 USD``."""
        return f"{amount:,.2f} {self.currency}".strip()


def plan_table(question: Question, r: float, bill: Bill, draws: Draws) -> Table:
    """One row: the answer, and what the simulation says of it."""
    items = question.items(r)
    row: dict[str, Value] = {
        "r": r,
        "delta": question.delta,
        "sd": question.sd,
        "confidence": question.target,
        "ceiling": float(question.sure(r, 1).ceiling),
        "items": items,
        "items_without_bias": question.without_bias.items(r),
        "rated_texts": bill.texts(items),
        "price": bill.each,
        "cost": bill.cost(items),
        "currency": bill.currency or None,
    }
    if items <= MOST_ITEMS:
        drawn = question.sure(r, items, "monte_carlo", draws)
        row["simulated"] = float(drawn.value)
        row["standard_error"] = float(drawn.standard_error)
    note = (
        f"Items in closed form; simulated: Algorithm 1 with so many items, {draws.pairs} pairs of "
        f"systems x {draws.evaluations} evaluations. Every item is answered by {bill.systems} "
        "systems; price: of rating one text."
    )
    return Table("plan", "The plan", [row], note)


def judges_table(question: Question, r: float, others: Sequence[float], bill: Bill) -> Table:
    """What a better judge would save, and how much dearer it may be."""
    items = question.items(r)
    rows: list[Row] = []
    for other in sorted({r, *others}):
        needed = question.items(other)
        row: dict[str, Value] = {"r": other, "items": needed, "items_saved": items - needed}
        both = np.isfinite(items) and np.isfinite(needed)
        row["saved"] = 1 - needed / items if both else np.nan
        row["worth_up_to"] = items / needed if both else np.nan
        cost, whole = bill.cost(needed), bill.cost(items)
        if cost is not None:
            row["cost_at_this_price"] = cost
            row["saved_at_this_price"] = None if whole is None else whole - cost
        rows.append(row)
    note = (
        "saved: share of the items. worth_up_to: a judge of that correlation may cost so many "
        "times as much a text before it costs more in all."
    )
    return Table("judges", "What a better judge would save", rows, note)


def sizes_table(question: Question, r: float, bill: Bill) -> Table:
    """What given numbers of items can do."""
    items = question.items(r)
    rows: list[Row] = [
        {
            "items": n,
            "confidence": float(question.sure(r, n).value),
            "smallest_difference": question.difference(r, n),
            "least_r": question.correlation(n),
            "cost": bill.cost(n),
        }
        for n in sorted({*SIZES, int(items)} if items <= MOST_ITEMS else SIZES)
    ]
    note = (
        f"smallest_difference: ranked right with {question.target:g} confidence by this judge; "
        "least_r: what a judge needs for the difference asked about (empty: none is enough)."
    )
    return Table("sizes", "What a number of items can do", rows, note)


def curve_table(question: Question, rs: Sequence[float], items: float) -> Table:
    """Confidence against N, for each judge."""
    end = max(1000.0, 20 * items if np.isfinite(items) else 1e6)
    n = np.unique(np.round(np.geomspace(10, end, POINTS)))
    value = question.sure(np.array(rs)[:, None], n).value
    whole = int if end <= MOST_ITEMS else float  # beyond, tables hold no integers
    rows: list[Row] = [
        {"r": r, "n": whole(size), "confidence": float(value[k, j])}
        for k, r in enumerate(rs)
        for j, size in enumerate(n)
    ]
    return Table("plan_curve", "Confidence by items", rows, "Closed form.")
