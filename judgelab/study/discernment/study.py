"""How finely does a judge discern degraded texts? (DHP paper)"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar

from pydantic import Field

from judgelab.config import WRITER
from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError
from judgelab.core.estimator import LM, mixtures
from judgelab.core.result import PageSection, Result, Row, Table, Value, flat_estimate
from judgelab.core.step import By
from judgelab.engine.context import Context, estimators
from judgelab.engine.provenance import origin_of
from judgelab.stats.discernment.score import UNIT, Combine, How, ceiling
from judgelab.stats.discernment.wilcoxon import Method
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common import templates
from judgelab.study.common.judges import JudgesStudy, asks_nobody, cost_columns
from judgelab.study.common.tables import about, columns, entries
from judgelab.study.discernment.figures import DRAWINGS, HEADLINES, compare
from judgelab.study.discernment.perturbations import (
    Degraded,
    ExpertWeights,
    degrade,
    load_suite,
    load_weights,
    originals,
    refuse_unfit,
)
from judgelab.study.discernment.results import (
    MOST,
    TOO_FEW,
    JudgeRanking,
    JudgeResult,
    Pairs,
    RatedVariants,
    compare_judges,
    write_ratings,
)

ALPHA = 0.05  # of differences between judges
table = partial(templates.table, __package__)
INTERVAL = ("value", "low", "high", "n", "unscored")


@dataclass(frozen=True)
class Discernment(JudgesStudy):
    """References are perturbed, rated before and after, and tested: D = log_.05 p.

    Judges rate each text by itself: one that compares texts is refused. Without judges, the run's
    mechanism and evaluation LM are the judge.
    """

    perturbations: str | None = None
    only: Annotated[Sequence[str], Field(min_length=1)] | None = None
    by: By | None = None
    weights: str = "uniform"
    combine: Combine = "harmonic"
    method: Method = "auto"
    replicates: Count = 2000
    judges: Any = None
    prices: str | None = None
    drawings: ClassVar[Mapping[str, Any]] = DRAWINGS
    compare = staticmethod(compare)

    @property
    def how(self) -> How:
        """How a score is made."""
        return How(self.combine, self.method)

    def _contexts(self, context: Context) -> dict[str, Context]:
        """Judge -> the context in which it rates; without judges the run's, which has no name."""
        writers = {WRITER: context.writer(), **context.writers}
        return self.contexts(replace(context, writers=writers)) or {"": context}

    def ask(self, context: Context) -> None:
        """See Study."""
        degraded, _ = self._degraded(context)
        for own in self._contexts(context).values():
            own.measure(own.read(degraded.panel))

    def run(self, context: Context) -> Result:
        """Perturb, rate, test; of several judges, compare.

        Raises:
            ConfigError: an attack was chosen beside the perturbations, a mechanism does not
                score texts by themselves, or settings do not fit.
            CapabilityError: perturbations are to be written by an LM that cannot write.
            DataError: no item has a reference.
        """
        degraded, weights = self._degraded(context)
        variants: dict[str, RatedVariants] = {}
        for name, own in self._contexts(context).items():
            if name:
                context.tell(name, 0)
            variants[name] = RatedVariants.ask(own, degraded)
        write_ratings(context, degraded.panel, variants)
        how, replicates = self.how, self.replicates
        results = {n: JudgeResult.of(r, weights, how, replicates) for n, r in variants.items()}
        ranking, pairs = compare_judges(results, how)
        by = estimators(*(one.scores for one in variants.values()))
        summary = about(context, degraded.panel, "discernment") | {
            "perturbations": degraded.suite.identity,
            "weights": self.weights,
            "combine": self.combine,
            "method": self.method,
            "items": len(degraded.panel.items),
        }
        origin: dict[str, object] = {
            "perturbations": degraded.suite.identity,
            "perturbed": degraded.facts,
            "expert_weights": weights.identity,
        }
        tables = _tables_of(ranking, weights.in_words)
        notes = self._notes(ranking, weights)
        panel, sections = degraded.panel, list[PageSection]()
        if self.judges:  # what each has of its own is not the run's
            summary = {k: v for k, v in summary.items() if k not in ("mechanism", "evaluation_lm")}
            origin["judges"] = {n: dict(one.measurements.attrs) for n, one in variants.items()}
            of_each = [one.name for one in tables if one.by]
            sections = [PageSection("Each judge by itself", of_each)]
            tables = _comparison_tables(ranking, pairs, self.prices, weights.in_words) + tables
            notes += mixtures(by, LM)
        else:
            panel = variants[""].degraded.panel
            origin |= variants[""].measurements.attrs
        return Result(
            summary=summary | _summary_of(ranking, weights.in_words),
            primary="best_discernment" if self.judges else "discernment/average_ew",
            headlines=HEADLINES,
            tables=tables,
            figures=[] if self.judges else ["discernment_bars"],
            answer=_answer_of(ranking, pairs),
            notes=notes,
            estimators=by,
            sections=sections,
            provenance={"clean": origin_of(panel, origin)},
        )

    def _degraded(self, context: Context) -> tuple[Degraded, ExpertWeights]:
        """What is to be rated, and weights; all that can be refused is, before an LM is asked."""
        base = originals(context)
        dataset = str(base.provenance.get("dataset", ""))
        suite = load_suite(self.perturbations, dataset, base.task, self.only, self.by)
        weights = load_weights(self.weights, base.task)
        weights.unlisted(suite.attacks)
        for name, own in self._contexts(context).items():
            try:
                refuse_unfit(own, base)
            except ConfigError as cause:
                where = f"study.judges.{name}: " if name else ""
                raise ConfigError(f"{where}{cause}") from cause
        return degrade(context, base, suite), weights

    def _notes(self, judges: JudgeRanking, weights: ExpertWeights) -> list[str]:
        """What limits the numbers: what holds of all judges once, the rest with a judge's name."""
        each: dict[str, list[str]] = {}
        for name, judge in judges.items():
            metrics, writers = len(judge.variants.metrics), dict[str, list[str]]()
            for perturbation, facts in judge.variants.degraded.facts.items():
                if by := facts.get("attack_written_by"):
                    writers.setdefault(str(by), []).append(perturbation)
            each[name] = templates.sentences(
                __package__,
                "notes.md.j2",
                judge=judge,
                asks=not asks_nobody(judge.variants.context.mechanism),
                weights=weights,
                writers=writers,
                how=self.how,
                ceiling=ceiling,
                more=math.log(metrics) / UNIT if self.combine == "printed" else 0.0,
                replicates=self.replicates,
                most=MOST,
            )
        first, *_ = each.values()
        common = [note for note in first if all(note in notes for notes in each.values())]
        own = [f"{name}: {n}" for name, notes in each.items() for n in notes if n not in common]
        return common + own


