"""Tables of the discernment study: arrays in, rows of plain numbers out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from judgelab.core.result import Row, Table, Value
from judgelab.mechanism.rating import noted_steps
from judgelab.stats.discernment.wilcoxon import scipy_p, tidy
from judgelab.study.common import templates
from judgelab.study.common.tables import columns
from judgelab.study.discernment.perturbations import Degraded
from judgelab.study.discernment.rated import RatedVariants
from judgelab.study.discernment.results import JudgeResult

INTERVAL = ("value", "low", "high", "n")
table = partial(templates.table, __package__)


def of_judge(one: JudgeResult, weights: str) -> list[Table]:
    """All tables of one judge; ``weights`` in words."""
    made = [
        results_table(one),
        averages_table(one, weights),
        metrics_table(one),
        excluded_table(one.rated.degraded),
        steps_table(one.rated),
    ]
    return [table for table in made if table.rows]


def results_table(judge: JudgeResult) -> Table:
    """One row per perturbation: D with weights and its interval, D without, threshold, verdict."""
    rows: list[Row] = [
        {
            "perturbation": one.perturbation.name,
            "level": one.perturbation.level,
            "severity": one.perturbation.severity,
            **columns(one.estimate, *INTERVAL),
            "ranked": one.fewest(one.ranked, weighted=True),
            "unscored": one.items - one.estimate.n if one.changed else 0,
            "d": one.score.d,
            "d_n": one.fewest(one.scored, weighted=False),
            "d_threshold": one.threshold[0],
            "threshold": one.threshold[1],
            "seen": one.seen_in_words,
        }
        for one in judge.found
    ]
    return table("discernment", without_twins(rows))


def without_twins(rows: Sequence[Row]) -> list[Row]:
    """Rows of D without what weights make no difference to."""

    def known(value: Value) -> Value:
        return None if value != value else value

    if not all("d" in row and known(row["d"]) == known(row["value"]) for row in rows):
        return list(rows)
    unweighted = ("d", "d_n", "d_threshold")
    return [{k: v for k, v in row.items() if k not in unweighted} for row in rows]


def averages_table(judge: JudgeResult, weights: str) -> Table:
    """Level-balanced averages and minima, with and without weights."""
    count = sum(one.counts for one in judge.found)
    rows: list[Row] = [
        {
            "statistic": name,
            **columns(estimate, *INTERVAL, "unscored"),
            "perturbations": count,
            "threshold": threshold,
            "weights": weights if name.endswith("_ew") else "none",
        }
        for name, (estimate, threshold) in judge.over.items()
    ]
    return table("averages", rows)


def metrics_table(judge: JudgeResult) -> Table:
    """One row per perturbation and metric: p, means before and after, how many items fell."""
    rows: list[Row] = []
    metrics = judge.rated.metrics
    for one, perturbed in zip(judge.found, judge.informative[1:], strict=True):
        for m, metric in enumerate(metrics):
            before, after = judge.informative[0, :, m], perturbed[:, m]
            change = tidy(after - before)
            known = ~np.isnan(change)
            rows.append(
                {
                    "perturbation": one.perturbation.name,
                    "metric": metric,
                    "weight": 1 / len(metrics) if one.weights is None else one.weights[m],
                    "mean_original": float(before[known].mean()) if known.any() else math.nan,
                    "mean_perturbed": float(after[known].mean()) if known.any() else math.nan,
                    "fell": int((change[known] < 0).sum()),
                    "alike": int((change[known] == 0).sum()),
                    "rose": int((change[known] > 0).sum()),
                    "n": int(known.sum()),
                    "ranked": int(one.ranked[m]),
                    "unscored": int((~known).sum()),
                    "p": float(one.score.p[m]),
                    "p_scipy": scipy_p(before - after),
                }
            )
    return table("metrics", rows)


def excluded_table(degraded: Degraded) -> Table:
    """Every text that is not what its perturbation claims, and why."""
    rows: list[Row] = [
        {"perturbation": name, "item": item, "reason": reason}
        for name, items in degraded.failed.items()
        for item, reason in items.items()
    ]
    return table("excluded", rows)


def steps_table(rated: RatedVariants) -> Table:
    """The steps that the evaluation LM wrote for metrics without any."""
    rows: list[Row] = [
        {"metric": metric, "number": number, "step": step}
        for metric, number, step in noted_steps(rated.measured.attrs)
    ]
    return table("steps", rows)
