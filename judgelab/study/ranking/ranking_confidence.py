"""How sure is a ranking of systems under this judge? (ranking-confidence paper, sections 2, 3)"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from judgelab.core.bounds import ConfidenceLevel, Count, Positive
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.result import Headline, Result, Value
from judgelab.engine.context import Context
from judgelab.engine.study import Study
from judgelab.stats.discrimination.correlation import Method, clustered_correlation
from judgelab.stats.ranking.confidence import Draws
from judgelab.stats.ranking.pairs import OrderedPairs
from judgelab.stats.ranking.system_bias import Model
from judgelab.study.common.tables import WITHOUT_P, all_entries, entries
from judgelab.study.common.templates import paragraphs, sentences
from judgelab.study.ranking import tables
from judgelab.study.ranking.figures import DRAWINGS, compare
from judgelab.study.ranking.scored import (
    RankingJudge,
    SystemScores,
    clean_panel,
    measure,
    people_order,
    read_run,
)

HEADLINES = (
    Headline("ranking/agreement", "Orders systems as people do", 0.5, people=True),
    Headline("here/r", "Correlation with people, r", 0.0, people=True),
)
CORRELATIONS: dict[str, tuple[str, Method]] = {
    "r": ("Pearson's r", "pearson"),
    "rho": ("Spearman's rho", "spearman"),
    "tau": ("Kendall's tau", "kendall"),
}


class RankingConfidence(Study):
    """Confidence in rankings: predicted by Algorithm 1, observed, and for each pair of systems.

    With human scores in the data: the judge's correlation r, its bias between systems, the paper's
    curves, predictions for every pair of systems from the other systems against the bootstrap,
    and how well they are calibrated; the model with the smallest error says how sure people's
    order is. Without: the ranking that the scores give, with a confidence for every pair.

    With ``train`` the judge comes from there, and human scores of these data test its predictions
    (section 3's check on other data, figure 6).
    """

    drawings: ClassVar[Mapping[str, Any]] = DRAWINGS
    compare = staticmethod(compare)

    def __init__(
        self,
        *,
        run: str | None = None,
        train: Any = None,
        items: Count | None = None,
        confidence: ConfidenceLevel = 0.95,
        deltas: Annotated[Sequence[Positive], Field(min_length=1)] | None = None,
        pairs: Annotated[int, Field(ge=2)] = 100,
        evaluations: Count = 200,
        bootstrap: Count = 2000,
    ) -> None:
        if not (train is None or callable(getattr(train, "load", None))):
            raise ConfigError(
                f"study.train={train!r} is no dataset: name one by dataset@study.train=NAME."
            )
        self.folder, self.train, self.items, self.confidence = run, train, items, confidence
        self.deltas, self.pairs, self.evaluations = deltas, pairs, evaluations
        self.bootstrap = bootstrap

    def ask(self, context: Context) -> None:
        """See Study: where a finished run is read, nothing is asked."""
        if self.folder is None:
            context.measure(clean_panel(context))
        if self.train is not None:
            other = replace(context, dataset=self.train)
            other.measure(clean_panel(other))

    def run(self, context: Context) -> Result:
        """Score (or read scores), fit the judge, predict, compare, rank.

        Raises:
            ConfigError: what the scores or the run cannot be used for.
            DataError: nothing was scored, or fewer than two systems.
        """
        scores = measure(context) if self.folder is None else read_run(self.folder, context.limit)
        if scores.systems_with_scores < 2:
            raise DataError(
                f"A ranking needs scores of two systems at least, but {scores.systems_with_scores} "
                f"of {len(scores.systems)} have any: see the records of the run."
            )
        drawing = self.bootstrap, context.seed
        judge, size = self._judge(scores, context), self.items or len(scores.metric)
        predicted = tables.calibration_of(scores, judge, size, *drawing)
        agreement, errors, resamples, lean, calibration = predicted
        pairs, model = people_order(scores, judge, resamples)
        here = {  # with people over single texts
            name: clustered_correlation(scores.metric, scores.human, method, *drawing)
            for name, (_, method) in CORRELATIONS.items()
            if scores.annotated
        }
        in_order = [tables.systems_table(scores, pairs, model)]
        if judge.usable:
            spelled = {CORRELATIONS[name][0]: one for name, one in here.items()}
            in_order.append(tables.judge_table(scores, judge, spelled))
        in_order += [tables.order_table(scores, judge, pairs, model), *calibration]
        if judge.usable:
            draws = Draws(self.pairs, self.evaluations, context.seed)
            in_order += tables.error_table(scores, judge)
            in_order += tables.curves(judge, size, draws, self.deltas, self.confidence)
        summary = self._summary(scores, judge, pairs, model) | {"n": size}
        by_model = {str(model): error for model, error in errors.items()}
        summary |= all_entries("here/", here, *WITHOUT_P)
        summary |= all_entries("ranking/", agreement, *WITHOUT_P)
        summary |= all_entries("calibration/error_", by_model, *WITHOUT_P)
        words = {"scores": scores, "judge": judge, "pairs": pairs, "model": model, "items": size}
        words |= {"models": tables.MODEL_NAMES, "errors": errors, "lean": lean}
        words |= {"summary": summary, "confidence": self.confidence}
        return Result(
            summary=summary,
            primary="ranking/agreement" if agreement else "ranking/mean_confidence",
            headlines=HEADLINES,
            tables=in_order,
            figures=[figure for one in in_order if (figure := f"ranking_{one.name}") in DRAWINGS],
            notes=sentences(__package__, "answer.md.j2", part="notes", **words),
            provenance=scores.provenance,
            estimators=scores.estimators,
            answer=paragraphs(__package__, "answer.md.j2", part="answer", **words),
        )

    def _judge(self, scores: SystemScores, context: Context) -> RankingJudge:
        if self.train is not None:
            scores = measure(replace(context, dataset=self.train), name="train")
        judge = RankingJudge.of(scores, self.bootstrap, context.seed)
        if self.train is None:
            return judge
        if math.isnan(judge.r.value):
            raise DataError(
                "study.train: no judge can be fitted there, as people's scores or the metric's "
                "are missing or all alike."
            )
        return replace(judge, elsewhere=True)

    def _summary(
        self, scores: SystemScores, judge: RankingJudge, pairs: OrderedPairs, model: Model | None
    ) -> dict[str, Value]:
        agreed = pairs.agreed
        return {
            "study": "ranking_confidence",
            **scores.about,
            "items": len(scores.metric),
            "systems": len(scores.systems),
            "clean/unscored_texts": int(np.isnan(scores.metric).sum()),
            "judge/from": "training data" if judge.elsewhere else "these data",
            **entries("judge/r", judge.r, *WITHOUT_P),
            "judge/sd": judge.sd,
            **entries("judge/system_bias_sd", judge.fit.bias, *WITHOUT_P),
            "judge/item_correlation": judge.fit.item_correlation,
            "ranking/model": model,
            "ranking/order_of": "the same metric" if model is None else "people",
            "ranking/mean_confidence": float(agreed.mean()) if agreed.size else math.nan,
            "ranking/pairs": len(pairs.gap),
            "ranking/pairs_unscored": math.comb(len(scores.systems), 2) - len(pairs.gap),
            "ranking/sure_pairs": int((agreed >= self.confidence).sum()),
        }
