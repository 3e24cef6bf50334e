"""How finely does a judge discern degraded texts? (DHP paper)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError
from judgelab.core.panel import Panel
from judgelab.core.result import Result, Value
from judgelab.core.scores import Scores, mean_over
from judgelab.core.step import By
from judgelab.engine.context import Context
from judgelab.engine.estimating import estimators
from judgelab.engine.provenance import origin_of
from judgelab.engine.study import Study
from judgelab.stats.discernment.null import How, SummaryThresholds, calibrate_summary
from judgelab.stats.discernment.score import Combine
from judgelab.stats.discernment.wilcoxon import COUNTED, Method, ZeroMethod
from judgelab.study.common.long_tables import measurement_records, score_records, text_records
from judgelab.study.discernment import tables
from judgelab.study.discernment.degraded import Degraded, degrade, originals
from judgelab.study.discernment.expert_weights import ExpertWeights, load_weights
from judgelab.study.discernment.notes import notes
from judgelab.study.discernment.perturbation_result import (
    MOST,
    NONE,
    Average,
    Finding,
    averages,
    finding,
    nothing_changed,
    verdict,
)
from judgelab.study.discernment.perturbations import load_suite
from judgelab.study.discernment.single_texts import refuse_unfit

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Discernment(Study):
    """References are perturbed, rated before and after, and tested: D = log_.05 p.

    Args:
        perturbations: a name of conf/perturbation or a YAML file; null: the dataset's, or that
            of its task.
        only: some of its perturbations, by name; null: all.
        by: who writes those that an LM can write (lm, rules); null: as the suite says (rules).
        weights: a name of conf/expert_weights, a YAML, or a CSV of survey answers.
        combine: ``harmonic`` mean of the metrics' p values, or as ``printed`` in the paper.
        zero_method: what becomes of items rated alike: wilcox, pratt, zsplit.
        method: null distribution: auto (exact up to 50 items), normal, exact (up to 200 items).
        calibrate: also compute what label-shuffled judges reach.
        replicates: of the calibration; of averages and minima at most 1000.
        bootstrap: resamples of the items.
    """

    perturbations: str | None = None
    only: Sequence[str] | None = None
    by: By | None = None
    weights: str = "uniform"
    combine: Combine = "harmonic"
    zero_method: ZeroMethod = "wilcox"
    method: Method = "auto"
    calibrate: bool = True
    replicates: int = 2000
    bootstrap: int = 1000

    def __post_init__(self) -> None:
        if self.bootstrap < 1 or self.replicates < 1:
            raise ConfigError("study.bootstrap and study.replicates must be at least 1.")

    def ask(self, context: Context) -> None:
        """Put every question to the LMs that ``run`` would put, and nothing more."""
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
        panel = degraded.panel
        measured = context.measure(panel)
        scores = context.score(measured)
        _record(context, panel, measured, scores)
        metrics, ratings = ratings_of(measured, scores, context.mechanism.name)
        telling = degraded.telling(ratings)
        found = self._findings(degraded, telling, metrics, weights, context.seed)
        bars = self._summary_bars(telling, found, context.seed)
        over = averages(found, bars)
        sentence = verdict(found, context.mechanism.name)
        styles = tables.style_table(degraded, ratings)
        drawn = ["response_styles"] if styles.rows else []  # no rating, no histogram
        return Result(
            summary=self._summary(context, degraded, ratings, found, over),
            primary="discernment/average_ew",
            tables=[
                tables.findings_table(found, len(panel.items)),
                tables.averages_table(over, len(panel.items)),
                tables.metrics_table(found, metrics, telling),
                tables.coverage_table(degraded, ratings),
                *tables.unchanged_table(degraded),
                styles,
                *tables.diagnostics_table(scores),
            ],
            figures=["discernment_radar", "discernment_bars", *drawn],
            notes=notes(context, degraded, self, weights, metrics, found, sentence),
            provenance={"clean": _origin(degraded, measured, weights)},
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

    def _findings(
        self,
        degraded: Degraded,
        ratings: Floats,
        metrics: Sequence[str],
        weights: ExpertWeights,
        seed: int,
    ) -> list[Finding]:
        found = []
        for place, one in enumerate(degraded.suite.perturbations, start=1):
            own = weights.of((one.name, one.attack.name), metrics) if len(metrics) > 1 else None
            changed = int(degraded.changed(place).sum())
            if not changed:
                found.append(nothing_changed(one, len(metrics), own, self.bootstrap))
                continue
            found.append(
                finding(
                    one,
                    changed,
                    ratings[0],
                    ratings[place],
                    own,
                    self._how,
                    replicates=self.replicates if self.calibrate else None,
                    bootstrap=self.bootstrap,
                    seed=seed,
                )
            )
        return found

    def _summary_bars(
        self, ratings: Floats, found: Sequence[Finding], seed: int
    ) -> SummaryThresholds:
        places = [place for place, one in enumerate(found) if one.changed]
        if not self.calibrate or not places:
            return SummaryThresholds(NONE, NONE)
        rated = ratings[[0, *(place + 1 for place in places)]]
        levels = [found[place].perturbation.level for place in places]
        own = [found[place].weights for place in places]
        return calibrate_summary(
            rated, own, levels, self._how, replicates=min(self.replicates, MOST), seed=seed
        )

    @property
    def _how(self) -> How:
        return How(self.zero_method, self.combine, self.method)

    def _summary(
        self,
        context: Context,
        degraded: Degraded,
        ratings: Floats,
        found: Sequence[Finding],
        over: Sequence[Average],
    ) -> dict[str, Value]:
        panel = degraded.panel
        unseen = [one.perturbation.name for one in found if one.seen is False]
        summary: dict[str, Value] = {
            "study": "discernment",
            "mechanism": context.mechanism.name,
            "evaluation_lm": context.evaluation_lm.identity,
            "dataset": str(panel.provenance.get("dataset", "")),
            "perturbations": degraded.suite.identity,
            "weights": self.weights,
            "combine": self.combine,
            "items": len(panel.items),
            "not_seen": ", ".join(unseen),
            "not_seen_count": len(unseen),
        }
        for average in over:
            key = f"discernment/{average.name}"
            summary[key] = average.value
            summary |= {f"{key}_low": average.low, f"{key}_high": average.high}
            summary |= {f"{key}_threshold": average.threshold, f"{key}_n": average.n}
            summary[f"{key}_unscored"] = average.unscored(len(panel.items))
        for one in found:
            summary[f"d_ew/{one.perturbation.name}"] = one.d_ew
        summary["clean/unscored_texts"] = int(np.isnan(ratings).any(axis=2).sum())
        return summary


def ratings_of(data: xr.Dataset, scores: Scores, mechanism: str) -> tuple[list[str], Floats]:
    """Names of the metrics, and ratings [variant, item, metric] averaged over repeats.

    A mechanism without metrics counts as one metric of its own name.
    """
    if "rating" not in data:
        values = scores.agent.transpose("agent", "item").values[:, :, None]
        return [mechanism], np.asarray(values, dtype=np.float64)
    mean = mean_over(data["rating"], "draw").transpose("agent", "item", "metric")
    return [str(name) for name in data["metric"].values], np.asarray(mean.values, dtype=np.float64)


def _record(context: Context, panel: Panel, measured: xr.Dataset, scores: Scores) -> None:
    write = context.run_dir.write_table
    write("records/clean_scores.parquet", score_records(panel, scores))
    write("records/clean_measurements.parquet", measurement_records(measured))
    write("records/clean_texts.parquet", text_records(panel))


def _origin(degraded: Degraded, data: xr.Dataset, weights: ExpertWeights) -> dict[str, object]:
    made = {
        "perturbations": degraded.suite.identity,
        "perturbed": degraded.made,
        "expert_weights": weights.identity,
    }
    return origin_of(degraded.panel, {**made, **data.attrs})
