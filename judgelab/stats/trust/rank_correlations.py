"""Correlations of grades: within items, and between texts of one system."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from judgelab.stats.intervals.arrays import Floats, average_ranks, divide
from judgelab.stats.intervals.ends import NEARLY_ONE, heavy_ends
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.agreement import Places, means_within
from judgelab.stats.trust.clustered import FEWEST, cluster_sums, t_interval
from judgelab.stats.trust.comparison import JudgePairs, holm
from judgelab.stats.trust.left_out import leaving_out
from judgelab.stats.trust.ties import gaps, pairs_within

LEAST = 3
"""Texts of an item below which it has no rank correlation."""


def taus_within(scores: ArrayLike, truth: ArrayLike, item: Places, items: int) -> Floats:
    """Kendall's tau-b of every item [judges, items].

    NaN where fewer than three texts have both grades, or either side gives all the same grade.

    Args:
        scores: [judges, units].
        truth: [units].
        item: [units] its number.
    """
    pairs = pairs_within(item, ~np.isnan(np.asarray(truth)))
    of = item[pairs[0]]
    judged, people = np.sign(gaps(scores, *pairs)), np.sign(gaps(truth, *pairs))
    people = np.where(np.isnan(judged), np.nan, people)
    product, judge_told, people_told = (
        means_within(x, of, items) for x in (judged * people, judged**2, people**2)
    )
    count = np.zeros(product.shape)
    found = cluster_sums(~np.isnan(judged), of)
    count[:, : found.shape[1]] = found
    few = count < LEAST * (LEAST - 1) / 2
    return np.where(few, np.nan, divide(product, np.sqrt(judge_told * people_told)))


def spearmans_within(scores: ArrayLike, truth: ArrayLike, item: Places, items: int) -> Floats:
    """Spearman's correlation of every item [judges, items]; NaN as in ``taus_within``."""
    cells = np.asarray(scores, dtype=np.float64)
    people = np.broadcast_to(np.asarray(truth, dtype=np.float64), cells.shape)
    both = ~(np.isnan(cells) | np.isnan(people))
    order = np.argsort(item, kind="stable")
    starts = np.searchsorted(item[order], np.arange(items))
    slot = np.empty(len(item), np.intp)
    slot[order] = np.arange(len(item)) - starts[item[order]]
    shape = (len(cells), items, int(slot.max(initial=-1)) + 1)

    def ranks(values: Floats) -> Floats:
        table = np.full(shape, np.nan)
        table[:, item, slot] = np.where(both, values, np.nan)
        ranked = average_ranks(table)
        known = ~np.isnan(ranked)
        mean = divide(np.where(known, ranked, 0.0).sum(axis=2), known.sum(axis=2))
        return np.where(known, ranked - mean[:, :, None], 0.0)

    x, y = ranks(cells), ranks(people)
    spread = np.sqrt((x * x).sum(axis=2) * (y * y).sum(axis=2))
    table = np.zeros(shape, np.bool_)
    table[:, item, slot] = both
    return np.where(table.sum(axis=2) < LEAST, np.nan, divide((x * y).sum(axis=2), spread))


def group_means(scores: ArrayLike, truth: ArrayLike, group: Places) -> tuple[Floats, Floats]:
    """Means by group (a system) of what both graded: judges', people's [judges, groups]."""
    x, y = _shared(scores, truth)
    count = int(group.max(initial=-1)) + 1
    return means_within(x, group, count), means_within(y, group, count)


def partial_correlations(
    scores: ArrayLike,
    truth: ArrayLike,
    group: Places,
    cluster: Places,
    method: Literal["pearson", "spearman"] = "pearson",
    level: float = 0.95,
) -> list[Estimate]:
    """Correlation of what is left of both grades once the mean of their system is taken out.

    As FRANK has it (2104.13346): Pearson or Spearman of the residuals from system means. The
    interval is t on Fisher's z by leaving out each cluster, with the degrees of freedom that the
    kurtosis of what clusters add leaves: errors from what each text adds, z_x z_y - r / 2 (z_x^2 +
    z_y^2), held in .91 of the cases on 50 documents of SummEval, this in .95 (experiments/trust).

    Args:
        scores: [judges, units].
        truth: [units].
        group: [units] number of the system; all 0: the plain correlation.
        cluster: [units].

    Returns:
        One for each judge; n counts texts, p is two-sided, of no correlation.
    """
    x, y = _residual_pair(scores, truth, group, method)
    r, n, _, g = _partial(x, y, cluster)
    z = np.arctanh(np.clip(r, -NEARLY_ONE, NEARLY_ONE))
    added = leaving_out(x, y, cluster, z)
    low, high = (np.tanh(end) for end in heavy_ends(added, level))
    few = g < FEWEST
    known = np.where(np.isnan(added), 0.0, added - z[:, None])
    error = np.sqrt(divide((known**2).sum(axis=1), np.where(few, np.nan, g * (g - 1.0))))
    p = np.where(few, np.nan, 2 * stdtr(np.maximum(g - 1, 1), -np.abs(divide(z, error))))
    unscored = x.shape[1] - n
    parts = (part.tolist() for part in (r, low, high, n, unscored, p, g))
    return [Estimate(*numbers) for numbers in zip(*parts, strict=True)]


