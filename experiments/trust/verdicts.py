"""Verdicts from labels drawn at random: who is trusted, of those that beat every control or not.

All 65 LLMBar judges at once, the whole of the rules, labels of Adversarial pairs (and of Natural
ones, for the other side) seen. A user asks for an agreement of ``MINIMUM``.

Run: ``python -m experiments.trust.verdicts --data DIR [--pools 200]``
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.trust.coverage import LABELS
from experiments.trust.held_out import MINIMUM, evidence
from experiments.trust.page import case
from experiments.trust.pools import Source
from experiments.trust.results import RESULTS, Row, write
from judgelab.core.judgments import JudgmentTable
from judgelab.study.audit.rules import TrustRules
from judgelab.study.audit.verdict import STANDINGS, decide
from tests.judgment_tables import ADVERSARIAL, NATURAL, llmbar

SETS = {"Adversarial": ADVERSARIAL, "Natural": NATURAL}
FIXED = ("random", "longer", "shorter", "always tie")
"""Controls that learn nothing from labels: who beats them is a fact."""


def kinds(table: JudgmentTable) -> dict[str, str]:
    """Judge -> what it is by all labels: no better than a control, below the bar, above it."""
    credit = case(table).credits
    fixed = [k for k, name in enumerate(credit.controls) if name in FIXED]
    agreed = np.nanmean(credit.item, axis=1)
    best = np.nanmean(credit.control[fixed], axis=1).max()
    return {
        name: "right less than half the time"
        if agreed[k] < 0.5
        else "no better than a control"
        if agreed[k] <= best + 1e-12
        else "below the bar"
        if agreed[k] < MINIMUM
        else "above the bar"
        for k, name in enumerate(credit.judges)
    }


def trial(table: JudgmentTable, where: str, labels: int, pools: int, seed: int = 1) -> list[Row]:
    """A row for each kind of judge."""
    rules, of = TrustRules(minimum=MINIMUM), kinds(table)
    told: dict[str, Counter[str]] = {kind: Counter() for kind in of.values()}
    panels: Counter[str] = Counter()
    for pool in Source(table).pools(labels, pools, seed):
        made = decide(evidence(pool.seen, rules), rules)
        for name, one in made.items():
            told[of[name]][one.verdict] += 1
        panels.update({of[name] for name, one in made.items() if one.verdict == "trust"})
    rows: list[Row] = []
    for kind, counts in told.items():
        total = sum(counts.values())
        row: Row = {"data": where, "labels": labels, "judges that are": kind}
        row |= {"judges": total // pools}
        row |= {standing: counts[standing] / total for standing in STANDINGS}
        rows.append({**row, "any trusted": panels[kind] / pools})
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw, decide, write."""
    parser = argparse.ArgumentParser(description="Verdicts from random labels.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pools", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    rows: list[Row] = []
    for where, sets in SETS.items():
        table = llmbar(given.data, sets)
        for labels in LABELS:
            rows += trial(table, where, labels, given.pools)
            print(where, labels, flush=True)
    write("verdicts", rows, {"pools": given.pools, "minimum": MINIMUM}, given.out)


if __name__ == "__main__":
    main()