def _tables_of(judges: JudgeRanking, weights: str) -> list[Table]:
    """What each judge makes of the perturbations; ``weights`` in words. The one judge of a run has
    no name; several stand in a column of their own."""
    results = [(name, one) for name, judge in judges.items() for one in judge.results]
    alike = all(one.d[0, 0] == one.d[0, 1] or one.d[0, 1] != one.d[0, 1] for _, one in results)
    rows: list[Row] = [
        {
            **({"judge": name} if name else {}),
            "perturbation": one.perturbation.name,
            "level": one.perturbation.level,
            **columns(one.estimate, *INTERVAL),
            # the same numbers again where metrics weigh alike
            **({} if alike else {"d": float(one.d[0, 0]), "d_n": one.fewest(weighted=False)}),
            **({} if alike else {"d_threshold": one.threshold[0]}),
            "threshold": one.threshold[1],
            "seen": one.answer,
        }
        for name, one in results
    ]
    averages: list[Row] = [
        {
            **({"judge": name} if name else {}),
            "statistic": kind,
            **columns(estimate, *INTERVAL),
            "perturbations": sum(one.counts for one in judge.results),
            "threshold": threshold,
            "weights": weights if kind.endswith("_ew") else "none",
        }
        for name, judge in judges.items()
        for kind, (estimate, threshold) in judge.over.items()
    ]
    excluded: list[Row] = [
        {"perturbation": name, "item": item, "reason": reason}
        for name, items in next(iter(judges.values())).variants.degraded.failed.items()
        for item, reason in items.items()
    ]
    by = "" if "" in judges else "judge"
    rows_of = {"discernment": rows, "averages": averages}
    tables = [replace(table(kind, own), by=by) for kind, own in rows_of.items()]
    return [*tables, *([table("excluded", excluded)] if excluded else [])]


