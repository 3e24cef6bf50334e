"""Judges against each other on the same items."""

from __future__ import annotations

import numpy as np

from judgelab.core.result import Row, Table
from judgelab.stats.intervals.arrays import Mask
from judgelab.stats.trust.comparison import MCNEMAR, PAIRED_T, JudgePairs, judge_pairs
from judgelab.stats.trust.rank_correlations import correlation_pairs, partial_correlations
from judgelab.study.audit.part import AuditCase
from judgelab.study.audit.with_people import AgreementWithPeople

MOST = 45
"""Pairs up to which all are shown; of more, those of the best judge."""


def judge_pairs_table(numbers: AgreementWithPeople) -> Table:
    """Agreement of every pair of judges; of many, of the best with each other one."""
    case, seen = numbers.case, numbers.seen
    credits = case.credits
    chosen = _judged(case, ~np.isnan(credits.item[:, seen]))
    draws = None if numbers.resamples is None else numbers.resamples.judges[:, chosen]
    found = judge_pairs(credits.item[chosen][:, seen], numbers.cluster, numbers.weight, draws)
    values = [numbers.agreement[k].value for k in chosen]
    rows, of = _rows(found, [case.table.names[k] for k in chosen], values)
    tests = (
        "Exact McNemar where each judge is right or wrong on an item; else a paired t by cluster."
    )
    note = f"Difference of agreement on the same items. {of} {tests}"
    return Table("judge_pairs", "Is one judge better than another?", rows, note, numbers.level)


def correlation_pairs_table(case: AuditCase) -> Table:
    """The same of the correlation of grades given the system."""
    rows: list[Row] = []
    note, table, level = "", case.table, 1 - case.rules.alpha
    if table.kind == "grade":
        chosen = _judged(case, ~np.isnan(table.values + table.truth))
        _, system = np.unique(table.units.first.astype(str), return_inverse=True)
        given = (table.values[chosen], table.truth, system.astype(np.intp), table.clusters)
        found = correlation_pairs(*given, level=level)
        values = [one.value for one in partial_correlations(*given)]
        rows, of = _rows(found, [table.names[k] for k in chosen], values)
        note = f"Difference of Pearson's correlation given the system. {of} A t by cluster."
    title = "Does one judge correlate better than another?"
    return Table("correlation_pairs", title, rows, note, level)


def _judged(case: AuditCase, known: Mask) -> list[int]:
    """Judges, not controls, with something known [judges, ...]."""
    judges = enumerate(case.table.judges)
    return [k for k, who in judges if not who.control and known[k].any()]


def _rows(found: JudgePairs, names: list[str], values: list[float]) -> tuple[list[Row], str]:
    """The better judge of each pair first, and what the p values are adjusted for."""
    shown = list(range(len(found.p)))
    if len(found.p) > MOST:
        best = int(np.nanargmax(values))
        shown = np.flatnonzero((found.one == best) | (found.other == best)).tolist()
    rows: list[Row] = []
    for k in shown:
        pair = [names[place[k]] for place in (found.one, found.other)]
        ends = [float(found.difference[k]), float(found.low[k]), float(found.high[k])]
        if ends[0] < 0:
            pair, ends = pair[::-1], [-ends[0], -ends[2], -ends[1]]
        value = dict(zip(("difference", "difference_low", "difference_high"), ends, strict=True))
        row = {"judge": pair[0], "compared_with": pair[1], **value, "n": int(found.n[k])}
        test = MCNEMAR if found.exact[k] else PAIRED_T
        rows.append(row | {"p": float(found.p[k]), "p_holm": float(found.holm[k]), "test": test})
    only = ", of which those of the best judge are shown" if len(rows) < len(found.p) else ""
    return rows, f"p_holm: p after Holm over all {len(found.p):,} pairs of judges{only}."
