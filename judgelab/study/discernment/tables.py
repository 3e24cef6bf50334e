"""Tables of the discernment study: arrays in, rows of plain numbers out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from judgelab.core.result import Row, Table, Value
from judgelab.mechanism.rating_steps import noted_steps
from judgelab.stats.discernment.wilcoxon import scipy_p, tidy
from judgelab.study.common.tables import columns
from judgelab.study.discernment.perturbations import Degraded
from judgelab.study.discernment.rated import RatedVariants
from judgelab.study.discernment.results import JudgeResult

BINS = 16  # of a histogram
INTERVAL = ("value", "low", "high", "n")


def of_judge(one: JudgeResult, weights: str) -> list[Table]:
    """All tables of one judge; ``weights`` in words."""
    made = [
        results_table(one),
        averages_table(one, weights),
        metrics_table(one),
        coverage_table(one.rated),
        excluded_table(one.rated.degraded),
        style_table(one.rated),
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
    note = (
        "value: D with the weights of table averages, d: without; log_.05 of the combined "
        "one-sided p, so that nominally above 1 is p < .05. threshold (of value) and d_threshold "
        "(of d): what 5 % of judges with shuffled labels reach on these ratings; a perturbation is "
        "seen above it. "
        "n (of value) and d_n (of d): items rated before and after on the metric that has the "
        "fewest; ranked: those of them that its test ranks. "
        "The interval is over items (docs/definitions.md) and tests nothing."
    )
    return Table("discernment", "Discernment of each perturbation", without_twins(rows), note)


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
    note = (
        "average: mean over levels of the mean within each; minimum: over perturbations; ew: "
        "with the weights of the last column. threshold: what 5 % of judges reach that see "
        "nothing at all. n: items of the metric and perturbation that has the fewest."
    )
    return Table("averages", "Discernment over all perturbations", rows, note)


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
    note = (
        "p: one-sided Wilcoxon signed-rank test over items, original above perturbed. n: items "
        "rated before and after; ranked: those of them that the test ranks. p_scipy: as "
        "scipy.stats.wilcoxon gives it, by the normal approximation where ratings tie."
    )
    return Table("metrics", "Each metric by itself", rows, note)


def coverage_table(rated: RatedVariants) -> Table:
    """What was written and rated, by text variant."""
    degraded, rows = rated.degraded, list[Row]()
    for column, agent in enumerate(degraded.panel.agents):
        made = degraded.made.get(agent.name, {})
        failed = Counter(degraded.failed.get(agent.name, {}).values())
        texts = [row[column] for row in degraded.panel.texts]
        rows.append(
            {
                "variant": agent.name,
                "items": len(texts),
                "absent_texts": texts.count(None) - failed.total(),
                "excluded_texts": failed.total(),
                "reasons": "; ".join(f"{why} ({n})" for why, n in failed.most_common()),
                "unrated": int(np.isnan(rated.ratings[column]).sum()),
                "written_by": str(made.get("attack_written_by", "rules" if made else "the data")),
            }
        )
    note = "unrated counts ratings (items x metrics) that are missing; they are left out."
    return Table("coverage", "What was perturbed and rated", rows, note)


def excluded_table(degraded: Degraded) -> Table:
    """Every text that is not what its perturbation claims, and why."""
    rows: list[Row] = [
        {"perturbation": name, "item": item, "reason": reason}
        for name, items in degraded.failed.items()
        for item, reason in items.items()
    ]
    note = "Such a text did not pass the check of its perturbation; it was left out, and not rated."
    return Table("excluded", "Texts that a perturbation did not change as it claims", rows, note)


def style_table(rated: RatedVariants) -> Table:
    """Histograms of the ratings of each variant, averaged over metrics (the paper's figure 6)."""
    means = rated.ratings.mean(axis=2)
    known, rows = means[~np.isnan(means)], list[Row]()
    edges = np.histogram_bin_edges(known, bins=BINS).tolist() if known.size else []
    for agent, values in zip(rated.degraded.panel.agents, means, strict=True):
        if edges:
            counts = np.histogram(values[~np.isnan(values)], bins=edges)[0].tolist()
            bins = zip(edges[:-1], edges[1:], counts, strict=True)
            head = {"variant": agent.name}
            rows += [{**head, "from": low, "to": high, "items": n} for low, high, n in bins]
    note = "Ratings averaged over metrics; bins are the same for all variants."
    return Table("response_style", "How ratings are distributed", rows, note)


def steps_table(rated: RatedVariants) -> Table:
    """The steps that the evaluation LM wrote for metrics without any."""
    rows: list[Row] = [
        {"metric": metric, "number": number, "step": step}
        for metric, number, step in noted_steps(rated.measured.attrs)
    ]
    note = "To keep them, or to give other judges the same, copy them into the criteria file."
    return Table("steps", "Steps that the evaluation LM wrote", rows, note)
