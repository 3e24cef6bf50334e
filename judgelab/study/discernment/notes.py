"""The sentences a reader of a discernment result must see."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from judgelab.engine.context import Context
from judgelab.engine.provenance import FEW_ITEMS
from judgelab.stats.discernment.score import UNIT, ceilings
from judgelab.study.discernment.expert_weights import ExpertWeights
from judgelab.study.discernment.perturbation_result import MOST, Finding

if TYPE_CHECKING:
    from judgelab.study.discernment.degraded import Degraded
    from judgelab.study.discernment.study import Discernment


def notes(
    context: Context,
    degraded: Degraded,
    study: Discernment,
    weights: ExpertWeights,
    metrics: Sequence[str],
    found: Sequence[Finding],
    sentence: str,
) -> tuple[str, ...]:
    """The verdict, how texts were made, and whatever limits what the numbers mean."""
    made = _made_of(context, degraded, weights, metrics)
    return (sentence, *made, *_limits(degraded, study), *_tests(study, found, len(metrics)))


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
    yield f"Metrics: {', '.join(metrics)}; weights: {weights.identity.split()[0]}."
    if left := weights.unrated(metrics):
        yield f"Weights of metrics that were not rated were dropped: {', '.join(left)}."
    if weights.others:
        yield f"Survey answers for other tasks were left out: {', '.join(weights.others)}."
    if len(metrics) > 1 and (alike := weights.unlisted(degraded.suite.attacks)):
        listed = weights.identity.split()[0]
        yield f"All metrics weigh alike for {', '.join(alike)}, which {listed} does not list."
    writers: dict[str, list[str]] = {}
    for name, said in degraded.made.items():
        if "attack_written_by" in said:
            writers.setdefault(str(said["attack_written_by"]), []).append(name)
        if said.get("attack_unwritten"):
            yield f"Texts that could not be written are unscored ({name}): " + (
                f"{said['attack_unwritten']}."
            )
    for writer, names in writers.items():
        yield f"Perturbations {', '.join(names)} are written by {writer}."
        if writer == f"lm ({context.evaluation_lm.identity})":
            yield "The judge wrote them itself, and may recognise its own hand."


def _limits(degraded: Degraded, study: Discernment) -> Iterator[str]:
    items = len(degraded.panel.items)
    if items < FEW_ITEMS:
        yield f"Only {items} items: bootstrap intervals are too narrow below {FEW_ITEMS}."
    without = degraded.panel.provenance.get("items_without_reference")
    if without:
        yield f"{without} items have no reference and were left out."
    left = {name: len(ids) for name, ids in degraded.unchanged.items() if ids}
    if left:
        said = ", ".join(f"{name} {count}" for name, count in left.items())
        yield f"Texts that a perturbation left unchanged: {said} (table unchanged)."
    if study.combine == "printed":
        yield (
            "study.combine=printed is no mean of p values: it adds ln M / ln 20 to D without "
            "weights, and judges that rate at random pass 1 far more often than in 5 %."
        )


def _tests(study: Discernment, found: Sequence[Finding], metrics: int) -> Iterator[str]:
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
        which = "D with expert weights" if more else "D"
        above = f", and D without them {more:.2f} more" if more else ""
        yield (
            f"{which} is at most {alike:.1f} on {items} items{rest}{above}: compare judges on "
            "equally many."
        )
    if study.calibrate and study.replicates > MOST:
        yield (
            f"Thresholds of averages and minima rest on {MOST} shuffled judges, those of single "
            f"perturbations on {study.replicates}."
        )
