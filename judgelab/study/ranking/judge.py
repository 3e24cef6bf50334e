"""The judge whose rankings are in question: fitted on annotations, or as the user says it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from judgelab.errors import ConfigError
from judgelab.result import Row, Table
from judgelab.stats.arrays import Floats
from judgelab.stats.correlation import clustered_correlation
from judgelab.stats.estimate import Estimate
from judgelab.stats.system_bias import JudgeFit, fit_judge, system_moments
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
        if self.sd is not None and not self.sd > 0:
            raise ConfigError(f"study.sd={self.sd} must be above 0.")
        if self.system_bias_sd is not None and not self.system_bias_sd >= 0:
            raise ConfigError(f"study.system_bias_sd={self.system_bias_sd} must not be negative.")


@dataclass(frozen=True)
class Judge:
    """What the study works with.

    Attributes:
        r: correlation with people, and its interval over items; NaN where unknown.
        sd: of human scores.
        slope: metric units per human unit; NaN where unknown.
        bias_sd: of the errors per system, human units; NaN where unknown.
        item_correlation: of two systems' scores on an item; 0 where unknown.
        scores: the human scores behind it, None where ``sd`` is only said.
        fit: on all systems; None without annotations.
    """

    r: Estimate
    sd: float
    slope: float
    bias_sd: float
    item_correlation: float
    scores: Floats | None
    fit: JudgeFit | None

    @property
    def usable(self) -> bool:
        """Whether Algorithm 1 has a noise level for it."""
        return self.r.value > 0


def judge_of(scored: Scored, assumed: Assumed, draws: int, seed: int) -> Judge:
    """From annotations where there are any; what the user says stands in for what is missing."""
    moments = system_moments(scored.human, scored.metric)
    fit = fit_judge(moments)
    if scored.annotated and not np.isnan(fit.r):
        r = clustered_correlation(scored.metric, scored.human, "pearson", draws, seed)
        known = ~np.isnan(scored.human)
        return Judge(
            r,
            float(scored.human[known].std()),
            fit.slope,
            fit.bias_sd if assumed.system_bias_sd is None else assumed.system_bias_sd,
            0.0 if np.isnan(fit.item_correlation) else fit.item_correlation,
            scored.human[known],
            fit,
        )
    nothing, sd = float("nan"), assumed.sd or 1.0
    r_said = nothing if assumed.r is None else assumed.r
    known = ~np.isnan(scored.metric)
    spread = float(scored.metric[known].std()) if known.any() else nothing
    pairs = fit_judge(system_moments(scored.metric, scored.metric)).item_correlation
    return Judge(
        Estimate(r_said, nothing, nothing, 0),
        sd,
        r_said * spread / sd,
        nothing if assumed.system_bias_sd is None else assumed.system_bias_sd,
        0.0 if np.isnan(pairs) else pairs,
        None,
        None,
    )


def judge_table(judge: Judge, metric_sd: float) -> Table:
    """The judge in numbers."""
    rows: list[Row] = [
        {"quantity": "correlation with people, r", **judge.r.as_dict()},
        {"quantity": "sd of the metric's scores", "value": metric_sd},
    ]
    rows += [{"quantity": name, "value": value} for name, value in _numbers(judge)]
    note = (
        "r is over single texts of all systems; its interval resamples items. Bias, in human "
        "units: what is left of the differences between system means once people's differences "
        "and sampled items are taken out; about the systems' line: with the slope of the system "
        "means in place of that of single texts."
    )
    return Table("judge", "The judge", rows, note)


def _numbers(judge: Judge) -> Iterator[tuple[str, float]]:
    yield "sd of human scores", judge.sd
    yield "bias between systems (sd)", judge.bias_sd
    if judge.fit is not None:
        yield "bias about the systems' line", judge.fit.line_bias_sd
        yield "slope: system means / texts", judge.fit.system_slope
    yield "correlation on one item", judge.item_correlation
