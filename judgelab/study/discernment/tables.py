"""Tables of the discernment study: arrays in, rows of plain numbers out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from judgelab.core.result import Row, Table, Value
from judgelab.core.scores import Scores
from judgelab.mechanism.rating_steps import noted_steps
from judgelab.stats.discernment.wilcoxon import ZeroMethod, scipy_p, tidy
from judgelab.stats.intervals.arrays import Floats
from judgelab.study.common.tables import columns
from judgelab.study.discernment.perturbation_result import Average, PerturbationResult
from judgelab.study.discernment.perturbations import Degraded
from judgelab.study.discernment.rated import JudgeDiscernment

BINS = 16  # of a histogram
INTERVAL = ("value", "low", "high", "n")


def of_judge(one: JudgeDiscernment, weights: str, zero_method: ZeroMethod) -> list[Table]:
    """All tables of one judge; ``weights`` in words."""
    rated = one.rated
    return [
        results_table(one.found, one.items),
        averages_table(one.over, weights),
        metrics_table(one.found, rated.metrics, one.informative, zero_method),
        coverage_table(rated.degraded, rated.ratings),
        *excluded_table(rated.degraded),
        style_table(rated.degraded, rated.ratings),
        *steps_table(rated.measured.attrs),
        *diagnostics_table(rated.scores),
    ]


def results_table(found: Sequence[PerturbationResult], items: int) -> Table:
    """One row per perturbation: D with weights and its interval, D without, threshold, verdict."""
    rows: list[Row] = [
        {
            "perturbation": one.perturbation.name,
            "level": one.perturbation.level,
            "severity": one.perturbation.severity,
            **columns(one.estimate, *INTERVAL),
            "ranked": one.fewest(one.ranked, weighted=True),
            "unscored": items - one.estimate.n if one.changed else 0,
            "d": one.score.d,
            "d_n": one.fewest(one.scored, weighted=False),
            "d_threshold": one.threshold.d,
            "threshold": one.threshold.d_ew,
            "seen": one.seen_in_words,
        }
        for one in found
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


UNWEIGHTED = ("d", "d_n", "d_threshold")


def without_twins(rows: Sequence[Row]) -> list[Row]:
    """Rows of D without what weights make no difference to."""
    if not all("d" in row and _known(row["d"]) == _known(row["value"]) for row in rows):
        return list(rows)
    return [{k: v for k, v in row.items() if k not in UNWEIGHTED} for row in rows]


def _known(value: Value) -> Value:
    return None if value != value else value


def averages_table(over: Sequence[Average], weights: str) -> Table:
    """Level-balanced averages and minima, with and without weights."""
    rows: list[Row] = [
        {
            "statistic": average.name,
            **columns(average.estimate, *INTERVAL, "unscored"),
            "perturbations": average.perturbations,
            "threshold": average.threshold,
            "weights": weights if average.name.endswith("_ew") else "none",
        }
        for average in over
    ]
    note = (
        "average: mean over levels of the mean within each; minimum: over perturbations; ew: "
        "with the weights of the last column. threshold: what 5 % of judges reach that see "
        "nothing at all. n: items of the metric and perturbation that has the fewest."
    )
    return Table("averages", "Discernment over all perturbations", rows, note)


def metrics_table(
    found: Sequence[PerturbationResult],
    metrics: Sequence[str],
    ratings: Floats,
    zero_method: ZeroMethod,
) -> Table:
    """One row per perturbation and metric: p, means before and after, how many items fell."""
    rows: list[Row] = []
    for place, one in enumerate(found, start=1):
        for m, metric in enumerate(metrics):
            before, after = ratings[0, :, m], ratings[place, :, m]
            change = tidy(after - before)
            known = ~np.isnan(change)
            row: Row = {
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
                "p_scipy": scipy_p(before - after, zero_method),
            }
            rows.append(row)
    note = (
        "p: one-sided Wilcoxon signed-rank test over items, original above perturbed. n: items "
        "rated before and after; ranked: those of them that the test ranks. p_scipy: as "
        "scipy.stats.wilcoxon gives it, by the normal approximation where ratings tie."
    )
    return Table("metrics", "Each metric by itself", rows, note)


def coverage_table(degraded: Degraded, ratings: Floats) -> Table:
    """What was written and rated, by text variant."""
    panel = degraded.panel
    rows: list[Row] = []
    for column, agent in enumerate(panel.agents):
        made = degraded.made.get(agent.name, {})
        failed = list(degraded.failed.get(agent.name, {}).values())
        rows.append(
            {
                "variant": agent.name,
                "items": len(panel.items),
                "absent_texts": sum(row[column] is None for row in panel.texts) - len(failed),
                "excluded_texts": len(failed),
                "reasons": "; ".join(f"{why} ({n})" for why, n in Counter(failed).most_common()),
                "unrated": int(np.isnan(ratings[column]).sum()),
                "written_by": str(made.get("attack_written_by", "rules" if made else "the data")),
            }
        )
    note = "unrated counts ratings (items x metrics) that are missing; they are left out."
    return Table("coverage", "What was perturbed and rated", rows, note)


def excluded_table(degraded: Degraded) -> list[Table]:
    """Every text that is not what its perturbation claims, and why."""
    rows: list[Row] = [
        {"perturbation": name, "item": item, "reason": reason}
        for name, items in degraded.failed.items()
        for item, reason in items.items()
    ]
    note = "Such a text did not pass the check of its perturbation; it was left out, and not rated."
    return (
        [Table("excluded", "Texts that a perturbation did not change as it claims", rows, note)]
        if rows
        else []
    )


def style_table(degraded: Degraded, ratings: Floats) -> Table:
    """Histograms of the ratings of each variant, averaged over metrics (the paper's figure 6)."""
    means = ratings.mean(axis=2)
    known = means[~np.isnan(means)]
    rows: list[Row] = []
    if known.size:
        edges = np.histogram_bin_edges(known, bins=BINS).tolist()
        for agent, values in zip(degraded.panel.agents, means, strict=True):
            counts, _ = np.histogram(values[~np.isnan(values)], bins=edges)
            bins = zip(edges[:-1], edges[1:], counts.tolist(), strict=True)
            rows += [
                {"variant": agent.name, "from": low, "to": high, "items": count}
                for low, high, count in bins
            ]
    note = "Ratings averaged over metrics; bins are the same for all variants."
    return Table("response_style", "How ratings are distributed", rows, note)


def steps_table(attrs: Mapping[str, object]) -> list[Table]:
    """The steps that the evaluation LM wrote for metrics without any."""
    rows: list[Row] = [
        {"metric": metric, "number": number, "step": step}
        for metric, number, step in noted_steps(attrs)
    ]
    note = "To keep them, or to give other judges the same, copy them into the criteria file."
    return [Table("steps", "Steps that the evaluation LM wrote", rows, note)] if rows else []


def diagnostics_table(scores: Scores) -> list[Table]:
    """What the mechanism reports beside its scores."""
    rows: list[Row] = [{"diagnostic": key, "value": v} for key, v in scores.diagnostics.items()]
    title = "What the mechanism reports beside its scores"
    return [Table("diagnostics", title, rows)] if rows else []
