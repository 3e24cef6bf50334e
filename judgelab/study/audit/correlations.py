"""Correlations with people's grades, and the alarm of a table that looks wrongly joined."""

from __future__ import annotations

import numpy as np

from judgelab.core.result import Row, Table, Value
from judgelab.stats.discrimination.correlation import clustered_correlation
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.agreement import Places, clustered_means
from judgelab.stats.trust.clustered import cluster_sums
from judgelab.stats.trust.rank_correlations import (
    group_means,
    partial_correlations,
    spearmans_within,
    taus_within,
)
from judgelab.study.audit.part import AuditCase

BETWEEN = 0.6
"""Correlation of the means of systems above which they count as agreeing."""


def correlation_table(case: AuditCase, fewest_systems: int) -> Table:
    """A row for each judge: within items, within systems, between systems."""
    scores, truth, system, cluster = _single(case)
    level = 1 - case.rules.alpha
    grades = case.table.kind == "grade"
    rows: list[Row] = []
    if case.table.kind == "category":
        return Table("correlations", "", rows)
    within = _within_items(case, level) if grades else [{} for _ in scores]
    plain = {
        "pearson": (0 * system, "pearson"),
        "pearson_given_system": (system, "pearson"),
        "spearman_given_system": (system, "spearman"),
    }
    found = {
        name: partial_correlations(scores, truth, group, cluster, method, level)  # type: ignore[arg-type]
        for name, (group, method) in (plain if grades else {}).items()
    }
    means = group_means(scores, truth, system)
    for k, who in enumerate(case.table.judges):
        row: dict[str, Value] = {"judge": who.name, **within[k]}
        for name, ones in found.items():
            row |= _columns(name, ones[k])
        if found:
            row |= {"n": ones[k].n, "unscored": ones[k].unscored}
        row |= _between(means[0][k], means[1][k], fewest_systems)
        rows.append(row)
    if not grades and system.max(initial=-1) + 1 < fewest_systems:
        rows = []
    return Table("correlations", "Correlation with people", rows, _NOTE, level)


_NOTE = (
    "Within items: mean over items with three texts or more on which neither side gives all the "
    "same grade; dropped: the other items. Given system: of what is left once the mean of each "
    "system is taken out (n: texts), so that knowing the system is not enough. Between systems: "
    "Kendall's tau of their means, interval over systems; refused where they are too few for any "
    "order to be surprising."
)


def _columns(name: str, one: Estimate) -> dict[str, Value]:
    return {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}


def _within_items(case: AuditCase, level: float) -> list[dict[str, Value]]:
    table, units = case.table, case.table.units
    _, item = np.unique(units.item.astype(str), return_inverse=True)
    count = int(item.max()) + 1
    first = np.unique(item, return_index=True)[1]
    cluster = table.clusters[first]
    labelled = cluster_sums(table.labelled, item) > 0
    made: list[dict[str, Value]] = [{} for _ in table.judges]
    for name, of in (
        ("tau_within_items", taus_within),
        ("spearman_within_items", spearmans_within),
    ):
        values = of(table.verdicts[:, :, 0], table.truth, item, count)[:, labelled]
        found = clustered_means(values, cluster[labelled], (-1.0, 1.0), level)
        for row, one in zip(made, found, strict=True):
            row |= _columns(name, one)
            row |= {"items": one.n, "dropped": one.unscored}
    return made


def _between(judged: Floats, people: Floats, fewest: int) -> dict[str, Value]:
    known = ~(np.isnan(judged) | np.isnan(people))
    n = int(known.sum())
    if n < fewest:
        return {"systems": n, "refused": f"{n} systems: their order needs {fewest}"}
    one = clustered_correlation(judged[known, None], people[known, None], "kendall")
    return {**_columns("tau_between_systems", one), "systems": n}


def _single(case: AuditCase) -> tuple[Floats, Floats, Places, Places]:
    """Judges' values, people's, number of the system, cluster; a preference once for each text."""
    table = case.table
    values, truth, names = table.values, table.truth, table.units.first.astype(str)
    cluster = table.clusters
    if table.kind == "preference":
        values = np.concatenate([values, 1 - values], axis=1)
        truth, cluster = np.r_[truth, 1 - truth], np.r_[cluster, cluster]
        names = np.r_[names, table.units.second.astype(str)]
    _, system = np.unique(names, return_inverse=True)
    return values, truth, system.astype(np.intp), cluster


def join_alarms(case: AuditCase) -> dict[str, str]:
    """Judge -> why its rows look wrongly joined; "" where they do not.

    Means of systems (of preferences: of pairs of systems) agree, r > ``BETWEEN``, all texts
    together agree, too, but texts of one system do not: the interval holds 0 and does not reach
    half of r. Either the judge knows no more than the system, or its rows are in another order
    within systems.
    """
    table, made = case.table, dict.fromkeys(case.table.names, "")
    if table.kind == "category":
        return made
    pairs = [f"{a}\x00{b}" for a, b in zip(table.units.first, table.units.second, strict=True)]
    _, group = np.unique(np.array(pairs), return_inverse=True)
    group = group.astype(np.intp)
    if group.max(initial=-1) < 2:
        return made
    level = 1 - case.rules.alpha
    values, truth, cluster = table.values, table.truth, table.clusters
    inside = partial_correlations(values, truth, group, cluster, "pearson", level)
    whole = partial_correlations(values, truth, 0 * group, cluster, "pearson", level)
    judged, people = group_means(values, truth, group)
    for k, name in enumerate(table.names):
        r = clustered_correlation(judged[k][:, None], people[k][:, None], "pearson").value
        one = inside[k]
        if r > BETWEEN and whole[k].low > 0 and one.low <= 0 and one.high < r / 2:
            made[name] = (
                f"Means of systems agree with people's (r = {r:.2f}), but texts of one "
                f"system do not ({one.value:.2f} [{one.low:.2f}, {one.high:.2f}]). Either the "
                "judge knows no more than the system, or its rows were joined in another order "
                "than people's: check the join."
            )
    return made
