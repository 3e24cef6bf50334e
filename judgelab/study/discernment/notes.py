"""Sentences beside the tables of discernment."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from judgelab.engine.context import Context
from judgelab.mechanism.rating_steps import noted_steps
from judgelab.stats.discernment.score import UNIT, ceilings
from judgelab.study.common.judges import asks_nobody
from judgelab.study.discernment.expert_weights import ExpertWeights
from judgelab.study.discernment.perturbation_result import MOST, PerturbationResult
from judgelab.study.discernment.perturbations import Degraded
from judgelab.study.discernment.rated import JudgeDiscernment

if TYPE_CHECKING:
    from judgelab.study.discernment.study import Discernment


def notes(judge: JudgeDiscernment, study: Discernment, weights: ExpertWeights) -> tuple[str, ...]:
    """How texts were made, and whatever limits what the numbers mean."""
    rated = judge.rated
    return (
        *_made_of(rated.context, rated.degraded, weights, rated.metrics),
        *_limits(rated.degraded, study),
        *_tests(study, judge.found, len(rated.metrics)),
        *_steps(rated.measured.attrs),
    )


def of_several(
    judges: Mapping[str, JudgeDiscernment], study: Discernment, weights: ExpertWeights
) -> tuple[str, ...]:
    """Of several judges: what holds of all is said once, the rest with the judge's name."""
    each = {name: notes(one, study, weights) for name, one in judges.items()}
    (first, *_), others = each.values(), each.values()
    common = [said for said in first if all(said in other for other in others)]
    own = (f"{name}: {one}" for name, said in each.items() for one in said if one not in common)
    return (*common, *own)


def _steps(attrs: Mapping[str, object]) -> Iterator[str]:
    """Whose steps they are; nothing where the criteria give them."""
    if names := list(dict.fromkeys(metric for metric, _, _ in noted_steps(attrs))):
        yield (
            f"The steps of {', '.join(names)} were written by {attrs['steps_written_by']} (table "
            "steps): another judge writes others."
        )


def _made_of(
    context: Context, degraded: Degraded, weights: ExpertWeights, metrics: Sequence[str]
) -> Iterator[str]:
    origin = degraded.panel.provenance
    yield (
        f"Data: {origin.get('dataset', 'unnamed')} ({origin.get('source') or 'as given'}), "
        f"{len(degraded.panel.items)} references x {len(degraded.suite.perturbations)} "
        f"perturbations ({degraded.suite.identity.split()[0]})."
    )
    if not asks_nobody(context.mechanism):
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
