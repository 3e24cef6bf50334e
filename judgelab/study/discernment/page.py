"""The tables of a discernment run, and what it says: facts for the templates beside it."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from judgelab.core.result import Row, Table, flat_estimate
from judgelab.stats.discernment.score import UNIT, ceiling
from judgelab.study.common import templates
from judgelab.study.common.judges import asks_nobody, spent
from judgelab.study.common.tables import columns
from judgelab.study.common.templates import paragraphs, sentences
from judgelab.study.discernment.perturbations import ExpertWeights
from judgelab.study.discernment.results import MOST, TOO_FEW, JudgeResult, Pairs, Ranked

if TYPE_CHECKING:
    from judgelab.study.discernment.study import Discernment

ALPHA = 0.05  # of differences between judges
table = partial(templates.table, __package__)
INTERVAL = ("value", "low", "high", "n")


def tables_of(judges: Ranked, weights: str) -> list[Table]:
    """What each judge makes of the perturbations; ``weights`` in words.

    The one judge of a run has no name; several stand in a column of their own.
    """
    made: dict[str, list[Row]] = {}
    for name, one in judges.items():
        own: dict[str, list[Row]] = {
            "discernment": _perturbations(one),
            "averages": [
                {
                    "statistic": kind,
                    **columns(estimate, *INTERVAL, "unscored"),
                    "perturbations": sum(tested.counts for tested in one.tested),
                    "threshold": threshold,
                    "weights": weights if kind.endswith("_ew") else "none",
                }
                for kind, (estimate, threshold) in one.over.items()
            ],
        }
        for kind, rows in own.items():
            made.setdefault(kind, []).extend({"judge": name, **r} if name else r for r in rows)
    rows = made["discernment"]
    if all(row["value"] == (None if row["d"] != row["d"] else row["d"]) for row in rows):
        unweighted = ("d", "d_n", "d_threshold")  # the same numbers again
        made["discernment"] = [{k: v for k, v in r.items() if k not in unweighted} for r in rows]
    by = "" if "" in judges else "judge"
    tables = [replace(table(kind, rows), by=by) for kind, rows in made.items()]
    excluded: list[Row] = [
        {"perturbation": name, "item": item, "reason": reason}
        for name, items in next(iter(judges.values())).rated.degraded.failed.items()
        for item, reason in items.items()
    ]
    return [*tables, *([table("excluded", excluded)] if excluded else [])]


def _perturbations(judge: JudgeResult) -> list[Row]:
    return [
        {
            "perturbation": one.perturbation.name,
            "level": one.perturbation.level,
            **columns(one.estimate, *INTERVAL),
            "unscored": one.items - one.estimate.n if one.changed else 0,
            "d": one.score.d,
            "d_n": one.fewest(weighted=False),
            "d_threshold": one.threshold[0],
            "threshold": one.threshold[1],
            "seen": one.seen,
        }
        for one in judge.tested
    ]


def comparison_tables(
    ranked: Ranked, pairs: Pairs, study: Discernment, weights: str
) -> list[Table]:
    """Judges, pairs of them, and perturbations by judges; ``weights`` in words."""
    paired: list[Row] = [
        {
            "first": first,
            "second": second,
            "first_discernment": pair.first,
            "second_discernment": pair.second,
            **flat_estimate("difference", columns(pair.difference, "value", "low", "high")),
            **columns(pair.difference, "n", "unscored", "p"),
            "p_holm": pair.p_holm,
        }
        for (first, second), pair in pairs.items()
    ]
    made = {
        "judges": [_judge(name, one, study.prices) for name, one in ranked.items()],
        "judge_pairs": paired,
        "by_perturbation": _by_perturbation(ranked),
    }
    return [table(kind, rows, weights=weights) for kind, rows in made.items() if rows]


def _judge(name: str, judge: JudgeResult, prices: str | None) -> Row:
    (estimate, threshold), answers = judge.average, judge.answers
    mechanism, lm = judge.rated.context.mechanism, judge.rated.context.evaluation_lm
    return {
        "judge": name,
        **flat_estimate("discernment", columns(estimate, "value", "low", "high")),
        "by_chance": threshold,
        "least": judge.over["minimum_ew"][0].value,
        "sees": f"{len(answers['yes'])} of {len(answers['yes']) + len(answers['no'])}",
        **columns(estimate, "n", "unscored"),
        "asked_by": mechanism.name,
        "model": None if asks_nobody(mechanism) else lm.presentation.model,
        **spent(judge.rated.log, lm, prices),
    }


def _by_perturbation(ranked: Ranked) -> list[Row]:
    rows: list[Row] = []
    for tested in zip(*(one.tested for one in ranked.values()), strict=True):
        here, any_of = dict(zip(ranked, tested, strict=True)), tested[0]
        seen, unseen = (
            ", ".join(name for name, one in here.items() if one.seen == answer)
            for answer in ("yes", "no")
        )
        row: Row = {
            "perturbation": any_of.perturbation.name,
            "level": any_of.perturbation.level,
            "texts": any_of.changed,
            "seen_by": (seen or "none") if any_of.counts else "too few texts",
            "not_seen_by": unseen if any_of.counts else "",
        }
        rows.append({**row, **{f"D of {name}": one.score.d_ew for name, one in here.items()}})
    return rows


def answer_of(ranked: Ranked, pairs: Pairs) -> list[tuple[str, str]]:
    """(heading, sentences): of one judge which perturbations it does not see; of several who
    discerns most and how surely, and what each does not see."""
    (best, first), *rest = ranked.items()
    if not rest:
        return _answer_of_one(first, best)
    average, bar = first.average
    unknown = [name for name, judge in rest if math.isnan(judge.average[0].value)]
    # judges that surely discern less, and more, on the items of both
    behind, ahead = list[str](), list[str]()
    for (one, other), pair in pairs.items():
        if best in (one, other) and pair.p_holm < ALPHA and pair.difference.value:
            leads = (pair.difference.value > 0) == (one == best)
            (behind if leads else ahead).append(other if one == best else one)
    known = [own for judge in ranked.values() if (own := judge.answers)["yes"] or own["no"]]
    lost = {name: judge.unscored_texts for name, judge in ranked.items()}
    return paragraphs(
        __package__,
        "answer.md.j2",
        one=None,
        best=best,
        value=average.value,
        low=average.low,
        high=average.high,
        bar=1.0 if math.isnan(bar) else bar,
        items=max((one.items for one in first.tested), default=0),
        small=bool(first.answers[TOO_FEW]) and not known,
        unknown=unknown,
        ahead=ahead,
        behind=behind,
        open=[name for name, _ in rest if name not in (*behind, *unknown, *ahead)],
        lost=[f"{name} ({n:,})" for name, n in lost.items() if n],
        all_known=len(known) == len(ranked),
        nobody=[
            name
            for name in (known[0]["no"] if known else ())
            if all(name in o["no"] for o in known)
        ],
    )


def _answer_of_one(judge: JudgeResult, name: str) -> list[tuple[str, str]]:
    mechanism, named = judge.rated.context.mechanism.name, judge.answers
    few = [one for one in judge.tested if one.changed and not one.counts]
    small = [int(one.scored.max()) for one in judge.tested if one.seen == TOO_FEW]
    one = {
        "by": f"{name}, {mechanism}" if name else mechanism,
        "yes": named["yes"],
        "no": named["no"],
        "small": named[TOO_FEW],
        "unscored": named["unscored"],
        "rated": max(small, default=0),
        "few": [f"{x.perturbation.name} ({x.changed} of {x.items} texts)" for x in few],
        "enough": any(named.values()),
        "idle": [one.perturbation.name for one in judge.tested if not one.changed],
    }
    return paragraphs(__package__, "answer.md.j2", one=one)


def notes_of(judges: Ranked, study: Discernment, weights: ExpertWeights) -> list[str]:
    """What limits the numbers: what holds of all judges once, the rest with the judge's name."""
    each = {name: _notes(one, study, weights) for name, one in judges.items()}
    (first, *_), others = each.values(), each.values()
    common = [note for note in first if all(note in other for other in others)]
    own = [f"{name}: {n}" for name, notes in each.items() for n in notes if n not in common]
    return common + own


def _notes(judge: JudgeResult, study: Discernment, weights: ExpertWeights) -> list[str]:
    rated, metrics = judge.rated, judge.rated.metrics
    tested = [one for one in judge.tested if one.seen in ("yes", "no")]
    scored = max((int(one.scored.max()) for one in tested), default=0)
    writers: dict[str, list[str]] = {}
    for name, one in rated.degraded.made.items():
        if "attack_written_by" in one:
            writers.setdefault(str(one["attack_written_by"]), []).append(name)
    return sentences(
        __package__,
        "notes.md.j2",
        degraded=rated.degraded,
        origin=rated.degraded.panel.provenance,
        asks=not asks_nobody(rated.context.mechanism),
        identity=rated.context.evaluation_lm.identity,
        metrics=metrics,
        weights=weights,
        unlisted=weights.unlisted(rated.degraded.suite.attacks) if len(metrics) > 1 else [],
        writers=writers,
        printed=study.combine == "printed",
        tests=len(tested),
        scored=scored,
        ceiling=ceiling(scored, study.method) if scored else 0.0,
        more=math.log(len(metrics)) / UNIT if study.combine == "printed" else 0.0,
        replicates=study.replicates,
        most=MOST,
    )
