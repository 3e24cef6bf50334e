"""The judge whose rankings are in question: fitted on annotations, or as the user says it is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from judgelab.core.errors import ConfigError
from judgelab.core.result import Row, Table
from judgelab.stats.discrimination.correlation import clustered_correlation
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.ranking.system_bias import JudgeFit, bias_estimate, fit_judge, system_moments
from judgelab.study.ranking.scored import Scored


@dataclass(frozen=True)
class Assumed:
    """What the user says of the judge, where people scored nothing.

    Attributes:
        r: correlation with people over single texts; None: unknown.
        sd: of human scores; None: 1, so that differences are in standard deviations.
        system_bias_sd: sd over systems of the judge's errors, in human units; None: unknown.
    """

    r: float | None = None
    sd: float | None = None
    system_bias_sd: float | None = None

    def __post_init__(self) -> None:
        if self.r is not None and not 0 < self.r <= 1:
            raise ConfigError(f"study.r={self.r} must be above 0 and at most 1.")
        if self.sd is not None and not 0 < self.sd < math.inf:
            raise ConfigError(f"study.sd={self.sd} must be above 0, and finite.")
        if self.system_bias_sd is not None and not 0 <= self.system_bias_sd < math.inf:
            raise ConfigError(
                f"study.system_bias_sd={self.system_bias_sd} must not be negative, and finite."
            )


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
    scores: Floats | None
    fit: JudgeFit | None

    @property
    def bias_sd(self) -> float:
        """The value of ``bias``."""
        return self.bias.value

    @property
    def usable(self) -> bool:
        """Whether Algorithm 1 has a noise level for it."""
        return self.r.value > 0


def judge_of(scored: Scored, assumed: Assumed, draws: int, seed: int) -> RankingJudge:
    """From annotations where there are any; else what the user says."""
    nothing = float("nan")
    said = assumed.system_bias_sd
    bias = None if said is None else Estimate(said, nothing, nothing, 0)
    moments = system_moments(scored.human, scored.metric)
    fit = fit_judge(moments)
    if scored.annotated and not np.isnan(fit.r):
        known = ~np.isnan(scored.human)
        return RankingJudge(
            clustered_correlation(scored.metric, scored.human, "pearson", draws, seed),
            float(scored.human[known].std()),
            fit.slope,
            bias_estimate(moments) if bias is None else bias,
            fit.item_correlation,
            scored.human[known],
            fit,
        )
    r, sd = nothing if assumed.r is None else assumed.r, assumed.sd or 1.0
    known = ~np.isnan(scored.metric)
    spread = float(scored.metric[known].std()) if known.any() else nothing
    return RankingJudge(
        Estimate(r, nothing, nothing, 0),
        sd,
        r * spread / sd,
        Estimate(nothing, nothing, nothing, 0) if bias is None else bias,
        fit_judge(system_moments(scored.metric, scored.metric)).item_correlation,
        None,
        None,
    )


def unused(judge: RankingJudge, assumed: Assumed) -> list[str]:
    """Settings that the user gave and that cannot count here."""
    if judge.fit is not None:
        given = {"study.r": assumed.r, "study.sd": assumed.sd}
    elif assumed.r is None:
        given = {"study.sd": assumed.sd, "study.system_bias_sd": assumed.system_bias_sd}
    else:
        given = {}
    return [name for name, value in given.items() if value is not None]


def judge_table(judge: RankingJudge, metric_sd: float) -> Table:
    """The judge in numbers."""
    rows: list[Row] = [
        {"quantity": "correlation with people, r", **judge.r.as_dict()},
        {"quantity": "sd of the metric's scores", "value": metric_sd},
    ]
    rows.append({"quantity": "bias between systems (sd)", **judge.bias.as_dict()})
    rows += [{"quantity": name, "value": value} for name, value in _numbers(judge)]
    note = (
        "r is over single texts of all systems; its interval resamples items, n counts items. "
        "The interval of the bias is over systems, n counts systems. Bias, in human "
        "units: what is left of the differences between system means once people's differences "
        "and sampled items are taken out; about the systems' line: with the slope of the system "
        "means in place of that of single texts."
    )
    return Table("judge", "The judge", rows, note)


def _numbers(judge: RankingJudge) -> Iterator[tuple[str, float]]:
    yield "sd of human scores", judge.sd
    if judge.fit is not None:
        yield "bias about the systems' line", judge.fit.line_bias_sd
        yield "slope: system means / texts", judge.fit.system_slope
    yield "correlation on one item", judge.item_correlation
