"""What annotated data say of a judge: its correlation, its errors per system, and pairing.

The ranking-confidence paper models a metric as the human score plus independent noise. In
annotated data three more things can be seen: errors that all texts of a system share, metric
scores of two systems that move together on one item, and a line through the systems' means that
is steeper or flatter than the one through single texts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.arrays import Floats, checked_pair, divide


@dataclass(frozen=True)
class SystemMoments:
    """Sums that any choice of systems can be fitted from.

    Attributes:
        sums: [systems, 6] count, h, m, h^2, m^2, h m over the texts scored by both, where h is
            the human and m the metric score less their overall means.
        shared: [systems, systems] items on which both systems are scored by both.
        gap_human, gap_metric: [systems, systems] mean over shared items of the row's score minus
            the column's.
        var_human, var_metric, cov: [systems, systems] of these differences over items.
    """

    sums: Floats
    shared: Floats
    gap_human: Floats
    gap_metric: Floats
    var_human: Floats
    var_metric: Floats
    cov: Floats


@dataclass(frozen=True)
class JudgeFit:
    """A judge on annotated data.

    Attributes:
        r: Pearson correlation with people over single texts, all systems pooled.
        sd: of the human scores over the same texts.
        slope: metric units per human unit over single texts (pooled regression on people).
        bias_sd: sd over systems of (metric / slope - human), sampled items taken out, in human
            units: what ``confidence`` takes as ``system_bias_sd``; 0 where the systems differ no
            more than sampled items explain.
        system_slope: slope of the metric's system means on the human ones, in units of
            ``slope``: 1 in the paper's model.
        line_bias_sd: as ``bias_sd``, but about the line through the systems' means.
        item_correlation: of two systems' metric scores on the same items, in [0, 1).
        systems: fitted on so many.
        texts: and on so many texts.
    """

    r: float
    sd: float
    slope: float
    bias_sd: float
    system_slope: float
    line_bias_sd: float
    item_correlation: float
    systems: int
    texts: int


def system_moments(human: ArrayLike, metric: ArrayLike) -> SystemMoments:
    """Sums over texts and over pairs of systems.

    Args:
        human: [items, systems], NaN where nobody scored.
        metric: [items, systems], NaN where unscored.

    Raises:
        ValueError: shapes differ, or infinities.
    """
    first, second = checked_pair(human, metric, 2, "Human and metric scores")
    known = ~(np.isnan(first) | np.isnan(second))
    if known.any():
        first, second = first - first[known].mean(), second - second[known].mean()
    h, m, w = np.where(known, first, 0.0), np.where(known, second, 0.0), known.astype(np.float64)
    parts = (w, h, m, h * h, m * m, h * m)
    shared = w.T @ w

    def gap(x: Floats) -> Floats:
        total = x.T @ w  # [i, j]: sum of i's scores over the items shared with j
        return divide(total - total.T, shared)

    def spread(x: Floats, y: Floats) -> Floats:
        own, cross = (x * y).T @ w, x.T @ y
        total = own + own.T - cross - cross.T
        return divide(total - shared * gap(x) * gap(y), np.where(shared > 1, shared - 1, 0.0))

    return SystemMoments(
        np.stack([part.sum(axis=0) for part in parts], axis=1),
        shared,
        gap(h),
        gap(m),
        spread(h, h),
        spread(m, m),
        spread(h, m),
    )


def fit_judge(moments: SystemMoments, keep: NDArray[np.bool_] | None = None) -> JudgeFit:
    """The judge on some of the systems (all for None).

    The variance of the bias is the mean over pairs of systems of half the squared gap between
    them, less what sampled items add to it (for complete data: the component of variance between
    systems in a two-way layout). Pairs of fewer than three shared items do not count.

    Returns:
        NaN for what the data cannot tell: everything without spread in either score; slopes and
        biases where r is not above 0; ``bias_sd`` without two systems, the line without three.
    """
    chosen = np.ones(len(moments.sums), dtype=np.bool_) if keep is None else keep
    n, h, m, hh, mm, hm = moments.sums[chosen].sum(axis=0)
    systems = int((moments.sums[chosen, 0] > 0).sum())
    var_h, var_m, cov = (_central(*part, n) for part in ((hh, h, h), (mm, m, m), (hm, h, m)))
    if not (var_h > 0 and var_m > 0):
        nothing = float("nan")
        return JudgeFit(*(nothing,) * 7, systems=systems, texts=int(n))
    r, slope = cov / np.sqrt(var_h * var_m), cov / var_h
    pairs = _pairs(moments, chosen)
    shared, gap_h, gap_m, v_h, v_m, c_hm = pairs
    bias = line = steep = float("nan")
    if r > 0 and len(shared):
        bias = _component(gap_m / slope - gap_h, v_m / slope**2 - 2 * c_hm / slope + v_h, shared)
    if r > 0 and systems > 2 and len(shared) and (gap_h**2).sum() > 0:
        steep = float((gap_h * gap_m).sum() / (gap_h**2).sum())
        left, noise = gap_m - steep * gap_h, v_m - 2 * steep * c_hm + steep**2 * v_h
        freed = (systems - 1) / (systems - 2)  # the line took one of the systems' differences
        line = _component(left, noise, shared, freed) / float(slope)
    return JudgeFit(
        float(r),
        float(np.sqrt(var_h)),
        float(slope),
        bias,
        steep / float(slope),
        line,
        _item_correlation(moments, chosen, v_m),
        systems,
        int(n),
    )


def _central(product: float, first: float, second: float, n: float) -> float:
    return product / n - first * second / n**2 if n else float("nan")


def _pairs(moments: SystemMoments, chosen: NDArray[np.bool_]) -> tuple[Floats, ...]:
    """Of every pair of chosen systems with enough shared items, once."""
    usable = np.triu(np.outer(chosen, chosen) & (moments.shared > 2), k=1)
    every = (
        moments.shared,
        moments.gap_human,
        moments.gap_metric,
        moments.var_human,
        moments.var_metric,
        moments.cov,
    )
    return tuple(part[usable] for part in every)


def _component(gaps: Floats, variances: Floats, shared: Floats, freed: float = 1.0) -> float:
    """sd over systems, from gaps between them and the variance of their differences on items."""
    squares = freed * (gaps**2).mean() - (variances / shared).mean()
    return float(np.sqrt(max(squares / 2, 0.0)))


def _item_correlation(
    moments: SystemMoments, chosen: NDArray[np.bool_], variances: Floats
) -> float:
    """1 - (variance of the difference on an item) / (twice the variance within a system)."""
    n, _, m, _, mm, _ = moments.sums[chosen].T
    many = n > 1
    if not many.any() or not len(variances):
        return float("nan")
    within = float(((mm - m**2 / np.where(many, n, 1.0))[many] / (n[many] - 1)).mean())
    if within <= 0:
        return float("nan")
    return float(np.clip(1 - variances.mean() / (2 * within), 0.0, 0.999))
