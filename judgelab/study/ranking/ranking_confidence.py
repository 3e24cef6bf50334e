"""How sure is a ranking of systems under this judge? (ranking-confidence paper, sections 2, 3)"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from judgelab.core.bounds import ConfidenceLevel, Correlation, Count, NotNegative, Positive
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.result import Result, Table, Value
from judgelab.engine.context import Context
from judgelab.engine.study import Study
from judgelab.stats.ranking.simulation import Draws
from judgelab.stats.ranking.system_bias import fit_judge, system_moments
from judgelab.study.common.tables import WITHOUT_P, entries
from judgelab.study.ranking import tables
from judgelab.study.ranking.answer import answer
from judgelab.study.ranking.empirical import Empirical, empirical
from judgelab.study.ranking.errors import error_table
from judgelab.study.ranking.judge import (
    Assumed,
    RankingJudge,
    judge_of,
    model_of_people,
    order,
    unused,
)
from judgelab.study.ranking.notes import notes
from judgelab.study.ranking.ranked import Ranked
from judgelab.study.ranking.scored import Scored, ask, measure, read_run

R_CURVES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
IN_SDS = (0.1, 0.2, 0.4, 0.8)  # differences of the trade-off curves, without study.deltas


class RankingConfidence(Study):
    """Confidence in rankings: predicted by Algorithm 1, observed, and for each pair of systems.

    With human scores in the data: the judge's correlation r, its bias between systems, the paper's
    curves, predictions for every pair of systems from the other systems against the bootstrap,
    and how well they are calibrated; the model with the smallest error says how sure people's
    order is. Without: the ranking that the scores give, with a confidence for every pair, and
    curves where ``r`` is given.

    With ``train``, ``train_run`` or ``r`` the judge comes from there, and human scores of these
    data test its predictions (section 3's check on other data, figure 6).

    Args:
        run: folder of a finished run whose clean scores are taken; None: measure.
        train: annotated dataset on which the run's mechanism is fitted; None: these data.
        train_run: the same from the folder of a finished run.
        r: the judge's correlation with people; None: that of the data.
        sd: of human scores, with ``r``; None: that of the human scores here, or 1 without any, so
            that differences are in standard deviations.
        system_bias_sd: the judge's bias between systems, human units; None: estimated where it is
            fitted, else unknown.
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
        train: Any = None,
        train_run: str | None = None,
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
        if sum(given is not None for given in (train, train_run, r)) > 1:
            raise ConfigError(
                "study.train, study.train_run and study.r each say which judge predicts: give one."
            )
        if not (train is None or callable(getattr(train, "load", None))):
            raise ConfigError(
                f"study.train={train!r} is no dataset: name one by dataset@study.train=NAME, or a "
                "finished run by study.train_run=FOLDER."
            )
        self.train, self.train_run = train, train_run
        self.assumed = Assumed(r, sd, system_bias_sd)
        self.folder, self.items, self.confidence = run, items, confidence
        self.sizes, self.correlations, self.deltas = sizes, correlations, deltas
        self.pairs, self.evaluations, self.bootstrap = pairs, evaluations, bootstrap

    def ask(self, context: Context) -> None:
        """See Study: where a finished run is read, nothing is asked."""
        if self.folder is None:
            ask(context)
        if self.train is not None:
            ask(replace(context, dataset=self.train))

    def run(self, context: Context) -> Result:
        """Score (or read scores), fit the judge, predict, compare, rank.

        Raises:
            ConfigError: what the scores or the run cannot be used for.
            DataError: nothing was scored, or fewer than two systems.
        """
        scored = measure(context) if self.folder is None else read_run(self.folder, context.limit)
        _enough(scored)
        judge = judge_of(scored, self.assumed, self._fitted_on(context), *self._drawing(context))
        size = self.items or len(scored.metric)
        fitted = judge.fit is not None and judge.usable
        seen = empirical(scored, size, *self._drawing(context), judge.elsewhere) if fitted else None
        errors, said = seen.error() if seen else None, self.assumed.system_bias_sd is not None
        model = model_of_people(judge, errors, said)
        pairs = order(scored, judge, model)
        ranked = Ranked(scored, judge, pairs, model)
        draws = Draws(self.pairs, self.evaluations, context.seed)
        made = [
            tables.systems_table(ranked),
            tables.judge_table(ranked, *self._drawing(context)) if judge.usable else None,
            tables.order_table(ranked),
            *([] if seen is None else seen.tables()),
            error_table(scored, judge) if fitted else None,
            *(self._curves(judge, size, draws) if judge.usable else []),
        ]
        summary = self._summary(ranked, seen, size, context)
        name = str(summary.get("metric") or summary.get("mechanism") or "The metric")
        return Result(
            summary=summary,
            primary="ranking/agreement" if seen is not None else "ranking/mean_confidence",
            tables=[table for table in made if table is not None],
            figures=_figures(judge, seen, made),
            notes=notes(ranked, seen, size, unused(judge, self.assumed)),
            provenance=scored.provenance,
            estimators=scored.estimators,
            answer=answer(summary, name, self.confidence),
        )

    def _drawing(self, context: Context) -> tuple[int, int]:
        return self.bootstrap, context.seed

    def _fitted_on(self, context: Context) -> Scored | None:
        """Annotated data that the judge is fitted on; None: those that are ranked."""
        if self.train_run is not None:
            found = read_run(self.train_run, key="train_run")
        elif self.train is not None:
            found = measure(replace(context, dataset=self.train), name="train")
        else:
            return None
        if np.isnan(fit_judge(system_moments(found.human, found.metric)).r):
            raise DataError(
                "study.train: no judge can be fitted there, as people's scores or the metric's "
                "are missing or all alike."
            )
        return found

    def _curves(self, judge: RankingJudge, size: int, draws: Draws) -> list[Table]:
        deltas = self.deltas or [round(share * judge.sd, 6) for share in IN_SDS]
        sizes = sorted({*self.sizes, size})
        return [
            tables.trade_off_table(judge, deltas, self.confidence),
            *tables.curve_tables(judge, sizes, self.correlations, size, draws),
            tables.noise_table(judge, draws.seed),
        ]

    def _summary(
        self, ranked: Ranked, seen: Empirical | None, size: int, context: Context
    ) -> Mapping[str, Value]:
        scored, judge, pairs = ranked.scored, ranked.judge, ranked.pairs
        summary: dict[str, Value] = {"study": "ranking_confidence", **scored.about}
        summary |= {"items": len(scored.metric), "systems": len(scored.systems), "n": size}
        summary["clean/unscored_texts"] = int(np.isnan(scored.metric).sum())
        summary["judge/from"] = judge.origin
        summary |= entries("judge/r", judge.r, *WITHOUT_P)
        for name, found in ranked.correlations(*self._drawing(context)).items():
            summary |= entries(f"here/{name}", found, *WITHOUT_P)
        summary["judge/sd"] = judge.sd
        summary |= entries("judge/system_bias_sd", judge.bias, *WITHOUT_P)
        summary["judge/item_correlation"] = judge.item_correlation
        if seen is not None:
            agreement = seen.agreement()
            summary |= entries("ranking/agreement", agreement["unpaired"], *WITHOUT_P)
            summary |= entries("ranking/agreement_paired", agreement["paired"], *WITHOUT_P)
            for model, error in seen.error().items():
                summary |= entries(f"calibration/error_{model}", error, *WITHOUT_P)
        summary["ranking/model"] = ranked.model
        summary["ranking/mean_confidence"] = _mean(pairs.agreed)
        summary["ranking/order_of"] = "the same metric" if ranked.model is None else "people"
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


def _figures(
    judge: RankingJudge, seen: Empirical | None, made: Sequence[Table | None]
) -> list[str]:
    found = ["ranking_systems"]
    if seen is not None:
        found += ["ranking_observed", "ranking_calibration"]
    if any(table is not None and table.name == "errors" for table in made):
        found.append("ranking_errors")
    if judge.usable:
        found += ["ranking_by_items", "ranking_trade_off", "ranking_by_correlation"]
        found += ["ranking_noise"]
    return found


def _mean(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    return float(values.mean()) if values.size else float("nan")
