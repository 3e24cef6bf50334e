"""What annotated data say of a judge: its correlation, its errors per system, and pairing.

The ranking-confidence paper models a metric as the human score plus independent noise. Annotated
data show three more things: errors that all texts of a system share, metric scores of two systems
that move together on one item, and a line through the systems' means that is steeper or flatter
than the one through single texts. What sampled items add to the differences of means is known from
the items, and taken out. NaN is unscored; shapes other than named, and infinities, are a
ValueError.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincinv

from judgelab.stats.intervals.arrays import ROUNDING, Floats, check_pair, divide
from judgelab.stats.intervals.estimate import Estimate

Model = Literal["algorithm_1", "bias", "line"]
MODELS: tuple[Model, ...] = ("algorithm_1", "bias", "line")
"""The paper's; with the bias between systems; with that bias about the systems' own line."""


@dataclass(frozen=True)
class JudgeFit:
    """A judge on annotated data; NaN is what the data cannot tell."""

    systems: int  # fitted on so many
    texts: int
    # sd over systems of (metric / slope - human), sampled items taken out, in human units: what
    # ``confidence`` takes as ``system_bias_sd``; 0 where the systems differ no more than sampled
    # items explain. n: systems
    bias: Estimate
    r: float = math.nan  # Pearson correlation with people over single texts, all systems pooled
    sd: float = math.nan  # of the human scores over the same texts
    slope: float = math.nan  # metric units per human unit over single texts (pooled regression)
    system_slope: float = math.nan  # of the metric's system means on the human ones, per ``slope``
    line_bias_sd: float = math.nan  # as ``bias``, but about the line through the systems' means
    item_correlation: float = math.nan  # of two systems' metric scores on one item, in [0, 1)

    def system_error(self, model: Model) -> tuple[float, float]:
        """Slope of system means, per ``slope``, and sd of the bias about it, in human units."""
        return {
            "algorithm_1": (1.0, 0.0),
            "bias": (1.0, self.bias.value),
            "line": (self.system_slope, self.line_bias_sd),
        }[model]


def fit_judge(human: ArrayLike, metric: ArrayLike) -> JudgeFit:
    """The judge on scores [items, systems], NaN where unscored.

    The variance of the bias is the mean over pairs of systems of half the squared gap between them,
    less what sampled items add to it, which is taken as known. Pairs of fewer than three shared
    items do not count. Its 95 % interval: squared gaps follow a chi-square with a degree of freedom
    less than there are systems, where errors are normal; in simulations of 6 to 25 systems on 30 or
    100 items it held the true value in .94 to .98 of cases. NaN for what the data cannot tell:
    everything without spread in either score; slopes and biases where r is not above 0; the bias
    without two systems, the line without three.
    """
    first, second = check_pair(human, metric, 2, "Human and metric scores")
    has_both = ~(np.isnan(first) | np.isnan(second))
    x, y, systems = first[has_both], second[has_both], int(has_both.any(axis=0).sum())
    fit = JudgeFit(systems, len(x), Estimate(math.nan, n=systems))
    if not len(x) or any(one.std() <= ROUNDING * np.abs(one).max() for one in (x, y)):
        return fit
    cov, sd = float(((x - x.mean()) * (y - y.mean())).mean()), float(x.std())
    fit = replace(fit, r=cov / float(sd * y.std()), sd=sd, slope=cov / sd**2)
    h, m = (np.where(has_both, z - z[has_both].mean(), 0.0) for z in (first, second))
    pairs = _SystemPairs.of(h, m, has_both.astype(np.float64))
    own = np.where(has_both, second, np.nan)[:, has_both.sum(axis=0) > 1]
    within = np.nanvar(own, axis=0, ddof=1).mean() if own.size else 0.0
    if within > 0 and len(pairs.n):  # a difference has variance 2 (1 - c) of one system's
        alike = float(np.clip(1 - pairs.metric_variance.mean() / (2 * within), 0.0, 0.999))
        fit = replace(fit, item_correlation=alike)
    return fit if cov <= 0 or pairs.systems < 2 else _with_bias(fit, pairs)


@dataclass(frozen=True)
class _SystemPairs:
    """Differences of two systems' scores over the items that both have [pairs]."""

    systems: int  # in any of these pairs
    n: Floats  # shared items, three or more
    human: Floats  # means of the differences, by people and by the metric
    metric: Floats
    human_variance: Floats  # of the differences over items
    metric_variance: Floats
    covariance: Floats

    @staticmethod
    def of(human: Floats, metric: Floats, w: Floats) -> _SystemPairs:
        """From centred scores [items, systems], 0 where unscored; ``w`` is 1 where scored."""
        shared = w.T @ w  # [i, j]: items on which both are scored
        usable = np.triu(shared > 2, 1)
        n, systems = shared[usable], int((usable | usable.T).any(axis=1).sum())

        def gap(values: Floats) -> Floats:
            """[i, j] mean over shared items of system i's score less system j's."""
            total = values.T @ w
            return divide(total - total.T, shared)

        def spread(one: Floats, other: Floats) -> Floats:
            """[pairs] covariance over shared items of these differences in two scores."""
            own, cross = (one * other).T @ w, one.T @ other
            total = own + own.T - cross - cross.T - shared * gap(one) * gap(other)
            return np.asarray(total[usable] / (n - 1), dtype=np.float64)

        variances = spread(human, human), spread(metric, metric), spread(human, metric)
        return _SystemPairs(systems, n, gap(human)[usable], gap(metric)[usable], *variances)

    def squared_gap(self, steep: float) -> tuple[float, float]:
        """Half the mean squared gap of two systems in metric - steep * human, and the part of it
        that sampled items explain; in metric units."""
        noise = self.metric_variance - 2 * steep * self.covariance + steep**2 * self.human_variance
        squares = (self.metric - steep * self.human) ** 2
        return float(squares.mean()) / 2, float((noise / self.n).mean()) / 2


def _with_bias(fit: JudgeFit, pairs: _SystemPairs) -> JudgeFit:
    """The fit with its bias between systems, and the bias about the line through their means."""

    def sd_between(gap: float, noise: float) -> float:
        """In human units, 0 where it is not above 0 or only rounding."""
        root = math.sqrt(max(gap - noise, 0.0)) / fit.slope
        return root if root > math.sqrt(ROUNDING) * fit.sd else 0.0

    gap, noise = pairs.squared_gap(fit.slope)
    freedom = pairs.systems - 1
    quantiles = 2 * gammaincinv(freedom / 2, [0.975, 0.025])
    low, high = (sd_between(float(end), noise) for end in gap * freedom / quantiles)
    fit = replace(fit, bias=Estimate(sd_between(gap, noise), low, high, pairs.systems))
    if pairs.systems == 2 or not pairs.human.any():
        return fit
    steep = float((pairs.human * pairs.metric).sum() / (pairs.human**2).sum())
    gap, noise = pairs.squared_gap(steep)
    gap *= freedom / (freedom - 1)  # the line took one of the systems' differences
    line = sd_between(gap, noise)
    return replace(fit, system_slope=steep / fit.slope, line_bias_sd=line)
