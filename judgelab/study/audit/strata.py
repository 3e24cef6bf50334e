"""Agreement by stratum, and by how much people differ."""

from __future__ import annotations

import numpy as np

from judgelab.core.result import Row, Table
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.trust.agreement import clustered_means, means_within
from judgelab.stats.trust.ceiling import STRATA, spread, spread_strata
from judgelab.study.audit.part import AuditCase


def item_strata(case: AuditCase) -> list[tuple[str, Floats]]:
    """Name -> [items] whether it is in that stratum; those of one kind only where there are two."""
    credits, table = case.credits, case.table
    first = np.unique(credits.place, return_index=True)[1]
    own = table.units.stratum[first].astype(str)
    people = means_within(spread(table.labels, table.kind == "grade"), credits.place, len(first))
    apart = np.array(spread_strata(people), dtype=object)
    made = []
    for names, column in ((sorted(set(own[credits.labelled])), own), (STRATA, apart)):
        there = [n for n in names if (credits.labelled & (column == n)).any()]
        if len(there) > 1:
            made += [(n or "no stratum", credits.labelled & (column == n)) for n in there]
    return made


def strata_table(case: AuditCase) -> Table:
    """A row for each judge and stratum."""
    credits, rows = case.credits, []
    for name, at in item_strata(case):
        level = 1 - case.rules.alpha
        found = clustered_means(
            credits.item[:, at], credits.cluster[at], level=level, weight=credits.weight[at]
        )
        known = credits.control[:, at]
        control = np.array([x[~np.isnan(x)].mean() if (~np.isnan(x)).any() else -1 for x in known])
        best = int(control.argmax())
        for who, one in zip(case.table.judges, found, strict=True):
            row: Row = {
                "judge": who.name,
                "stratum": name,
                "agreement": one.value,
                "agreement_low": one.low,
                "agreement_high": one.high,
                "n": one.n,
                "unscored": one.unscored,
                "best_control": credits.controls[best],
                "its_agreement": float(control[best]),
            }
            rows.append(row)
    note = "Many intervals: of twenty, one misses by chance. How much people differ: of items with "
    note += "labels by two people or more, parted at the median of those on which they differ."
    return Table("strata", "Agreement by stratum", rows, note, 1 - case.rules.alpha)
