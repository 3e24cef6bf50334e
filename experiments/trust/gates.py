"""The gate on real judges: who is called better than every control, of those that are and are not.

LLMBar's 319 Adversarial pairs are the superpopulation: its truth says which of the 65 judges beat
every control. Labels are drawn with replacement and looked at after every ten.

Run: ``python -m experiments.trust.gates --data DIR [--pools 1000]``
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.trust.false_trust import ALPHA, EVERY, FIRST, LABELS, RULES, Floats, Rule
from experiments.trust.results import RESULTS, Row, write
from judgelab.core.judgments import JudgmentTable
from tests.judgment_tables import ADVERSARIAL, NATURAL, llmbar

TRIED = [rule for rule in RULES if "Holm" in rule.name]
CONTROLS = {
    "random, longer": ("random", "longer"),
    "random, longer, shorter": ("random", "longer", "shorter"),
}
SETS = {"Natural": NATURAL, "Adversarial": ADVERSARIAL}


def credits_of(table: JudgmentTable) -> Floats:
    """[judges, units] mean over orders of agreement with the label; 0 where there is no verdict."""
    values, label = table.verdicts, table.truth[None, :, None]
    right = np.where(values == 0.5, 0.5, (values == label).astype(float))
    return np.asarray(np.where(np.isnan(values), 0.0, right).mean(axis=2))


def controls_of(table: JudgmentTable) -> Mapping[str, Floats]:
    """Name -> credit per unit."""
    longer = (np.sign(table.units.words[:, 0] - table.units.words[:, 1]) + 1) / 2
    credit = np.where(longer == 0.5, 0.5, (longer == table.truth).astype(float))
    half = np.full(len(credit), 0.5)
    return {"random": half, "longer": credit, "shorter": 1 - credit}


def holm(p: Floats) -> Floats:
    """Adjusted p over the last axis."""
    order = np.argsort(p, axis=-1)
    m = p.shape[-1]
    stepped = np.take_along_axis(p, order, -1) * (m - np.arange(m))
    stepped = np.minimum(np.maximum.accumulate(stepped, axis=-1), 1)
    made = np.empty_like(p)
    np.put_along_axis(made, order, stepped, -1)
    return made


def passes(rule: Rule, gains: Floats, labels: int) -> NDArray[np.bool_]:
    """[judges] that pass at some look, or at the last one; gains [judges, controls, labels]."""
    p = rule.test(gains).max(axis=1)
    ends = np.arange(FIRST, labels + 1, EVERY) if rule.looks else np.array([labels])
    return np.asarray((holm(p[:, ends - 1].T) <= ALPHA).any(axis=0))


def trial(table: JudgmentTable, where: str, pools: int, seed: int = 1) -> list[Row]:
    """A row for each set of controls, number of labels and rule."""
    credit, known = credits_of(table), controls_of(table)
    rows: list[Row] = []
    for name, members in CONTROLS.items():
        gains = credit[:, None] - np.stack([known[one] for one in members])[None]
        better = gains.mean(axis=2).min(axis=1) > 1e-12
        for labels in LABELS:
            rng = np.random.default_rng(seed)
            drawn = [rng.integers(len(table.units), size=labels) for _ in range(pools)]
            for rule in TRIED:
                made = np.stack([passes(rule, gains[..., chosen], labels) for chosen in drawn])
                head = {"data": where, "controls": name, "labels": labels, "rule": rule.name}
                power = float(made[:, better].mean()) if better.any() else None
                wrong = float(made[:, ~better].any(axis=1).mean()) if (~better).any() else None
                counts = {"better": int(better.sum()), "not better": int((~better).sum())}
                rows.append({**head, **counts, "passed of better": power, "any passed": wrong})
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw and write."""
    parser = argparse.ArgumentParser(description="The gate on real judges.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pools", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    rows = [
        row
        for where, sets in SETS.items()
        for row in trial(llmbar(given.data, sets), where, given.pools)
    ]
    write("gates", rows, {"pools": given.pools}, given.out)


if __name__ == "__main__":
    main()
