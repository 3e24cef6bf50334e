"""How sure is a ranking of systems under this judge? (ranking-confidence paper, sections 2, 3)"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.result import Result, Table, Value
from judgelab.engine.context import Context
from judgelab.engine.study import Study
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.ranking.pairs import OrderedPairs
from judgelab.stats.ranking.simulation import Draws
from judgelab.study.ranking import curves
from judgelab.study.ranking.empirical import Empirical, empirical
from judgelab.study.ranking.judge import Assumed, RankingJudge, judge_of, judge_table, unused
from judgelab.study.ranking.notes import notes
from judgelab.study.ranking.order import bias_known, order, order_table, systems_table
from judgelab.study.ranking.scored import Scored, ask, measure, read_run

IN_SDS = (0.1, 0.2, 0.4, 0.8)  # differences of the trade-off curves, without study.deltas


class RankingConfidence(Study):
    """Confidence in rankings: predicted by Algorithm 1, observed, and for each pair of systems.

    With human scores in the data: the judge's correlation r, its bias between systems, the paper's
    curves, predictions for every pair of systems from the other systems against the bootstrap,
    and how well they are calibrated. Without: the ranking that the scores give, with a confidence
    for every pair, and curves where ``r`` is given.

    Args:
        run: folder of a finished run whose clean scores are taken; None: measure.
        r: the judge's correlation with people, where the data have no human scores.
        sd: of human scores, then; None: 1, so that differences are in standard deviations.
        system_bias_sd: the judge's bias between systems, human units; None: estimated where there
            are human scores, else unknown.
        items: N of the curves and of the bootstrap; None: as many as there are.
        confidence: target of the trade-off curves.
        sizes: N of the curves.
        correlations: r of the curves.
        deltas: differences of the trade-off curves; None: .1, .2, .4 and .8 sd.
        pairs: of systems, in each cell of the simulation.
        evaluations: of each of these pairs.
        bootstrap: resamples of items, and of systems.

    Raises:
        ConfigError: a number is out of its range.
    """

    def __init__(
        self,
        *,
        run: str | None = None,
        r: float | None = None,
        sd: float | None = None,
        system_bias_sd: float | None = None,
        items: int | None = None,
        confidence: float = 0.95,
        sizes: Sequence[int] = (25, 50, 100, 200, 500, 1000),
        correlations: Sequence[float] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8),
        deltas: Sequence[float] | None = None,
        pairs: int = 100,
        evaluations: int = 200,
        bootstrap: int = 2000,
    ) -> None:
        if not 0.5 < confidence < 1:
            raise ConfigError(f"study.confidence={confidence} must be above .5 and below 1.")
        if min(sizes, default=0) < 1 or (items is not None and items < 1):
            raise ConfigError("study.sizes and study.items must be at least 1.")
        if not correlations or not all(0 < one <= 1 for one in correlations):
            raise ConfigError("study.correlations must be above 0 and at most 1.")
        if deltas is not None and not (deltas and all(0 < delta < math.inf for delta in deltas)):
            raise ConfigError("study.deltas must be above 0.")
        if pairs < 2 or min(evaluations, bootstrap) < 1:
            raise ConfigError("study.pairs must be at least 2, evaluations and bootstrap 1.")
        self.assumed = Assumed(r, sd, system_bias_sd)
        self.folder, self.items, self.confidence = run, items, confidence
        self.sizes, self.correlations, self.deltas = sizes, correlations, deltas
        self.pairs, self.evaluations, self.bootstrap = pairs, evaluations, bootstrap

    def ask(self, context: Context) -> None:
        """See Study: a finished run is read, so nobody is asked."""
        if self.folder is None:
            ask(context)

    def run(self, context: Context) -> Result:
        """Score (or read scores), fit the judge, predict, compare, rank.

        Raises:
            ConfigError: what the scores or the run cannot be used for.
            DataError: nothing was scored, or fewer than two systems.
        """
        scored = measure(context) if self.folder is None else read_run(self.folder, context.limit)
        _enough(scored)
        judge = judge_of(scored, self.assumed, self.bootstrap, context.seed)
        size = self.items or len(scored.metric)
        fitted = judge.fit is not None and judge.usable
        seen = empirical(scored, size, self.bootstrap, context.seed) if fitted else None
        pairs = order(scored, judge)
        draws = Draws(self.pairs, self.evaluations, context.seed)
        made = [
            systems_table(scored, judge, pairs, self.bootstrap, context.seed),
            *([judge_table(judge, float(np.nanstd(scored.metric)))] if judge.usable else []),
            order_table(scored, judge, pairs),
            *([] if seen is None else seen.tables()),
            *(self._curves(judge, size, draws) if judge.usable else []),
        ]
        return Result(
            summary=self._summary(scored, judge, seen, pairs, size),
            primary="ranking/agreement" if seen is not None else "ranking/mean_confidence",
            tables=made,
            figures=_figures(judge, seen),
            notes=notes(scored, judge, seen, pairs, size, unused(judge, self.assumed)),
            provenance=scored.provenance,
            estimators=scored.estimators,
        )

    def _curves(self, judge: RankingJudge, size: int, draws: Draws) -> list[Table]:
        deltas = self.deltas or [round(share * judge.sd, 6) for share in IN_SDS]
        return [
            curves.trade_off(judge, deltas, self.confidence),
            curves.by_items(judge, sorted({*self.sizes, size}), draws),
            curves.by_correlation(judge, self.correlations, size, draws),
            curves.noise(judge, draws.seed),
        ]

    def _summary(
        self,
        scored: Scored,
        judge: RankingJudge,
        seen: Empirical | None,
        pairs: OrderedPairs,
        size: int,
    ) -> Mapping[str, Value]:
        summary: dict[str, Value] = {"study": "ranking_confidence", **scored.about}
        summary |= {"items": len(scored.metric), "systems": len(scored.systems), "n": size}
        summary["clean/unscored_texts"] = int(np.isnan(scored.metric).sum())
        summary |= _flat("judge/r", judge.r)
        summary["judge/sd"] = judge.sd
        summary |= _flat("judge/system_bias_sd", judge.bias)
        summary["judge/item_correlation"] = judge.item_correlation
        if seen is not None:
            agreement = seen.agreement()
            summary |= _flat("ranking/agreement", agreement["unpaired"])
            summary |= _flat("ranking/agreement_paired", agreement["paired"])
            for model, error in seen.error().items():
                summary |= _flat(f"calibration/error_{model}", error)
        summary["ranking/mean_confidence"] = _mean(pairs.agreed)
        summary["ranking/order_of"] = "people" if bias_known(judge) else "the same metric"
        summary["ranking/pairs"] = len(pairs.gap)
        summary["ranking/pairs_unscored"] = math.comb(len(scored.systems), 2) - len(pairs.gap)
        summary["ranking/sure_pairs"] = int((pairs.agreed >= self.confidence).sum())
        return summary


def _enough(scored: Scored) -> None:
    known = int((~np.isnan(scored.metric)).any(axis=0).sum())
    if known < 2:
        raise DataError(
            f"A ranking needs scores of two systems at least, but {known} of "
            f"{len(scored.systems)} have any: see the records of the run."
        )


def _figures(judge: RankingJudge, seen: Empirical | None) -> list[str]:
    found = ["ranking_systems"]
    if seen is not None:
        found += ["ranking_observed", "ranking_calibration"]
    if judge.usable:
        found += ["ranking_by_items", "ranking_trade_off", "ranking_by_correlation"]
        found += ["ranking_noise"]
    return found


def _flat(key: str, estimate: Estimate) -> dict[str, Value]:
    parts = ("low", "high", "n", "unscored")
    return {key: estimate.value} | {f"{key}_{part}": getattr(estimate, part) for part in parts}


def _mean(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    return float(values.mean()) if values.size else float("nan")
