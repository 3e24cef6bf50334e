"""The judge whose rankings are in question: fitted on annotations, or as the user says it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgelab.stats.discrimination.correlation import clustered_correlation
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.ranking.pairs import OrderedPairs, ordered_pairs
from judgelab.stats.ranking.system_bias import JudgeFit, bias_estimate, fit_judge, system_moments
from judgelab.study.ranking.scored import Scored


@dataclass(frozen=True)
class Assumed:
    """What the user says of the judge, where people scored nothing: settings of the study."""

    r: float | None = None
    sd: float | None = None
    system_bias_sd: float | None = None


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
        scores: the human scores behind it, None where ``sd`` is only said.
        fit: on all systems; None without annotations.
    """

    r: Estimate
    sd: float
    slope: float
    bias: Estimate
    item_correlation: float
    scores: Floats | None = None
    fit: JudgeFit | None = None

    @property
    def bias_sd(self) -> float:
        """The value of ``bias``."""
        return self.bias.value

    @property
    def usable(self) -> bool:
        """Whether Algorithm 1 has a noise level for it."""
        return self.r.value > 0

    @property
    def bias_known(self) -> bool:
        """Whether it can be said how sure people's order is, and not the metric's own alone."""
        return self.slope > 0 and not np.isnan(self.bias_sd)


def judge_of(scored: Scored, assumed: Assumed, draws: int, seed: int) -> RankingJudge:
    """From annotations where there are any; else what the user says."""
    said = None if assumed.system_bias_sd is None else Estimate(assumed.system_bias_sd)
    moments = system_moments(scored.human, scored.metric)
    fit = fit_judge(moments)
    if scored.annotated and not np.isnan(fit.r):
        human = scored.human[~np.isnan(scored.human)]
        return RankingJudge(
            clustered_correlation(scored.metric, scored.human, "pearson", draws, seed),
            float(human.std()),
            fit.slope,
            said or bias_estimate(moments),
            fit.item_correlation,
            human,
            fit,
        )
    r, sd = np.nan if assumed.r is None else assumed.r, assumed.sd or 1.0
    metric = scored.metric[~np.isnan(scored.metric)]
    return RankingJudge(
        Estimate(r),
        sd,
        r * (float(metric.std()) if metric.size else np.nan) / sd,
        said or Estimate(np.nan),
        fit_judge(system_moments(scored.metric, scored.metric)).item_correlation,
    )


def order(scored: Scored, judge: RankingJudge) -> OrderedPairs:
    """Confidence in the metric's order; with the judge's bias between systems where it is known."""
    return ordered_pairs(scored.metric, judge.bias_sd * judge.slope if judge.bias_known else 0.0)


def unused(judge: RankingJudge, assumed: Assumed) -> list[str]:
    """Settings that the user gave and that cannot count here."""
    if judge.fit is not None:
        given = {"study.r": assumed.r, "study.sd": assumed.sd}
    elif assumed.r is None:
        given = {"study.sd": assumed.sd, "study.system_bias_sd": assumed.system_bias_sd}
    else:
        given = {}
    return [name for name, value in given.items() if value is not None]
