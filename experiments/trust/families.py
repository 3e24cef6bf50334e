"""Ten judges at once whose gain over the nearest rule is exactly 0, and the power of the test."""

from __future__ import annotations

import numpy as np

from experiments.results import Row
from experiments.trust.cells import reading
from experiments.trust.tables import Seed, right, table_of
from judgelab.core.judgments import JudgmentTable, Units
from judgelab.stats.intervals.ends import t_ends
from judgelab.study.audit.design import rules_of
from judgelab.study.audit.evidence import Evidence

LONGER = 0.65
"""How often the longer text is the better one, and how often judges of no gain are right."""
GAINS = {30: 0.26, 100: 0.16, 300: 0.09}
"""Items -> a gain that is found in some tables; of half credits six tenths of it."""


def family(n: int, rng: Seed, half: bool, gain: float = 0.0, judges: int = 10) -> JudgmentTable:
    """Judges that are right as often as the longer text is better, plus ``gain``.

    Args:
        half: three pairs an item, seen in both orders: a judge that changes its mind earns half.
    """
    each = 3 if half else 1
    best = rng.integers(0, 2, n * each).astype(float)
    longer = right(best, LONGER, rng, 1)
    hard = np.repeat(rng.uniform(-0.25, 0.25, n) * half, each)
    answers = [right(best, LONGER + gain + hard, rng, 1 + half) for _ in range(judges)]
    item = [f"item {k // each}" for k in range(len(best))]
    names = ([f"{side}{k % each}" for k in range(len(best))] for side in "ab")
    units = Units.of(item, *names, words=50 + 20 * np.column_stack([longer, 1 - longer]))
    verdicts = {f"judge {k}": x if half else x[:, 0] for k, x in enumerate(answers)}
    return table_of("preference", units, best[:, None], verdicts)


def _better(one: Evidence) -> bool:
    return all(each.standing == "met" for each in one.of("control"))


def rows(n: int, half: bool, draws: range) -> list[Row]:
    """Families in which a judge of no gain is better, and tables in which one with a gain is."""
    wrong = audit = student = 0
    for draw in draws:
        rng = np.random.default_rng([n, half, draw])
        _, verdicts = reading(family(n, rng, half))
        wrong += any(map(_better, verdicts))
        gain = GAINS[n] * (0.6 if half else 1)
        design, (one,) = reading(family(n, rng, half, gain, judges=1))
        audit += _better(one)
        readings = rules_of(design.table).values()
        rules = (design.target.shares(its, design.judged) for its in readings)
        student += bool(min(t_ends((design.own - rule).adds[0])[0] for rule in rules) > 0)
    row = {"credits": "0, 1/2 or 1" if half else "0 or 1", "items": n, "families": len(draws)}
    return [row | {"no gain, yet better": wrong, "gain found": audit, "by t": student}]
