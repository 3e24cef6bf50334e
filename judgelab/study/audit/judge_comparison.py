"""Judges against each other on the same items."""

from __future__ import annotations

import numpy as np

from judgelab.core.result import Row, Table
from judgelab.stats.trust.comparison import MCNEMAR, PAIRED_T, judge_pairs
from judgelab.study.audit.with_people import AgreementWithPeople

MOST = 45
"""Pairs up to which all are shown; of more, those of the best judge."""


def judge_pairs_table(numbers: AgreementWithPeople) -> Table:
    """Every pair of judges; of many, those of the best with each other one."""
    case, seen = numbers.case, numbers.seen
    credits, table = case.credits, case.table
    chosen = [
        k
        for k, who in enumerate(table.judges)
        if not who.control and not np.isnan(credits.item[k, seen]).all()
    ]
    draws = None if numbers.resamples is None else numbers.resamples.judges[:, chosen]
    found = judge_pairs(credits.item[chosen][:, seen], numbers.cluster, numbers.weight, draws)
    shown = list(range(len(found.p)))
    if len(found.p) > MOST:
        best = int(np.argmax([numbers.agreement[k].value for k in chosen]))
        shown = np.flatnonzero((found.one == best) | (found.other == best)).tolist()
    rows: list[Row] = []
    for k in shown:
        names = [table.names[chosen[place[k]]] for place in (found.one, found.other)]
        ends = [float(found.difference[k]), float(found.low[k]), float(found.high[k])]
        if ends[0] < 0:
            names, ends = names[::-1], [-ends[0], -ends[2], -ends[1]]
        value = dict(zip(("difference", "difference_low", "difference_high"), ends, strict=True))
        row = {"judge": names[0], "compared_with": names[1], **value, "n": int(found.n[k])}
        test = MCNEMAR if found.exact[k] else PAIRED_T
        rows.append(row | {"p": float(found.p[k]), "p_holm": float(found.holm[k]), "test": test})
    only = ", of which those of the best judge are shown" if len(rows) < len(found.p) else ""
    note = (
        "Difference of agreement on the same items. p_holm: p after Holm over all "
        f"{len(found.p):,} pairs of judges{only}. Exact McNemar where each judge is right or wrong "
        "on an item; else a paired t by cluster."
    )
    return Table(
        "judge_pairs", "Is one judge better than another?", rows, note, 1 - case.rules.alpha
    )