def correlation_pairs(
    scores: ArrayLike,
    truth: ArrayLike,
    group: Places,
    cluster: Places,
    method: Literal["pearson", "spearman"] = "pearson",
    level: float = 0.95,
) -> JudgePairs:
    """Differences of the same correlations, of every pair of judges.

    t of the difference, from what each cluster adds to both: two judges on the same texts are not
    independent, nor are the texts of a cluster (which Williams' test takes them for).
    """
    r, n, added, g = _partial(*_residual_pair(scores, truth, group, method), cluster)
    sums = cluster_sums(added, cluster)
    one, other = np.triu_indices(len(r), k=1)
    products = sums @ sums.T
    square = products[one, one] + products[other, other] - 2 * products[one, other]
    least = np.minimum(g[one], g[other])
    least_known = np.where(least < FEWEST, np.nan, least)
    error = np.sqrt(least_known / (least_known - 1) * np.maximum(square, 0.0))
    off = r[one] - r[other]
    low, high = t_interval(off, error, least_known, level)
    t = np.where(off == 0, 0.0, divide(np.abs(off), error))
    p = np.where(np.isnan(error), np.nan, 2 * stdtr(np.maximum(least - 1, 1), -t))
    exact = np.zeros(len(one), np.bool_)
    return JudgePairs(one, other, off, low, high, np.minimum(n[one], n[other]), p, holm(p), exact)


def _residual_pair(
    scores: ArrayLike, truth: ArrayLike, group: Places, method: str
) -> tuple[Floats, Floats]:
    """[judges, units] of both: standardised residuals, or their ranks."""
    x, y = _shared(scores, truth)
    groups = int(group.max(initial=-1)) + 1
    x, y = (_standard(_residuals(v, group, groups), v, method) for v in (x, y))
    return x, y


def _partial(x: Floats, y: Floats, cluster: Places) -> tuple[Floats, Places, Floats, Places]:
    """[judges] correlation, texts; [judges, units] what each adds; [judges] clusters."""
    known = ~np.isnan(x)
    n = known.sum(axis=1)
    r = divide(np.where(known, x * y, 0.0).sum(axis=1), n)
    added = (x * y - r[:, None] / 2 * (x * x + y * y)) / np.maximum(n, 1)[:, None]
    return r, n, added, (cluster_sums(known, cluster) > 0).sum(axis=1)


def _shared(scores: ArrayLike, truth: ArrayLike) -> tuple[Floats, Floats]:
    """Both [judges, units], NaN where either is."""
    x = np.asarray(scores, dtype=np.float64)
    y = np.broadcast_to(np.asarray(truth, dtype=np.float64), x.shape)
    both = ~(np.isnan(x) | np.isnan(y))
    return np.where(both, x, np.nan), np.where(both, y, np.nan)


def _residuals(values: Floats, group: Places, groups: int) -> Floats:
    return np.asarray(values - means_within(values, group, groups)[:, group], dtype=np.float64)


def _standard(residual: Floats, values: Floats, method: str) -> Floats:
    """Mean 0 and mean square 1 in each row; NaN throughout a row without spread."""
    size = np.fmax.reduce(np.abs(values), axis=1, initial=0.0, keepdims=True)
    cells = np.where(np.abs(residual) <= 1e-12 * size, 0.0, residual)
    if method == "spearman":
        cells = average_ranks(np.round(cells / np.where(size > 0, size, 1.0), 12))
    known = ~np.isnan(cells)
    n = known.sum(axis=1, keepdims=True)
    centred = cells - divide(np.where(known, cells, 0.0).sum(axis=1, keepdims=True), n)
    square = divide(np.where(known, centred**2, 0.0).sum(axis=1, keepdims=True), n)
    return divide(centred, np.sqrt(square))
