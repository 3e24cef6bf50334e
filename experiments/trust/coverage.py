"""How often the audit's intervals hold what they are of: real pools, resampled by clusters.

The pool stands for all items there are; each sample is audited, and its intervals are held against
what the audit says of the whole pool.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from experiments.results import Row
from experiments.trust import pools
from experiments.trust.cells import by_labels, decided, share
from judgelab.core.judgments import JudgmentTable
from judgelab.stats.intervals.estimate import Estimate

SIZES = (50, 100, 200)
POOLS = ("LLMBar", "FRANK", "SummEval", "FRANK, pass or fail", "SummEval, pass or fail")
NAMES = {
    "control": "gain over a rule",
    "people": "judge less people",
    "system": "correlation given the system",
    "position": "won by the first text",
}


@cache
def _real(name: str, data: Path) -> JudgmentTable:
    base, _, kind = name.partition(", ")
    table: JudgmentTable = getattr(pools, base.lower())(data)
    return pools.passing(table) if kind else table


def _estimates(table: JudgmentTable) -> Mapping[tuple[str, str], Estimate]:
    """Every interval that the audit shows of one judge, by what it is of and about."""
    one, _, average = decided(table)
    result = {("agreement", ""): one.agreement}
    result |= {(NAMES[x.name], x.about): x.value for x in one.conditions if x.name in NAMES}
    result |= {("recall", level): own for level, own in one.recall.items()}
    result |= {("kappa", ""): one.kappa} if one.kappa else {}
    if average:
        result["corrected average", ""] = average.best
        result["own minus corrected", ""] = average.bias
        result["labels saved", ""] = average.saving
    return result


def holds_of(name: str, data: Path, labelled: int, draws: range) -> list[Row]:
    """Of each interval: samples (of all judges) in which it is known, and holds the whole's."""
    table, holds = _real(name, data), dict[str, list[list[bool]]]()
    for judge in table.names:
        alone, own = table.of([judge]), dict[str, list[bool]]()
        truth = _estimates(pools.repeated(alone, 10))
        for draw in draws:
            rng = np.random.default_rng([draw, labelled])
            sample = pools.sample(alone, labelled, 3 * labelled, rng)
            for key, one in _estimates(sample).items():
                if key in truth and np.isfinite([one.low, one.high]).all():
                    hit = one.low <= truth[key].value <= one.high
                    own.setdefault(key[0], []).append(hit)
        for interval, hits in own.items():
            holds.setdefault(interval, []).append(hits)
    return [
        {
            "data": name,
            "interval": interval,
            "labels": labelled,
            "samples": sum(map(len, each)),
            "hold": sum(map(sum, each)),
            "worst": min(sum(hits) / len(hits) for hits in each),
        }
        for interval, each in holds.items()
    ]


def summary(rows: list[Row]) -> list[Row]:
    """A line for each interval: shares that hold, and those of the worst judge, by labels."""

    def shares(row: Row) -> str:
        worst = share(round(1000 * row["worst"]), 1000)
        return f"{share(row['hold'], row['samples'])} ({worst})"

    return by_labels(rows, ("data", "interval"), shares)
