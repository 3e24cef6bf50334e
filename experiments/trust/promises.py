"""Promises of part ``next_labels``: a judge that decides alone, and intervals of people's grades.

* A row that is *accepted* promises that at most .1 of what the judge decides is wrong; that may
  fail in at most .05 of the pools, for each judge.
* Where a judge gives a grade, people's lies in the interval for .9 of new items.

Run: ``python -m experiments.trust.promises --data DIR [--pools 400]``
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from experiments.trust.coverage import COPIES, LABELS
from experiments.trust.intervals import STRATEGIES, thinned
from experiments.trust.page import found
from experiments.trust.pools import Source
from experiments.trust.results import RESULTS, Row, write
from judgelab.core.judgments import JudgmentTable
from judgelab.core.result import Row as Shown
from judgelab.study.audit.next_labels import NextLabels
from tests.judgment_tables import NATURAL, llmbar

PART = NextLabels()


def shown(table: JudgmentTable, name: str) -> list[Shown]:
    """Rows of one table of the part."""
    return [row for one in found(PART, table).tables if one.name == name for row in one.rows]


def alone(drawn: Source, pools: int) -> Iterator[Row]:
    """How often an accepted row is wrong more than it promises, of the judge where most often."""
    truth = {
        (row["judge"], row["confidence"]): float(row["wrong"] or 0)
        for row in shown(drawn.copies(COPIES), "abstention")
    }
    for labels in LABELS:
        accepted, broken = Counter[object](), Counter[object]()
        for pool in drawn.pools(labels, pools, 1):
            rows = [row for row in shown(pool.seen, "abstention") if row["accepted"]]
            accepted.update({row["judge"] for row in rows})
            broken.update(
                {row["judge"] for row in rows if truth[row["judge"], row["confidence"]] > PART.risk}
            )
        worst = max((broken[name] for name, _ in truth), default=0) / pools
        mean = sum(accepted.values()) / pools / len({name for name, _ in truth})
        yield {
            "promise": "at most .1 of what it decides is wrong",
            "data": "LLMBar Natural",
            "labels": labels,
            "promised, mean over judges": mean,
            "broken, judge where most often": worst,
        }


def grades(drawn: Source, pools: int) -> Iterator[Row]:
    """Share of unlabelled grades of people that lie in the judge's interval."""
    for labels in LABELS:
        held: list[float] = []
        for pool in drawn.pools(labels, pools, 1):
            table, new = pool.whole, ~pool.seen.labelled
            rows = shown(pool.seen, "grade_intervals")
            for k, name in enumerate(table.names):
                mine = [row for row in rows if row["judge"] == name]
                ends = {
                    row["grade"]: (float(row["low"] or 0), float(row["high"] or 0)) for row in mine
                }
                pairs = zip(table.values[k, new], table.truth[new], strict=True)
                inside = [
                    ends[said][0] - 1e-9 <= truth <= ends[said][1] + 1e-9
                    for said, truth in pairs
                    if said in ends
                ]
                held.append(float(np.mean(inside)))
        yield {
            "promise": "people's grade lies in the interval for .9",
            "data": "SummEval",
            "labels": labels,
            "promised, mean over judges": 1.0,
            "held, mean": float(np.mean(held)),
        }


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw and write."""
    parser = argparse.ArgumentParser(description="Promises of deciding alone.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pools", type=int, default=400)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    table = llmbar(given.data, NATURAL)
    natural = Source(table.of([name for name in table.names if name.endswith(STRATEGIES)]))
    rows = list(alone(natural, given.pools))
    rows += grades(thinned("SummEval", given.data, 4), max(given.pools // 10, 1))
    write("promises", rows, {"pools": given.pools}, given.out)


if __name__ == "__main__":
    main()
