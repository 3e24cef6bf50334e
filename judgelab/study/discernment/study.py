"""How finely does a judge discern degraded texts? (DHP paper)"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from judgelab.core.bounds import Count
from judgelab.core.capability import Capability
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.core.estimator import LM, mixed
from judgelab.core.lm import EvaluationLM
from judgelab.core.result import PageSection, Result, Value
from judgelab.core.step import By
from judgelab.engine.context import Context
from judgelab.engine.estimating import estimators
from judgelab.engine.provenance import origin_of
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import BY_LOGPROB, Mechanism
from judgelab.stats.discernment.score import Combine, How
from judgelab.stats.discernment.wilcoxon import COUNTED, Method, ZeroMethod
from judgelab.study.common.judges import NamedJudge, asks_nobody, asks_of, named, spent
from judgelab.study.common.panels import write_records, write_replies
from judgelab.study.common.tables import about, entries
from judgelab.study.discernment import tables
from judgelab.study.discernment.comparison import JudgeComparison
from judgelab.study.discernment.expert_weights import ExpertWeights, load_weights
from judgelab.study.discernment.notes import notes, of_several
from judgelab.study.discernment.perturbation_result import Testing, averages, verdict
from judgelab.study.discernment.perturbations import Degraded, degrade, load_suite, originals
from judgelab.study.discernment.rated import (
    JudgeDiscernment,
    RatedVariants,
    refuse_unfit,
    write_ratings,
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
        zero_method: what becomes of items rated alike: wilcox, pratt, zsplit.
        method: null distribution: auto (exact up to 100 ranked pairs), normal, exact (up to 200).
        calibrate: also compute what label-shuffled judges reach.
        replicates: of the calibration; of averages and minima at most 1000.
        bootstrap: without effect (intervals draw nothing); older configs give it.
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
    zero_method: ZeroMethod = "wilcox"
    method: Method = "auto"
    calibrate: bool = True
    replicates: Count = 2000
    bootstrap: Count = 1000
    judges: Any = None
    prices: str | None = None

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
        write_replies(context, panel, {name: rated.heard})
        judge = self._judged(rated, weights)
        made = tables.of_judge(judge, weights.named, self.zero_method)
        rows = {one.name: one.rows for one in made}
        drawn = ["response_styles"] if rows["response_style"] else []  # no rating, no histogram
        origin = {**self._made(degraded, weights), **rated.measured.attrs}
        return Result(
            summary=self._summary(context, judge) | {"weighting": weights.named},
            primary="discernment/average_ew",
            tables=made,
            figures=["discernment_radar", "discernment_bars", *drawn],
            answer=[verdict(judge.found, name, len(panel.items))],
            notes=notes(judge, self, weights),
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
        made = found.tables(weights.named, self.zero_method, self._spent(rated))
        asked = {name: dict(one.measured.attrs) for name, one in rated.items()}
        origin = {**self._made(degraded, weights), "judges": asked}
        said = about(context, degraded.panel, "discernment") | self._settings(degraded)
        names = [one.name for one in made]
        by = estimators(*(one.scores for one in rated.values()))
        return Result(
            summary={k: v for k, v in said.items() if k not in OF_ONE} | found.summary,
            primary="best_discernment",
            tables=made,
            figures=["discernment_of_judges"],
            answer=found.answer,
            notes=[
                *of_several(found.judges, self, weights),
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

    def _spent(self, rated: Mapping[str, RatedVariants]) -> dict[str, dict[str, Value]]:
        judges: dict[str, NamedJudge] = self.judges
        return {
            name: spent(one.usage, one.context.evaluation_lm, judges[name].price, self.prices)
            for name, one in rated.items()
        }

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

    def _judged(self, rated: RatedVariants, weights: ExpertWeights) -> JudgeDiscernment:
        """What the ratings of a judge say of it."""
        informative = rated.degraded.informative(rated.ratings)
        replicates = self.replicates if self.calibrate else None
        testing = Testing(self._how, replicates, rated.context.seed)
        found = testing.results(rated.degraded, informative, rated.metrics, weights)
        items = len(rated.degraded.panel.items)
        over = averages(found, testing.bars(informative, found), items)
        return JudgeDiscernment(rated, informative, found, over)

    @property
    def _how(self) -> How:
        return How(self.zero_method, self.combine, self.method)

    def _degraded(self, context: Context) -> tuple[Degraded, ExpertWeights]:
        """What is to be rated, and weights; all that can be refused is, before an LM is asked."""
        base = originals(context)
        if self.method == "exact" and len(base.items) > COUNTED:
            raise ConfigError(
                f"study.method=exact serves up to {COUNTED} items, and there are "
                f"{len(base.items)}: use study.method=auto, or limit={COUNTED}."
            )
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
            "zero_method": self.zero_method,
            "method": self.method,
            "items": len(degraded.panel.items),
        }

    def _summary(self, context: Context, judge: JudgeDiscernment) -> dict[str, Value]:
        degraded = judge.rated.degraded
        summary = about(context, degraded.panel, "discernment") | self._settings(degraded)
        summary |= {"not_seen": ", ".join(judge.unseen), "not_seen_count": len(judge.unseen)}
        for average in judge.over:
            key = f"discernment/{average.name}"
            summary |= entries(key, average.estimate, "low", "high")
            summary[f"{key}_threshold"] = average.threshold
            summary |= entries(key, average.estimate, "n", "unscored")
        summary |= {f"d_ew/{one.perturbation.name}": one.score.d_ew for one in judge.found}
        summary["clean/unscored_texts"] = judge.unscored_texts
        return summary


def _rater(judge: NamedJudge) -> NamedJudge:
    """The judge, asked by the run's mechanism where its own asks an LM to compare texts."""
    own = judge.mechanism
    if own is None or own.subject == "text" or asks_nobody(own):
        return judge
    return replace(judge, mechanism=None)
