"""The judge whose rankings are in question: fitted on annotations, or as the user says it is.

Where these data are annotated and the judge comes from elsewhere (other annotated data, or
settings), they test it: the paper's check on data that the simulation was not made for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from judgelab.stats.discrimination.correlation import clustered_correlation
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.ranking.calibration import MODELS, Model
from judgelab.stats.ranking.pairs import OrderedPairs, ordered_pairs
from judgelab.stats.ranking.system_bias import JudgeFit, bias_estimate, fit_judge, system_moments
from judgelab.study.ranking.scored import Scored

Origin = Literal["these data", "training data", "settings"]


@dataclass(frozen=True)
class RankingJudge:
    """What the study works with.

    Attributes:
        r: correlation with people, and its interval over items; NaN where unknown.
        sd: of human scores.
        slope: metric units per human unit; NaN where unknown.
        bias: sd of the errors per system, human units, and its interval over systems; NaN where
            unknown.
        item_correlation: of two systems' scores on an item; NaN where unknown.
        origin: where it comes from.
        scores: the human scores behind it, None where ``sd`` is given.
        fit: on all systems of the data it comes from; None where it is given and nothing here
            could test it.
    """

    r: Estimate
    sd: float
    slope: float
    bias: Estimate
    item_correlation: float
    origin: Origin = "settings"
    scores: Floats | None = None
    fit: JudgeFit | None = None

    @property
    def usable(self) -> bool:
        """Whether Algorithm 1 has a noise level for it."""
        return self.r.value > 0

    @property
    def elsewhere(self) -> JudgeFit | None:
        """What predicts every pair; None where each is predicted from the other systems here."""
        return None if self.origin == "these data" else self.fit

    def bias_by(self, model: Model) -> float:
        """The model's sd between systems, in metric units; NaN where it is unknown."""
        of_line = np.nan if self.fit is None else self.fit.line_bias_sd
        sd = {"algorithm_1": 0.0, "bias": self.bias.value, "line": of_line}[model]
        return float(sd * self.slope)

    def falls_by(self, model: Model | None) -> bool:
        """Whether the metric's system means fall as people's rise, by the model."""
        return model == "line" and self.fit is not None and self.fit.system_slope < 0


def fitted_judge(
    data: Scored, system_bias_sd: float | None, origin: Origin, draws: int, seed: int
) -> RankingJudge | None:
    """The judge of annotated data; None where human or metric scores are missing or all alike.

    Args:
        system_bias_sd: in place of the estimate.
    """
    moments = system_moments(data.human, data.metric)
    fit = fit_judge(moments)
    if not data.annotated or np.isnan(fit.r):
        return None
    human = data.human[~np.isnan(data.human)]
    return RankingJudge(
        clustered_correlation(data.metric, data.human, "pearson", draws, seed),
        float(human.std()),
        fit.slope,
        bias_estimate(moments) if system_bias_sd is None else Estimate(system_bias_sd),
        fit.item_correlation,
        origin,
        human,
        fit,
    )


def given_judge(
    scored: Scored, r: float | None, sd: float | None, system_bias_sd: float | None
) -> RankingJudge:
    """By settings; where people scored these data, with their sd unless another is given."""
    annotated = not np.isnan(fit_judge(system_moments(scored.human, scored.metric)).r)
    human = scored.human[~np.isnan(scored.human)] if annotated else None
    r = np.nan if r is None else r
    spread = sd or (1.0 if human is None else float(human.std()))
    bias = Estimate(np.nan if system_bias_sd is None else system_bias_sd)
    metric = scored.metric[~np.isnan(scored.metric)]
    slope = r * (float(metric.std()) if metric.size else np.nan) / spread
    shared = fit_judge(system_moments(scored.metric, scored.metric)).item_correlation
    fit = None
    if human is not None:
        fit = JudgeFit(r, spread, slope, bias.value, np.nan, np.nan, shared, 0, 0)
    known = human if sd is None else None
    return RankingJudge(Estimate(r), spread, slope, bias, shared, "settings", known, fit)


def model_of_people(
    judge: RankingJudge, errors: Mapping[Model, Estimate], given: bool
) -> Model | None:
    """The model by which the confidence in people's order is computed.

    Where pairs were predicted, the one with the smallest error on them (the simpler one of two
    that are equal); without such pairs, or where ``given``, that of the bias between systems.

    Args:
        errors: model -> its calibration error; empty where no pair could be predicted.
        given: whether the user gave the bias.

    Returns:
        None where the judge does not correlate with people, or nothing is known of its bias.
    """
    usable = [m for m in MODELS if judge.slope > 0 and not np.isnan(judge.bias_by(m))]
    tested = {m: e.value for m, e in errors.items() if m in usable and e.n}
    if tested and not given:
        return min(tested, key=lambda model: tested[model])
    return "bias" if "bias" in usable else None


def order(scored: Scored, judge: RankingJudge, model: Model | None) -> OrderedPairs:
    """Confidence in the metric's order; in people's by that model, where one can say it.

    Where the means of systems fall as people's rise (the line's slope), people's order is the
    opposite one.
    """
    pairs = ordered_pairs(scored.metric, 0.0 if model is None else judge.bias_by(model))
    return replace(pairs, agreed=1 - pairs.agreed) if judge.falls_by(model) else pairs
