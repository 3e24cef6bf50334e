"""How often every interval of the page holds, on labels resampled from real judgments.

Run: ``python -m experiments.trust.coverage --data DIR [--parts NAME ...] [--pools 1000]``
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from experiments.trust.page import Interval, Key
from experiments.trust.pools import Pool, Source
from experiments.trust.results import Row
from judgelab.core.judgments import JudgmentTable

LABELS = (50, 100, 200)
POOLS = 1000
SLACK = 1e-9

Found = Callable[[JudgmentTable], Mapping[Key, Interval]]
"""What is shown of a table: key -> value, low, high."""


@dataclass
class Tally:
    """Of one interval.

    Attributes:
        sets: pools that had it.
        above, below: of them, how many lay above the truth, or below it.
        width: sum.
        none: pools without it.
    """

    sets: int = 0
    above: int = 0
    below: int = 0
    width: float = 0.0
    none: int = 0

    def add(self, interval: Interval, truth: float) -> None:
        """One pool more."""
        _, low, high = interval
        if np.isnan(low) or np.isnan(high) or np.isnan(truth):
            self.none += 1
            return
        self.sets += 1
        self.above += bool(low > truth + SLACK)
        self.below += bool(high < truth - SLACK)
        self.width += high - low

    def row(self) -> Row:
        """Shares; None without any interval."""
        if not self.sets:
            return {"held": None, "above": None, "below": None, "width": None, "none": 1.0}
        above, below = self.above / self.sets, self.below / self.sets
        shares = {"held": 1 - above - below, "above": above, "below": below}
        none = self.none / (self.none + self.sets)
        return {**shares, "width": self.width / self.sets, "none": none}


@dataclass(frozen=True)
class Trial:
    """Intervals that are tried together.

    Attributes:
        part: of the audit.
        data: name of the source.
        source: what is drawn from.
        found: the page's intervals.
        truth: of the superpopulation, from the source's table; by default what ``found`` says of
            it with all labels.
        pool_truth: of one pool, where the interval is (also) held against it.
        size: clusters of a pool for so many labels; None: ten times as many.
    """

    part: str
    data: str
    source: Source
    found: Found
    truth: Callable[[JudgmentTable], Mapping[Key, float]] | None = None
    pool_truth: Callable[[JudgmentTable, Key], float] | None = None
    size: Callable[[int], int] | None = None
    seeds: Mapping[str, int] = field(default_factory=dict)

    def truths(self) -> dict[Key, float]:
        """Of the superpopulation."""
        if self.truth is not None:
            return dict(self.truth(self.source.table))
        return {key: value for key, (value, _, _) in self.found(self.source.table).items()}


def tried(trial: Trial, labels: int, count: int, seed: int = 1) -> Iterator[Row]:
    """A row for each interval and target."""
    truth = trial.truths()
    tallies: dict[tuple[str, Key], Tally] = {}
    size = trial.size(labels) if trial.size else None
    for pool in trial.source.pools(labels, count, seed, size):
        for key, interval in trial.found(pool.seen).items():
            if key in truth:
                for target, value in _targets(trial, pool, key, truth[key]):
                    tallies.setdefault((target, key), Tally()).add(interval, value)
    for (target, key), tally in tallies.items():
        head = {"part": trial.part, "data": trial.data, "table": key[0], "of": " ".join(key[1:-1])}
        numbers = {"pools": count, "truth": truth[key], **tally.row()}
        yield {**head, "column": key[-1], "target": target, "labels": labels, **numbers}


def _targets(trial: Trial, pool: Pool, key: Key, truth: float) -> Iterator[tuple[str, float]]:
    yield "superpopulation", truth
    if trial.pool_truth is not None:
        value = trial.pool_truth(pool.whole, key)
        if value == value:
            yield "pool", value


def ranges(rows: Sequence[Row]) -> list[Row]:
    """A row for each table and column: lowest, mean and highest coverage over what it is of."""
    made: list[Row] = []
    names = ("part", "data", "table", "column", "target")
    for key in dict.fromkeys(tuple(row[name] for name in names) for row in rows):
        mine = [row for row in rows if tuple(row[name] for name in names) == key]
        line = dict(zip(names, key, strict=True))
        for labels in sorted({row["labels"] for row in mine}):
            held = [r["held"] for r in mine if r["labels"] == labels and r["held"] is not None]
            line[f"labels {labels}"] = _range(held)
        made.append(line)
    return made


def _range(held: Sequence[float]) -> str:
    if not held:
        return "no interval"
    low, high = (f"{value:.3f}".removeprefix("0") for value in (min(held), max(held)))
    mean = f"{sum(held) / len(held):.3f}".removeprefix("0")
    return mean if len(held) == 1 else f"{mean} ({low} to {high})"