def _comparison_tables(
    ranking: JudgeRanking, pairs: Pairs, prices: str | None, weights: str
) -> list[Table]:
    """Judges, pairs of them, and perturbations by judges; ``weights`` in words."""
    board: list[Row] = []
    for name, judge in ranking.items():
        (estimate, threshold), answers = judge.average, judge.answers
        mechanism, lm = judge.variants.context.mechanism, judge.variants.context.evaluation_lm
        hits, misses = len(answers["yes"]), len(answers["no"])
        row: dict[str, Value] = {"judge": name}
        row |= flat_estimate("discernment", columns(estimate, "value", "low", "high"))
        row |= {"by_chance": threshold, "least": judge.over["minimum_ew"][0].value}
        row |= {"sees": f"{hits} of {hits + misses}", **columns(estimate, "n", "unscored")}
        model = None if asks_nobody(mechanism) else lm.presentation.model
        row |= {"asked_by": mechanism.name, "model": model}
        row |= cost_columns(judge.variants.log, lm, prices)
        board.append(row)
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
    wide: list[Row] = []
    for results in zip(*(one.results for one in ranking.values()), strict=True):
        here, (any_of, *_) = dict(zip(ranking, results, strict=True)), results
        blind = ", ".join(name for name, one in here.items() if one.answer == "no") or "none"
        wide.append(
            {"perturbation": any_of.perturbation.name, "level": any_of.perturbation.level}
            | {"texts": any_of.changed, "not_seen_by": blind if any_of.counts else "too few texts"}
            | {f"D of {name}": float(one.d[0, 1]) for name, one in here.items()}
        )
    rows_of = {"judges": board, "judge_pairs": paired, "by_perturbation": wide}
    return [table(kind, rows, weights=weights) for kind, rows in rows_of.items() if rows]


def _answer_of(ranking: JudgeRanking, pairs: Pairs) -> list[tuple[str, str]]:
    """(heading, sentences): of one judge which perturbations it does not see; of several who
    discerns most and how surely, and what each does not see."""
    (best, first), *rest = ranking.items()
    if not rest:
        return templates.paragraphs(__package__, "answer.md.j2", one=first, name=best)
    average, bar = first.average
    unknown = [name for name, judge in rest if math.isnan(judge.average[0].value)]
    # judges that surely discern less, and more, on the items of both
    behind, ahead = list[str](), list[str]()
    for (one, other), pair in pairs.items():
        if best in (one, other) and pair.p_holm < ALPHA and pair.difference.value:
            leads = (pair.difference.value > 0) == (one == best)
            (behind if leads else ahead).append(other if one == best else one)
    answers = [own for judge in ranking.values() if (own := judge.answers)["yes"] or own["no"]]
    nobody = [n for own in answers[:1] for n in own["no"] if all(n in one["no"] for one in answers)]
    unrated = [f"{name} ({n:,})" for name, one in ranking.items() if (n := one.unscored_texts)]
    return templates.paragraphs(
        __package__,
        "answer.md.j2",
        one=None,
        best=best,
        average=average,
        bar=1.0 if math.isnan(bar) else bar,
        items=max((one.items for one in first.results), default=0),
        small=bool(first.answers[TOO_FEW]) and not answers,
        unknown=unknown,
        ahead=ahead,
        behind=behind,
        open=[name for name, _ in rest if name not in (*behind, *unknown, *ahead)],
        unrated=unrated,
        all_known=len(answers) == len(ranking),
        nobody=nobody,
    )


def _summary_of(ranking: JudgeRanking, weights: str) -> dict[str, Value]:
    """Of one judge D of each perturbation and over all; of several who is best, and D of each."""
    (best, first), *_ = ranking.items()
    if best:
        summary: dict[str, Value] = {"judges": len(ranking), "best": best}
        summary |= _average("best_discernment", first.average)
        for name, one in ranking.items():
            summary |= _average(f"discernment/{name}", one.average)
            summary[f"not_seen/{name}"] = ", ".join(one.answers["no"])
    else:
        unseen = first.answers["no"]
        summary = {"not_seen": ", ".join(unseen), "not_seen_count": len(unseen)}
        for name, average in first.over.items():
            summary |= _average(f"discernment/{name}", average)
        summary |= {f"d_ew/{one.perturbation.name}": float(one.d[0, 1]) for one in first.results}
        summary["weighting"] = weights
    return summary | {"clean/unscored_texts": sum(one.unscored_texts for one in ranking.values())}


def _average(key: str, average: tuple[Estimate, float]) -> dict[str, Value]:
    estimate, threshold = average
    beside: dict[str, Value] = {f"{key}_threshold": threshold}
    return entries(key, estimate, "low", "high", "n", "unscored") | beside
