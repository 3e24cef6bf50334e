"""How often an interval holds, on labels resampled from real judgments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.trust.pools import Pool, Source
from experiments.trust.results import Row
from judgelab.core.judgments import JudgmentTable

Key = tuple[str, ...]
"""Table, what tells its row from others, and the column of the estimate."""

Interval = tuple[float, float, float]
"""value, low, high; NaN where there is none."""

LABELS = (50, 100, 200)
POOLS = 1000
COPIES = 8
"""Of the source, whose estimate is the truth: what is fitted to so many is fitted to the source."""
SLACK = 1e-9

Found = Callable[[JudgmentTable], Mapping[Key, Interval]]
"""What is shown of a table."""

Truth = Callable[[JudgmentTable], Mapping[Key, float]]


@dataclass(frozen=True)
class Trial:
    """Intervals that are tried together.

    Attributes:
        part: of the audit.
        data: name of the source.
        source: what is drawn from.
        found: the intervals.
        truth: of the superpopulation, from the source's table; by default what ``found`` says of
            copies of it with all labels.
        pool_truth: of one pool with all its labels, where an interval is of the pool.
        whole: whether all of a pool is labelled: of intervals that look at labels alone.
    """

    part: str
    data: str
    source: Source
    found: Found
    truth: Truth | None = None
    pool_truth: Truth | None = None
    whole: bool = False

    def truths(self) -> dict[Key, float]:
        """Of the superpopulation."""
        if self.truth is not None:
            return dict(self.truth(self.source.table))
        return {k: value for k, (value, *_) in self.found(self.source.copies(COPIES)).items()}


def tried(trial: Trial, labels: int, count: int = POOLS, seed: int = 1) -> Iterator[Row]:
    """A row for each interval: how often it holds, and holds the mean estimate of so many labels.

    What is learned from the labels (thresholds, what a system's name says) is another thing with
    few labels than with many: the estimates' mean is then not the truth of many (``bias``).
    """
    truth = trial.truths()
    known: dict[Key, list[tuple[float, ...]]] = {}
    size = labels if trial.whole else None
    for pool in trial.source.pools(labels, count, seed, size):
        of_pool = _of_pool(trial, pool)
        for key, interval in trial.found(pool.seen).items():
            aim = of_pool.get(key, truth.get(key))
            if aim is not None:
                known.setdefault(key, []).append((*interval, aim))
    for key, found in known.items():
        head: Row = {"part": trial.part, "data": trial.data, "table": key[0]}
        head |= {"of": " / ".join(key[1:-1]), "column": key[-1], "labels": labels}
        yield {**head, **_tally(np.array(found, dtype=np.float64), count)}


def _of_pool(trial: Trial, pool: Pool) -> Mapping[Key, float]:
    return {} if trial.pool_truth is None else trial.pool_truth(pool.whole)


def _tally(found: NDArray[np.float64], count: int) -> Row:
    value, low, high, truth = found.T
    known = ~(np.isnan(low) | np.isnan(high) | np.isnan(truth))
    if not known.any():
        return {"truth": float(np.nanmean(truth)), "none": 1.0}
    value, low, high, truth = (part[known] for part in (value, low, high, truth))
    above, below = low > truth + SLACK, high < truth - SLACK
    off = float(np.mean(value - truth))
    centre = truth + off
    return {
        "truth": float(truth.mean()),
        "held": float(1 - above.mean() - below.mean()),
        "above": float(above.mean()),
        "below": float(below.mean()),
        "bias": off,
        "held mean estimate": float(np.mean((low <= centre + SLACK) & (high >= centre - SLACK))),
        "width": float(np.mean(high - low)),
        "sd": float(np.std(value - truth)),
        "none": 1 - int(known.sum()) / count,
    }


def ranges(rows: Sequence[Row], column: str = "held") -> list[Row]:
    """A row for each column of a table: mean, lowest and highest coverage over judges."""
    made: list[Row] = []
    names = ("part", "data", "table", "column")
    rows = [{**row, "column": _named(row)} for row in rows]
    for key in dict.fromkeys(tuple(row[name] for name in names) for row in rows):
        mine = [row for row in rows if tuple(row[name] for name in names) == key]
        line = dict(zip(names, key, strict=True))
        for labels in sorted({row["labels"] for row in mine}):
            held = [r[column] for r in mine if r["labels"] == labels and column in r]
            line[f"{labels} labels"] = spread(held)
        made.append(line)
    return made


def _named(row: Row) -> str:
    """Of what is held against a control, with the control."""
    apart = {"gains": "over", "controls": "of"}.get(row["table"])
    return f"{row['column']} {apart} {row['of'].split(' / ')[-1]}" if apart else row["column"]


def spread(held: Sequence[float]) -> str:
    """Mean, and from lowest to highest."""
    if not held:
        return "no interval"
    low, mean, high = (f"{x:.3f}" for x in (min(held), sum(held) / len(held), max(held)))
    made = mean if len(held) == 1 else f"{mean} ({low} to {high})"
    return made.replace("0.", ".")
