"""Tables and notes of the discernment study: arrays in, rows of plain numbers and sentences out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from judgelab.core.result import Row, Table
from judgelab.core.scores import Scores
from judgelab.engine.context import Context
from judgelab.mechanism.rating_steps import noted_steps
from judgelab.stats.discernment.score import UNIT, ceilings
from judgelab.stats.discernment.wilcoxon import ZeroMethod, scipy_p, tidy
from judgelab.stats.intervals.arrays import Floats
from judgelab.study.common.tables import columns
from judgelab.study.discernment.expert_weights import ExpertWeights
from judgelab.study.discernment.perturbation_result import MOST, Average, PerturbationResult
from judgelab.study.discernment.perturbations import Degraded

if TYPE_CHECKING:
    from judgelab.study.discernment.study import Discernment

BINS = 16  # of a histogram
INTERVAL = ("value", "low", "high", "n")


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
    return Table("discernment", "Discernment of each perturbation", rows, note)


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


def steps_note(attrs: Mapping[str, object]) -> Iterator[str]:
    """Whose steps they are; nothing where the criteria give them."""
    if names := list(dict.fromkeys(metric for metric, _, _ in noted_steps(attrs))):
        yield (
            f"The steps of {', '.join(names)} were written by {attrs['steps_written_by']} (table "
            "steps): another judge writes others."
        )


def diagnostics_table(scores: Scores) -> list[Table]:
    """What the mechanism reports beside its scores."""
    rows: list[Row] = [{"diagnostic": key, "value": v} for key, v in scores.diagnostics.items()]
    title = "What the mechanism reports beside its scores"
    return [Table("diagnostics", title, rows)] if rows else []


def notes(
    context: Context,
    degraded: Degraded,
    study: Discernment,
    weights: ExpertWeights,
    metrics: Sequence[str],
    found: Sequence[PerturbationResult],
) -> tuple[str, ...]:
    """How texts were made, and whatever limits what the numbers mean."""
    made = _made_of(context, degraded, weights, metrics)
    return (*made, *_limits(degraded, study), *_tests(study, found, len(metrics)))


def _made_of(
    context: Context, degraded: Degraded, weights: ExpertWeights, metrics: Sequence[str]
) -> Iterator[str]:
    origin = degraded.panel.provenance
    yield (
        f"Data: {origin.get('dataset', 'unnamed')} ({origin.get('source') or 'as given'}), "
        f"{len(degraded.panel.items)} references x {len(degraded.suite.perturbations)} "
        f"perturbations ({degraded.suite.identity.split()[0]})."
    )
    yield f"Evaluation LM: {context.evaluation_lm.identity}."
    listed = weights.identity.split()[0]
    yield f"Metrics: {', '.join(metrics)}; weights: {listed}."
    if left := weights.unrated(metrics):
        yield f"Weights of metrics that were not rated were dropped: {', '.join(left)}."
    if weights.others:
        yield f"Survey answers for other tasks were left out: {', '.join(weights.others)}."
    if len(metrics) > 1 and (alike := weights.unlisted(degraded.suite.attacks)):
        yield f"All metrics weigh alike for {', '.join(alike)}, which {listed} does not list."
    writers: dict[str, list[str]] = {}
    for name, said in degraded.made.items():
        if "attack_written_by" in said:
            writers.setdefault(str(said["attack_written_by"]), []).append(name)
        if unwritten := said.get("attack_unwritten"):
            yield f"Texts that could not be written are unscored ({name}): {unwritten}."
    for writer, names in writers.items():
        yield f"Perturbations {', '.join(names)} are written by {writer}."
        if writer == f"lm ({context.evaluation_lm.identity})":
            yield "The judge wrote them itself, and may recognise its own style."


def _limits(degraded: Degraded, study: Discernment) -> Iterator[str]:
    without = degraded.panel.provenance.get("items_without_reference")
    if without:
        yield f"{without} items have no reference and were left out."
    left = [f"{name} {len(ids)}" for name, ids in degraded.failed.items() if ids]
    if left:
        yield (
            "Texts that a perturbation did not change as it claims were left out: "
            f"{', '.join(left)} (table excluded)."
        )
    if study.combine == "printed":
        yield (
            "study.combine=printed is no mean of p values: it adds ln M / ln 20 to D without "
            "weights, and judges that rate at random pass 1 far more often than in 5 %."
        )


def _tests(study: Discernment, found: Sequence[PerturbationResult], metrics: int) -> Iterator[str]:
    """How many tests there are, and how far D can go."""
    made = [one for one in found if one.seen is not None]
    if len(made) > 1:
        rate = f"{len(made) * 0.05:.2g}"
        yield f"{len(made)} tests at 5 %: a judge that rates at random sees {rate} of them."
    items = max((int(one.scored.max()) for one in made), default=0)
    if items:
        alike, own = ceilings(items, study.method)
        rest = "" if alike - own < 0.05 else f" ({own:.1f} where no two fall by the same amount)"
        more = math.log(metrics) / UNIT if study.combine == "printed" else 0.0
        which = "D with weights" if more else "D"
        above = f", and D without them {more:.2f} more" if more else ""
        yield (
            f"{which} is at most {alike:.1f} on {items} items{rest}{above}: compare judges on "
            "equally many."
        )
    if study.calibrate and study.replicates > MOST:
        yield (
            f"Thresholds of averages and minima come from {MOST} shuffled judges, those of single "
            f"perturbations from {study.replicates}."
        )
