"""The tables of the discernment study: arrays in, rows of plain numbers out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judgelab.core.result import Row, Table, Value
from judgelab.core.scores import Scores
from judgelab.stats.discernment.wilcoxon import tidy
from judgelab.stats.intervals.bootstrap import percentile_interval

if TYPE_CHECKING:
    from judgelab.study.discernment.degraded import Degraded
    from judgelab.study.discernment.perturbation_result import Average, Finding

Floats = NDArray[np.float64]
BINS = 16  # of a histogram


def findings_table(found: Sequence[Finding], items: int) -> Table:
    """One row per perturbation: D with weights and its interval, D without, threshold, verdict."""
    rows: list[Row] = []
    for one in found:
        low, high = percentile_interval(one.draws_ew)
        n = one.fewest(one.scored, weighted=True)
        rows.append(
            {
                "perturbation": one.perturbation.name,
                "level": one.perturbation.level,
                "severity": one.perturbation.severity,
                "value": one.d_ew,
                "low": low,
                "high": high,
                "n": n,
                "ranked": one.fewest(one.ranked, weighted=True),
                "unscored": items - n if one.changed else 0,
                "d": one.d,
                "d_n": one.fewest(one.scored, weighted=False),
                "d_threshold": one.threshold.d,
                "threshold": one.threshold.d_ew,
                "seen": seen_in_words(one),
            }
        )
    note = (
        "value: D with expert weights, d: without; log_.05 of the combined one-sided p, so that "
        "nominally above 1 is p < .05. threshold (of value) and d_threshold (of d): what 5 % of "
        "judges with shuffled labels reach on these ratings; a perturbation is seen above it. "
        "n (of value) and d_n (of d): items rated before and after on the metric that has the "
        "fewest; ranked: those of them that its test rests on. "
        "The interval resamples items and tests nothing."
    )
    return Table("discernment", "Discernment of each perturbation", rows, note)


def seen_in_words(one: Finding) -> str:
    """yes, no, or why there is no answer."""
    if not one.changed:
        return "nothing changed"
    return {None: "unscored", True: "yes", False: "no"}[one.seen]


def averages_table(over: Sequence[Average], items: int) -> Table:
    """Level-balanced averages and minima, with and without weights."""
    rows: list[Row] = [
        {
            "statistic": average.name,
            "value": average.value,
            "low": average.low,
            "high": average.high,
            "n": average.n,
            "unscored": average.unscored(items),
            "perturbations": average.perturbations,
            "threshold": average.threshold,
        }
        for average in over
    ]
    note = (
        "average: mean over levels of the mean within each; minimum: over perturbations; ew: "
        "with expert weights. threshold: what 5 % of judges reach that see nothing at all. n: "
        "items of the metric and perturbation that has the fewest."
    )
    return Table("averages", "Discernment over all perturbations", rows, note)


def metrics_table(found: Sequence[Finding], metrics: Sequence[str], ratings: Floats) -> Table:
    """One row per perturbation and metric: p, means before and after, how many items fell."""
    rows: list[Row] = []
    for place, one in enumerate(found, start=1):
        for m, metric in enumerate(metrics):
            before, after = ratings[0, :, m], ratings[place, :, m]
            change = tidy(after - before)
            known = ~np.isnan(change)
            row: dict[str, Value] = {
                "perturbation": one.perturbation.name,
                "metric": metric,
                "weight": 1 / len(metrics) if one.weights is None else one.weights[m],
                "mean_original": _mean(before[known]),
                "mean_perturbed": _mean(after[known]),
                "fell": int((change[known] < 0).sum()),
                "alike": int((change[known] == 0).sum()),
                "rose": int((change[known] > 0).sum()),
                "n": int(known.sum()),
                "ranked": int(one.ranked[m]),
                "unscored": int((~known).sum()),
                "p": float(one.p[m]),
            }
            rows.append(row)
    note = (
        "p: one-sided Wilcoxon signed-rank test over items, original above perturbed. n: items "
        "rated before and after; ranked: those of them that the test rests on."
    )
    return Table("metrics", "Each metric by itself", rows, note)


def coverage_table(degraded: Degraded, ratings: Floats) -> Table:
    """What was written and rated, by text variant."""
    panel = degraded.panel
    rows: list[Row] = []
    for column, agent in enumerate(panel.agents):
        made = degraded.made.get(agent.name, {})
        rows.append(
            {
                "variant": agent.name,
                "items": len(panel.items),
                "absent_texts": sum(row[column] is None for row in panel.texts),
                "unchanged_texts": len(degraded.unchanged.get(agent.name, [])),
                "unrated": int(np.isnan(ratings[column]).sum()),
                "written_by": str(made.get("attack_written_by", "rules" if made else "the data")),
            }
        )
    note = "unrated counts ratings (items x metrics) that are missing; they are left out."
    return Table("coverage", "What was perturbed and rated", rows, note)


def unchanged_table(degraded: Degraded) -> list[Table]:
    """Every item that a perturbation left as it was."""
    rows: list[Row] = [
        {"perturbation": name, "item": item}
        for name, items in degraded.unchanged.items()
        for item in items
    ]
    note = "Such a text is rated as its original is; it says nothing of the judge."
    return [Table("unchanged", "Texts a perturbation left unchanged", rows, note)] if rows else []


def style_table(degraded: Degraded, ratings: Floats) -> Table:
    """Histograms of the ratings of each variant, averaged over metrics (the paper's figure 6)."""
    means = ratings.mean(axis=2)
    known = means[~np.isnan(means)]
    rows: list[Row] = []
    if known.size:
        edges = np.histogram_bin_edges(known, bins=BINS)
        for agent, values in zip(degraded.panel.agents, means, strict=True):
            counts, _ = np.histogram(values[~np.isnan(values)], bins=edges)
            rows += [
                {
                    "variant": agent.name,
                    "from": float(edges[k]),
                    "to": float(edges[k + 1]),
                    "items": int(counts[k]),
                }
                for k in range(BINS)
            ]
    note = "Ratings averaged over metrics; bins are the same for all variants."
    return Table("response_style", "How ratings are distributed", rows, note)


def diagnostics_table(scores: Scores) -> list[Table]:
    """What the mechanism reports beside its scores."""
    rows: list[Row] = [
        {"diagnostic": key, "value": value} for key, value in scores.diagnostics.items()
    ]
    title = "What the mechanism reports beside its scores"
    return [Table("diagnostics", title, rows)] if rows else []


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else float("nan")
