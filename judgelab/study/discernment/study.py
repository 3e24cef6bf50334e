"""How finely does a judge discern degraded texts? (DHP paper)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from pydantic import Field

from judgelab.config import WRITER
from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError
from judgelab.core.estimator import LM, mixed
from judgelab.core.lm import EvaluationLM
from judgelab.core.result import PageSection, Result, Table, Value
from judgelab.core.step import By
from judgelab.engine.context import Context, estimators
from judgelab.engine.provenance import origin_of
from judgelab.mechanism.protocol import Mechanism
from judgelab.report.jobs import Comparison, SweepJob
from judgelab.stats.discernment.score import Combine, How
from judgelab.stats.discernment.wilcoxon import Method
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.judges import JudgesStudy, NamedJudge, asks_nobody, asks_of
from judgelab.study.common.tables import about, entries
from judgelab.study.discernment.figures import DRAWINGS, HEADLINES, compare
from judgelab.study.discernment.page import answer_of, comparison_tables, notes_of, tables_of
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
    JudgeResult,
    Ranked,
    RatedVariants,
    compare_judges,
    write_ratings,
)

OF_ONE = ("mechanism", "evaluation_lm")
"""Of a summary: what each of several judges has of its own."""


@dataclass(frozen=True)
class Discernment(JudgesStudy):
    """References are perturbed, rated before and after, and tested: D = log_.05 p.

    A judge that compares texts cannot rate one alone: its LM is asked by the run's mechanism.
    Without judges, the run's mechanism and evaluation LM are the judge.
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

    @classmethod
    def compare(cls, runs: Sequence[SweepJob]) -> Sequence[Comparison]:
        """See Study."""
        return compare(runs)

    def asks(
        self, mechanism: Mechanism, lm: EvaluationLM
    ) -> Mapping[str, tuple[Mechanism, EvaluationLM]]:
        """See Study."""
        return asks_of(self._raters, mechanism, lm) or {"evaluation_lm": (mechanism, lm)}

    @property
    def _raters(self) -> dict[str, NamedJudge]:
        """The judges; the run's mechanism asks those whose own has an LM compare texts."""
        judges: dict[str, NamedJudge] = self.judges
        return {
            name: one
            if (own := one.mechanism) is None or own.subject == "text" or asks_nobody(own)
            else replace(one, mechanism=None)
            for name, one in judges.items()
        }

    def _asked(self, context: Context) -> dict[str, Context]:
        """Judge -> the context in which it rates; without judges the run's, which has no name."""
        writers = {WRITER: context.writer(), **context.writers}
        asked = {
            name: replace(one.within(context), writers=writers)
            for name, one in self._raters.items()
        }
        return asked or {"": context}

    def ask(self, context: Context) -> None:
        """See Study."""
        degraded, _ = self._degraded(context)
        for own in self._asked(context).values():
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
        rated: dict[str, RatedVariants] = {}
        for name, own in self._asked(context).items():
            if name:
                context.tell(name, 0)
            rated[name] = RatedVariants.asked(own, degraded)
        write_ratings(context, degraded.panel, rated)
        how = How(self.combine, self.method)
        judged = {n: JudgeResult.of(r, weights, how, self.replicates) for n, r in rated.items()}
        ranked, pairs = compare_judges(judged, how)
        settings: dict[str, Value] = {
            "perturbations": degraded.suite.identity,
            "weights": self.weights,
            "combine": self.combine,
            "method": self.method,
            "items": len(degraded.panel.items),
        }
        origin: dict[str, object] = {
            "perturbations": degraded.suite.identity,
            "perturbed": degraded.made,
            "expert_weights": weights.identity,
        }
        made = Result(
            summary=about(context, degraded.panel, "discernment") | settings,
            primary="discernment/average_ew",
            headlines=HEADLINES,
            tables=tables_of(ranked, weights.named),
            figures=["discernment_bars"],
            answer=answer_of(ranked, pairs),
            notes=notes_of(ranked, self, weights),
            estimators=estimators(*(one.scores for one in rated.values())),
        )
        panel = degraded.panel
        if self.judges:
            origin["judges"] = {name: dict(one.measured.attrs) for name, one in rated.items()}
            tables = comparison_tables(ranked, pairs, self, weights.named)
            made = self._compared(made, ranked, tables, context.mechanism.name)
        else:
            panel = rated[""].degraded.panel
            origin |= rated[""].measured.attrs
            made = replace(made, summary={**made.summary, **_of_one(ranked[""], weights.named)})
        return replace(made, provenance={"clean": origin_of(panel, origin)})

    def _compared(
        self, made: Result, ranked: Ranked, tables: Sequence[Table], mechanism: str
    ) -> Result:
        """The result, with the tables, notes and summary of several judges."""
        by_the_run = [
            f"{name} compares texts ({one.mechanism.name}), and was asked to rate each by itself "
            f"({mechanism})."
            for name, one in self.judges.items()
            if one.mechanism is not None and self._raters[name].mechanism is None
        ]
        summary = {key: value for key, value in made.summary.items() if key not in OF_ONE}
        return replace(
            made,
            summary=summary | _of_several(ranked),
            primary="best_discernment",
            tables=[*tables, *made.tables],
            figures=[],
            notes=[*made.notes, *mixed(made.estimators, LM), *by_the_run],
            sections=[PageSection("Each judge by itself", [t.name for t in made.tables if t.by])],
        )

    def _degraded(self, context: Context) -> tuple[Degraded, ExpertWeights]:
        """What is to be rated, and weights; all that can be refused is, before an LM is asked."""
        base = originals(context)
        dataset = str(base.provenance.get("dataset", ""))
        suite = load_suite(self.perturbations, dataset, base.task, self.only, self.by)
        weights = load_weights(self.weights, base.task)
        weights.unlisted(suite.attacks)
        for name, own in self._asked(context).items():
            try:
                refuse_unfit(own, base)
            except ConfigError as cause:
                where = f"study.judges.{name}: " if name else ""
                raise ConfigError(f"{where}{cause}") from cause
        return degrade(context, base, suite), weights


def _of_one(judge: JudgeResult, weights: str) -> dict[str, Value]:
    unseen = judge.answers["no"]
    summary: dict[str, Value] = {"not_seen": ", ".join(unseen), "not_seen_count": len(unseen)}
    for name, average in judge.over.items():
        summary |= _average(f"discernment/{name}", average)
    summary |= {f"d_ew/{one.perturbation.name}": one.score.d_ew for one in judge.tested}
    return summary | {"clean/unscored_texts": judge.unscored_texts, "weighting": weights}


def _of_several(ranked: Ranked) -> dict[str, Value]:
    (best, first), *_ = ranked.items()
    summary: dict[str, Value] = {"judges": len(ranked), "best": best}
    summary |= _average("best_discernment", first.average)
    for name, one in ranked.items():
        summary |= _average(f"discernment/{name}", one.average)
        summary[f"not_seen/{name}"] = ", ".join(one.answers["no"])
    unscored = sum(one.unscored_texts for one in ranked.values())
    return summary | {"clean/unscored_texts": unscored}


def _average(key: str, average: tuple[Estimate, float]) -> dict[str, Value]:
    estimate, threshold = average
    beside: dict[str, Value] = {f"{key}_threshold": threshold}
    return entries(key, estimate, "low", "high", "n", "unscored") | beside
