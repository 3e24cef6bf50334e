"""What a discernment run says: facts for ``answer.md.j2`` and ``notes.md.j2``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from judgelab.mechanism.rating import noted_steps
from judgelab.stats.discernment.score import UNIT, ceilings
from judgelab.study.common.judges import asks_nobody
from judgelab.study.common.templates import paragraphs, sentences
from judgelab.study.discernment.expert_weights import ExpertWeights
from judgelab.study.discernment.results import MOST, TOO_FEW, JudgeResult

if TYPE_CHECKING:
    from judgelab.study.discernment.comparison import JudgeComparison
    from judgelab.study.discernment.study import Discernment

SAID = 4  # judges of whom an answer says what they alone do not see


def answer_of_one(judge: JudgeResult, name: str = "") -> list[tuple[str, str]]:
    """(heading, sentences): which perturbations this judge does not see."""
    mechanism, named = judge.rated.context.mechanism.name, judge.answers
    few = [one for one in judge.found if one.changed and not one.counts]
    one = {
        "by": f"{name}, {mechanism}" if name else mechanism,
        "yes": named["yes"],
        "no": named["no"],
        "small": named[TOO_FEW],
        "unscored": named["unscored"],
        "rated": max((int(one.scored.max()) for one in judge.found if one.small), default=0),
        "few": [f"{x.perturbation.name} ({x.changed} of {x.items} texts)" for x in few],
        "enough": any(named.values()),
        "idle": [one.perturbation.name for one in judge.found if not one.changed],
    }
    return paragraphs(__package__, "answer.md.j2", one=one)


def answer_of_several(compared: JudgeComparison) -> list[tuple[str, str]]:
    """(heading, sentences): who discerns most and how surely, and what each does not see."""
    (best, first), *rest = compared.judges.items()
    if not rest:
        return answer_of_one(first, best)
    names, (found, bar) = [name for name, _ in rest], first.average
    unknown = [name for name, one in rest if math.isnan(one.average[0].value)]
    ahead, behind = compared.ahead(best), compared.behind(best)
    known = {n: one.answers for n, one in compared.judges.items()}
    known = {n: one for n, one in known.items() if one["yes"] or one["no"]}
    nobody: list[str] = []
    if known:
        everywhere = set.intersection(*(set(one["no"]) for one in known.values()))
        nobody = [name for name in next(iter(known.values()))["no"] if name in everywhere]
    others = [
        (name, own)
        for name, one in list(known.items())[:SAID]
        if (own := [each for each in one["no"] if each not in nobody])
    ]
    lost = {name: one.unscored_texts for name, one in compared.judges.items()}
    return paragraphs(
        __package__,
        "answer.md.j2",
        one=None,
        best=best,
        value=found.value,
        low=found.low,
        high=found.high,
        bar=1.0 if math.isnan(bar) else bar,
        items=max((x.items for x in first.found), default=0),
        small=bool(first.answers[TOO_FEW]) and not known,
        unknown=unknown,
        ahead=ahead,
        behind=behind,
        open=[name for name in names if name not in (*behind, *unknown, *ahead)],
        lost=[f"{name} ({n:,})" for name, n in lost.items() if n],
        all_known=len(known) == len(compared.judges),
        nobody=nobody,
        others=others,
        clear=[name for name, one in known.items() if not one["no"]],
    )


def notes_of_one(judge: JudgeResult, study: Discernment, weights: ExpertWeights) -> list[str]:
    """How texts were made, and whatever limits what the numbers mean."""
    rated, metrics = judge.rated, judge.rated.metrics
    context, degraded, origin = rated.context, rated.degraded, rated.degraded.panel.provenance
    tested = [one for one in judge.found if one.seen is not None]
    scored = max((int(one.scored.max()) for one in tested), default=0)
    alike, own = ceilings(scored, study.method) if scored else (0.0, 0.0)
    writers: dict[str, list[str]] = {}
    for name, said in degraded.made.items():
        if "attack_written_by" in said:
            writers.setdefault(str(said["attack_written_by"]), []).append(name)
    unwritten = {name: said.get("attack_unwritten") for name, said in degraded.made.items()}
    attrs = rated.measured.attrs
    return sentences(
        __package__,
        "notes.md.j2",
        dataset=origin.get("dataset", "unnamed"),
        source=origin.get("source") or "as given",
        items=len(degraded.panel.items),
        perturbations=len(degraded.suite.perturbations),
        suite=degraded.suite.identity.split()[0],
        lm="" if asks_nobody(context.mechanism) else context.evaluation_lm.identity,
        identity=context.evaluation_lm.identity,
        metrics=metrics,
        weights=weights.file,
        unrated=weights.unrated(metrics),
        other_tasks=weights.others,
        unlisted=weights.unlisted(degraded.suite.attacks) if len(metrics) > 1 else [],
        unwritten={name: why for name, why in unwritten.items() if why},
        writers=writers,
        without_reference=origin.get("items_without_reference"),
        excluded=[f"{name} {len(ids)}" for name, ids in degraded.failed.items() if ids],
        printed=study.combine == "printed",
        tests=len(tested),
        scored=scored,
        alike=alike,
        own=own,
        more=math.log(len(metrics)) / UNIT if study.combine == "printed" else 0.0,
        shuffled=study.replicates if study.replicates > MOST else 0,
        most=MOST,
        steps=list(dict.fromkeys(metric for metric, _, _ in noted_steps(attrs))),
        steps_by=attrs.get("steps_written_by"),
    )


def notes_of_several(
    judges: Mapping[str, JudgeResult], study: Discernment, weights: ExpertWeights
) -> Sequence[str]:
    """What holds of all judges is said once, the rest with the judge's name."""
    each = {name: notes_of_one(one, study, weights) for name, one in judges.items()}
    (first, *_), others = each.values(), each.values()
    common = [said for said in first if all(said in other for other in others)]
    return [
        *common,
        *(f"{name}: {one}" for name, said in each.items() for one in said if one not in common),
    ]
