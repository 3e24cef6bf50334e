"""How finely does a judge discern degraded texts? (DHP paper)"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from judgelab.core.bounds import Count
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.core.estimator import LM, mixed
from judgelab.core.lm import Capability, EvaluationLM
from judgelab.core.result import PageSection, Result, Value
from judgelab.core.step import By
from judgelab.engine.context import Context
from judgelab.engine.estimating import estimators
from judgelab.engine.provenance import origin_of
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import BY_LOGPROB, Mechanism
from judgelab.report.comparison import Comparison
from judgelab.report.jobs import SweepJob
from judgelab.stats.discernment.score import Combine, How
from judgelab.stats.discernment.wilcoxon import Method
from judgelab.study.common.judges import NamedJudge, asks_nobody, asks_of, named, spent
from judgelab.study.common.panels import write_records, write_replies
from judgelab.study.common.tables import about, entries
from judgelab.study.discernment import tables
from judgelab.study.discernment.compare import HEADLINES, compare
from judgelab.study.discernment.comparison import JudgeComparison
from judgelab.study.discernment.expert_weights import ExpertWeights, load_weights
from judgelab.study.discernment.figures import DRAWINGS
from judgelab.study.discernment.perturbations import Degraded, degrade, load_suite, originals
from judgelab.study.discernment.rated import RatedVariants, refuse_unfit, write_ratings
from judgelab.study.discernment.results import JudgeResult
from judgelab.study.discernment.words import (
    answer_of_one,
    answer_of_several,
    notes_of_one,
    notes_of_several,
)

OF_ONE = ("mechanism", "evaluation_lm")
"""Of a summary: what each of several judges has of its own."""


@dataclass(frozen=True)
class Discernment(Study):
    """References are perturbed, rated before and after, and tested: D = log_.05 p.

    Args:
        perturbations: a name of conf/perturbation or a YAML file; null: the dataset's, or that
            of its task.
        only: some of its perturbations, by name; null: all.
        by: what writes those that an LM can write (lm, rules); null: as the suite says (rules).
        weights: a name of conf/expert_weights, a YAML, or a CSV of survey answers.
        combine: ``harmonic`` mean of the metrics' p values, or as ``printed`` in the paper.
        method: null distribution: auto (exact up to 100 ranked pairs), or normal, as in the paper.
        replicates: label-shuffled judges, whose D is the threshold; at most 1000 for averages
            and minima.
        judges: name -> evaluation_lm, mechanism and price, each as far as it is not the run's; or
            an LM alone; or a file or list of names of options (``judgelab.config.judges``). They
            rate the same texts and are compared in pairs. A judge that compares texts cannot
            rate one alone: its LM is asked by the run's mechanism. Without any, the run's mechanism
            and evaluation LM are the judge.
        prices: price list of models behind an endpoint; null: conf/prices.yaml.
    """

    perturbations: str | None = None
    only: Sequence[str] | None = None
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "judges", named(self.judges))

    def with_lms(self, use: Callable[[str, EvaluationLM], EvaluationLM]) -> Discernment:
        """See Study."""
        judges: dict[str, NamedJudge] = self.judges
        asked = {name: one.with_lm(partial(use, f"judges.{name}")) for name, one in judges.items()}
        return replace(self, judges=asked)

    def asks(
        self, mechanism: Mechanism, lm: EvaluationLM
    ) -> Mapping[str, tuple[Mechanism, EvaluationLM]]:
        """See Study.

        Raises:
            CapabilityError: who only chats would be asked for log-probabilities.
        """
        asked = asks_of(self._raters, mechanism, lm) or {"evaluation_lm": (mechanism, lm)}
        for place, (by, one) in asked.items():
            if by.requires == BY_LOGPROB and one.capabilities == {Capability.CHAT}:
                entry = " in its entry, or for all" if self.judges else ""
                raise CapabilityError(
                    f"{place} only chats, and mechanism={by.name} needs log-probabilities: choose "
                    f"mechanism=rating{entry}."
                )
        return asked

    @property
    def _raters(self) -> dict[str, NamedJudge]:
        """The judges; those that compare texts are asked by the run's mechanism."""
        judges: dict[str, NamedJudge] = self.judges
        return {name: _rater(one) for name, one in judges.items()}

    def _asked(self, context: Context) -> dict[str, Context]:
        """Judge -> the context in which it rates; none without judges of the study's own."""
        return {
            name: replace(one.within(context), writer_lm=context.writer)
            for name, one in self._raters.items()
        }

    def ask(self, context: Context) -> None:
        """See Study."""
        degraded, _ = self._degraded(context)
        for name, own in (self._asked(context) or {"": context}).items():
            if name:
                context.tell(name, 0)
            own.measure(degraded.read_in(own).panel)

    def run(self, context: Context) -> Result:
        """Perturb, rate, test; of several judges, compare.

        Raises:
            ConfigError: an attack was chosen beside the perturbations, a mechanism does not
                score texts by themselves, or settings do not fit.
            CapabilityError: perturbations are to be written by an LM that cannot write.
            DataError: no item has a reference.
        """
        degraded, weights = self._degraded(context)
        if self.judges:
            return self._compared(context, degraded, weights)
        rated = RatedVariants.asked(context, degraded)
        panel, name = rated.degraded.panel, context.mechanism.name
        write_records(context, panel, rated.measured, rated.scores)
        write_replies(context, panel, {name: rated.log})
        judge = self._judged(rated, weights)
        made = tables.of_judge(judge, weights.named)
        origin = {**self._made(degraded, weights), **rated.measured.attrs}
        return Result(
            summary=self._summary(context, judge) | {"weighting": weights.named},
            primary="discernment/average_ew",
            headlines=HEADLINES,
            tables=made,
            figures=["discernment_bars"],
            answer=answer_of_one(judge),
            notes=notes_of_one(judge, self, weights),
            provenance={"clean": origin_of(panel, origin)},
            estimators=estimators(rated.scores),
        )

    def _compared(self, context: Context, degraded: Degraded, weights: ExpertWeights) -> Result:
        """The result of several judges, which rate the same texts."""
        rated = {}
        for name, own in self._asked(context).items():
            context.tell(name, 0)
            rated[name] = RatedVariants.asked(own, degraded)
        write_ratings(context, degraded.panel, rated)
        judged = {name: self._judged(one, weights) for name, one in rated.items()}
        found = JudgeComparison.of(judged, self._how)
        judges: dict[str, NamedJudge] = self.judges
        costs = {
            name: spent(one.log, one.context.evaluation_lm, judges[name].price, self.prices)
            for name, one in rated.items()
        }
        made = found.tables(weights.named, costs)
        asked = {name: dict(one.measured.attrs) for name, one in rated.items()}
        origin = {**self._made(degraded, weights), "judges": asked}
        said = about(context, degraded.panel, "discernment") | self._settings(degraded)
        names = [one.name for one in made]
        by = estimators(*(one.scores for one in rated.values()))
        return Result(
            summary={k: v for k, v in said.items() if k not in OF_ONE} | found.summary,
            primary="best_discernment",
            headlines=HEADLINES,
            tables=made,
            figures=["discernment_of_judges"],
            answer=answer_of_several(found),
            notes=[
                *notes_of_several(found.judges, self, weights),
                *mixed(by, LM),
                *self._by_the_run(context),
            ],
            provenance={"clean": origin_of(degraded.panel, origin)},
            estimators=by,
            sections=[
                PageSection("Who judged what?", ["asked", *(n for n in names if n == "excluded")]),
                PageSection("Each judge by itself", [one.name for one in made if one.by]),
            ],
        )

    def _by_the_run(self, context: Context) -> list[str]:
        """A sentence on the judges that are not asked by their own mechanism."""
        judges: dict[str, NamedJudge] = self.judges
        moved = {
            name: one.mechanism.name
            for name, one in judges.items()
            if one.mechanism is not None and self._raters[name].mechanism is None
        }
        return [
            f"{name} compares texts ({own}), and was asked to rate each by itself "
            f"({context.mechanism.name})."
            for name, own in moved.items()
        ]

    @staticmethod
    def _made(degraded: Degraded, weights: ExpertWeights) -> dict[str, object]:
        made = {"perturbations": degraded.suite.identity, "perturbed": degraded.made}
        return {**made, "expert_weights": weights.identity}

    def _judged(self, rated: RatedVariants, weights: ExpertWeights) -> JudgeResult:
        """What the ratings of a judge say of it."""
        return JudgeResult.of(rated, weights, self._how, self.replicates)

    @property
    def _how(self) -> How:
        return How(self.combine, self.method)

    def _degraded(self, context: Context) -> tuple[Degraded, ExpertWeights]:
        """What is to be rated, and weights; all that can be refused is, before an LM is asked."""
        base = originals(context)
        dataset = str(base.provenance.get("dataset", ""))
        suite = load_suite(self.perturbations, dataset, base.task, self.only, self.by)
        weights = load_weights(self.weights, base.task)
        weights.unlisted(suite.attacks)
        for name, own in (self._asked(context) or {"": context}).items():
            try:
                refuse_unfit(own, base)
            except ConfigError as cause:
                raise ConfigError(
                    f"study.judges.{name}: {cause}" if name else str(cause)
                ) from cause
        return degrade(context, base, suite), weights

    def _settings(self, degraded: Degraded) -> dict[str, Value]:
        return {
            "perturbations": degraded.suite.identity,
            "weights": self.weights,
            "combine": self.combine,
            "method": self.method,
            "items": len(degraded.panel.items),
        }

    def _summary(self, context: Context, judge: JudgeResult) -> dict[str, Value]:
        degraded = judge.rated.degraded
        summary = about(context, degraded.panel, "discernment") | self._settings(degraded)
        summary |= {"not_seen": ", ".join(judge.unseen), "not_seen_count": len(judge.unseen)}
        for name, (estimate, threshold) in judge.over.items():
            key = f"discernment/{name}"
            summary |= entries(key, estimate, "low", "high", "n", "unscored")
            summary[f"{key}_threshold"] = threshold
        summary |= {f"d_ew/{one.perturbation.name}": one.score.d_ew for one in judge.found}
        summary["clean/unscored_texts"] = judge.unscored_texts
        return summary


def _rater(judge: NamedJudge) -> NamedJudge:
    """The judge, asked by the run's mechanism where its own asks an LM to compare texts."""
    own = judge.mechanism
    if own is None or own.subject == "text" or asks_nobody(own):
        return judge
    return replace(judge, mechanism=None)
