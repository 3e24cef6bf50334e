"""How sure is a ranking of systems under this judge? (ranking-confidence paper, sections 2, 3)"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from judgelab.core.bounds import ConfidenceLevel, Correlation, Count, NotNegative, Positive
from judgelab.core.errors import DataError
from judgelab.core.result import Result, Table, Value
from judgelab.engine.context import Context
from judgelab.engine.study import Study
from judgelab.stats.ranking.pairs import OrderedPairs
from judgelab.stats.ranking.simulation import Draws
from judgelab.study.common.tables import WITHOUT_P, entries
from judgelab.study.ranking import tables
from judgelab.study.ranking.empirical import Empirical, empirical
from judgelab.study.ranking.judge import Assumed, RankingJudge, judge_of, order, unused
from judgelab.study.ranking.notes import notes
from judgelab.study.ranking.scored import Scored, ask, measure, read_run

R_CURVES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
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
    """

    def __init__(
        self,
        *,
        run: str | None = None,
        r: Correlation | None = None,
        sd: Positive | None = None,
        system_bias_sd: NotNegative | None = None,
        items: Count | None = None,
        confidence: ConfidenceLevel = 0.95,
        sizes: Annotated[Sequence[Count], Field(min_length=1)] = (25, 50, 100, 200, 500, 1000),
        correlations: Annotated[Sequence[Correlation], Field(min_length=1)] = R_CURVES,
        deltas: Annotated[Sequence[Positive], Field(min_length=1)] | None = None,
        pairs: Annotated[int, Field(ge=2)] = 100,
        evaluations: Count = 200,
        bootstrap: Count = 2000,
    ) -> None:
        self.assumed = Assumed(r, sd, system_bias_sd)
        self.folder, self.items, self.confidence = run, items, confidence
        self.sizes, self.correlations, self.deltas = sizes, correlations, deltas
        self.pairs, self.evaluations, self.bootstrap = pairs, evaluations, bootstrap

    def ask(self, context: Context) -> None:
        """See Study: where a finished run is read, nothing is asked."""
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
            tables.systems_table(scored, judge, pairs, self.bootstrap, context.seed),
            *([tables.judge_table(judge, float(np.nanstd(scored.metric)))] if judge.usable else []),
            tables.order_table(scored, judge, pairs),
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
        sizes = sorted({*self.sizes, size})
        return [
            tables.trade_off_table(judge, deltas, self.confidence),
            *tables.curve_tables(judge, sizes, self.correlations, size, draws),
            tables.noise_table(judge, draws.seed),
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
        summary |= entries("judge/r", judge.r, *WITHOUT_P)
        summary["judge/sd"] = judge.sd
        summary |= entries("judge/system_bias_sd", judge.bias, *WITHOUT_P)
        summary["judge/item_correlation"] = judge.item_correlation
        if seen is not None:
            agreement = seen.agreement()
            summary |= entries("ranking/agreement", agreement["unpaired"], *WITHOUT_P)
            summary |= entries("ranking/agreement_paired", agreement["paired"], *WITHOUT_P)
            for model, error in seen.error().items():
                summary |= entries(f"calibration/error_{model}", error, *WITHOUT_P)
        summary["ranking/mean_confidence"] = _mean(pairs.agreed)
        summary["ranking/order_of"] = "people" if judge.bias_known else "the same metric"
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


def _mean(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    return float(values.mean()) if values.size else float("nan")
