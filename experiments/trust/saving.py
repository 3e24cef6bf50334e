"""Labels that a judge saves: predicted from 50 pilot labels, and saved in fact with 200 more.

Predicted is what the page calls ``saves_in_all``, times the share of the pool that has no label.
Saved in fact is 1 - (variance of the corrected mean) / (variance of people's mean), both over
resampled pools of 200 labelled items among 2,000.

Run: ``python -m experiments.trust.saving --data DIR [--pools 1000]``
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.trust.intervals import source
from experiments.trust.pools import TIMES, Source
from experiments.trust.results import RESULTS, Row, write
from judgelab.core.judgments import Floats, JudgmentTable
from judgelab.stats.trust.exchange import saving
from judgelab.stats.trust.prediction_powered import LabelledPool, estimate
from tests.judgment_tables import ADVERSARIAL, NATURAL, llmbar

PILOT, LABELS = 50, 200
REST = 1 - 1 / TIMES


def predicted(drawn: Source, pools: int, seed: int = 1) -> Floats:
    """[pools, 3, judges] saving from a pilot with the ends of its interval."""
    made = []
    for pool in drawn.pools(PILOT, pools, seed, size=PILOT):
        table = pool.whole
        found = saving(table.truth, table.values, table.clusters)
        made.append(np.stack([found.value, found.low, found.high]) * REST)
    return np.array(made)


def realised(drawn: Source, pools: int, seed: int = 2) -> Floats:
    """[judges] saved in fact."""
    corrected, people = [], []
    for pool in drawn.pools(LABELS, pools, seed):
        table = pool.seen
        known = LabelledPool.of(table.truth, table.values, table.clusters)
        corrected.append(estimate(known, "power").value)
        people.append(estimate(known, "none").value)
    return np.asarray(1 - np.var(corrected, axis=0) / np.var(people, axis=0))


def rows_of(table: JudgmentTable, where: str, pools: int) -> list[Row]:
    """One for each judge."""
    drawn = Source(table)
    pilots, saved = predicted(drawn, pools), realised(drawn, pools)
    low, high = np.nanquantile(pilots[:, 0], [0.025, 0.975], axis=0)
    most = np.maximum(saved, 0.0)  # next to nothing may come out as a little less than nothing
    held = np.nanmean((pilots[:, 1] <= most + 0.005) & (most <= pilots[:, 2] + 0.005), axis=0)
    return [
        {
            "data": where,
            "judge": name,
            "predicted": float(np.nanmean(pilots[:, 0, k])),
            "predicted_low": float(low[k]),
            "predicted_high": float(high[k]),
            "saved": float(saved[k]),
            "interval_held": float(held[k]),
        }
        for k, name in enumerate(table.names)
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw and write."""
    parser = argparse.ArgumentParser(description="Saving predicted and realised.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pools", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    tables = {"LLMBar": llmbar(given.data, NATURAL + ADVERSARIAL)}
    tables |= {name: source(name, given.data).table for name in ("FRANK", "SummEval")}
    rows = [row for name, table in tables.items() for row in rows_of(table, name, given.pools)]
    write("saving", rows, {"pools": given.pools}, given.out)


if __name__ == "__main__":
    main()
