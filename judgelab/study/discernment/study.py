"""How finely does a judge discern degraded texts? (DHP paper)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from judgelab.core.bounds import Count
from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.panel import Panel
from judgelab.core.result import Result, Value
from judgelab.core.scores import Scores, mean_over
from judgelab.core.step import By
from judgelab.engine.context import Context
from judgelab.engine.estimating import estimators
from judgelab.engine.provenance import origin_of
from judgelab.engine.study import Study
from judgelab.evaluation_lm.dry_run_lm import Counted
from judgelab.stats.discernment.score import Combine, How
from judgelab.stats.discernment.wilcoxon import COUNTED, Method, ZeroMethod
from judgelab.stats.intervals.arrays import Floats
from judgelab.study.common.panels import write_records
from judgelab.study.common.tables import about, entries
from judgelab.study.discernment import tables
from judgelab.study.discernment.expert_weights import ExpertWeights, load_weights
from judgelab.study.discernment.perturbation_result import (
    Average,
    PerturbationResult,
    Testing,
    averages,
    verdict,
)
from judgelab.study.discernment.perturbations import Degraded, degrade, load_suite, originals


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

    def ask(self, context: Context) -> None:
        """See Study."""
        context.measure(self._degraded(context)[0].panel)

    def run(self, context: Context) -> Result:
        """Perturb, rate, test.

        Raises:
            ConfigError: an attack was chosen beside the perturbations, the mechanism does not
                score texts by themselves, or settings do not fit.
            CapabilityError: perturbations are to be written by an LM that cannot write.
            DataError: no item has a reference.
        """
        degraded, weights = self._degraded(context)
        panel, name = degraded.panel, context.mechanism.name
        measured = context.measure(panel)
        refuse_pairs(measured, name)
        scores = context.score(measured)
        write_records(context, panel, measured, scores)
        metrics, ratings = ratings_of(measured, scores, name)
        informative = degraded.informative(ratings)
        how = How(self.zero_method, self.combine, self.method)
        replicates = self.replicates if self.calibrate else None
        testing = Testing(how, replicates, context.seed)
        found = testing.results(degraded, informative, metrics, weights)
        over = averages(found, testing.bars(informative, found), len(panel.items))
        styles = tables.style_table(degraded, ratings)
        drawn = ["response_styles"] if styles.rows else []  # no rating, no histogram
        made = {"perturbations": degraded.suite.identity, "perturbed": degraded.made}
        origin = {**made, "expert_weights": weights.identity, **measured.attrs}
        return Result(
            summary=self._summary(context, degraded, ratings, found, over)
            | {"weighting": weights.named},
            primary="discernment/average_ew",
            tables=[
                tables.results_table(found, len(panel.items)),
                tables.averages_table(over, weights.named),
                tables.metrics_table(found, metrics, informative, self.zero_method),
                tables.coverage_table(degraded, ratings),
                *tables.excluded_table(degraded),
                styles,
                *tables.steps_table(measured.attrs),
                *tables.diagnostics_table(scores),
            ],
            figures=["discernment_radar", "discernment_bars", *drawn],
            answer=[verdict(found, name, len(panel.items))],
            notes=[
                *tables.notes(context, degraded, self, weights, metrics, found),
                *tables.steps_note(measured.attrs),
            ],
            provenance={"clean": origin_of(panel, origin)},
            estimators=estimators(scores),
        )

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
        refuse_unfit(context, base)
        return degrade(context, base, suite), weights

    def _summary(
        self,
        context: Context,
        degraded: Degraded,
        ratings: Floats,
        found: Sequence[PerturbationResult],
        over: Sequence[Average],
    ) -> dict[str, Value]:
        items = len(degraded.panel.items)
        unseen = [
            one.perturbation.name for one in found if one.seen is False and one.counts_among(items)
        ]
        summary = about(context, degraded.panel, "discernment") | {
            "perturbations": degraded.suite.identity,
            "weights": self.weights,
            "combine": self.combine,
            "zero_method": self.zero_method,
            "method": self.method,
            "items": items,
            "not_seen": ", ".join(unseen),
            "not_seen_count": len(unseen),
        }
        for average in over:
            key = f"discernment/{average.name}"
            summary |= entries(key, average.estimate, "low", "high")
            summary[f"{key}_threshold"] = average.threshold
            summary |= entries(key, average.estimate, "n", "unscored")
        summary |= {f"d_ew/{one.perturbation.name}": one.score.d_ew for one in found}
        summary["clean/unscored_texts"] = int(np.isnan(ratings).any(axis=2).sum())
        return summary


def refuse_unfit(context: Context, base: Panel) -> None:
    """Find out before anything is asked or paid for that a mechanism does not fit.

    Raises:
        ConfigError: the mechanism holds texts against one another, is for other tasks, has
            settings that do not fit the panel, or scores texts only as they came.
    """
    mechanism, lm = context.mechanism, context.evaluation_lm
    if mechanism.subject != "text":
        raise against_peers(mechanism.name)
    if mechanism.tasks and base.task not in mechanism.tasks:
        raise ConfigError(
            f"mechanism={mechanism.name} is for {', '.join(sorted(mechanism.tasks))}, and the task "
            f"of the dataset is {base.task!r}: choose another mechanism, or give criteria of your "
            "own (mechanism.criteria=FILE)."
        )
    if mechanism.measurement == "text":  # refuses attacked texts where its scores are recorded
        base = base.with_agents(base.agents, base.texts, attack="perturbations")
    elif Capability.RECORDED in lm.capabilities:
        return
    refuse_pairs(mechanism.measure(base, Counted(lm), seed=context.seed), mechanism.name)


def refuse_pairs(measured: xr.Dataset, mechanism: str) -> None:
    """Refuse measurements of pairs, which a mechanism may make without declaring its subject.

    Raises:
        ConfigError: something was measured for a text and its peer.
    """
    if any("peer" in values.dims for values in measured.data_vars.values()):
        raise against_peers(mechanism)


def against_peers(mechanism: str) -> ConfigError:
    """Why a mechanism that compares texts does not fit: the peers are perturbed originals."""
    return ConfigError(
        "study=discernment has a judge score each text by itself, but mechanism="
        f"{mechanism} holds texts against one another: choose rating (an LM that chats), "
        "rating_likelihood (one that gives log-probabilities), or one of lm_examiner, "
        "pointwise5, acu_rating, gptscore, length."
    )


def ratings_of(data: xr.Dataset, scores: Scores, mechanism: str) -> tuple[list[str], Floats]:
    """Names of the metrics, and ratings [variant, item, metric] averaged over repeats.

    A mechanism without metrics counts as one metric of its own name.
    """
    if "rating" not in data:
        values = scores.agent.transpose("agent", "item").values[:, :, None]
        return [mechanism], np.asarray(values, dtype=np.float64)
    mean = mean_over(data["rating"], "draw").transpose("agent", "item", "metric")
    return [str(name) for name in data["metric"].values], np.asarray(mean.values, dtype=np.float64)
