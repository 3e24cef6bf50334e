"""Correlation with people net of what is known for free, and what one verdict is worth in labels.

A judge whose values F have squared correlation rho^2 with people's Y brings the variance of a mean
to 1 - rho^2 N / M of that of people alone (PPI++, N of M units unlabelled). rho^2 must be net of
what is known for free: the system that wrote a text, its domain, its length.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats, average_ranks, divide
from judgelab.stats.intervals.ends import (
    FEWEST,
    LEVEL,
    NEARLY_ONE,
    cluster_sums,
    contributions,
    means_within,
    t_ends,
)
from judgelab.stats.intervals.estimate import Estimate, Estimates
from judgelab.stats.trust.agreement import Places


def partial_correlation(scores: Floats, truth: Floats, group: Places, cluster: Places) -> Estimate:
    """Correlation of what is left of both grades once the mean of their system is taken out.

    As FRANK has it (2104.13346): Pearson of the residuals from system means. The interval is t on
    Fisher's z by leaving out each cluster: it holds in .95 of the cases on 50 documents of
    SummEval, one from what each text adds, z_x z_y - r / 2 (z_x^2 + z_y^2), in .91.

    Of [units] each; group is the number of the system (all 0: the plain correlation), n counts
    texts.
    """
    both = ~np.isnan(scores) & ~np.isnan(truth)
    n = int(both.sum())
    if not n:
        return Estimate(np.nan, unscored=len(truth), clusters=0)
    systems, clusters = (np.unique(x[both], return_inverse=True)[1] for x in (group, cluster))

    def residuals(values: Floats) -> Floats:
        """From the means of systems, of mean 0 and mean square 1."""
        rest = values - means_within(values, systems)[systems]
        rest = np.where(np.abs(rest) <= 1e-12 * np.abs(values).max(), 0.0, rest)
        return divide(rest - rest.mean(), rest.std())

    x, y = residuals(scores[both]), residuals(truth[both])
    r = float((x * y).mean())
    low, high = np.tanh(t_ends(z_contributions(x, y, clusters, r), heavy=True)).tolist()
    return Estimate(r, low, high, n, len(truth) - n, clusters=int(clusters.max()) + 1)


FREE = 10  # texts that people tell from others of their system; below, a judge may see none differ


def given_system(
    values: Floats, truth: Floats, system: NDArray[np.str_], cluster: Places
) -> tuple[Estimate | None, bool]:
    """The rank correlation with people given the system, and whether rows look misaligned.

    They do where the means of three systems or more go together while within systems nothing does,
    as where one file lost its order. None of a single system, and where people say the same of all
    texts of each. Ranks first: of grades with few values ranks of residuals would hang on the
    systems' means.

    Of [units] each; NaN: not known.
    """
    both = ~np.isnan(values) & ~np.isnan(truth)
    names, group = np.unique(system[both], return_inverse=True)
    sizes = np.bincount(group)
    if len(names) < 2 or (sizes > 1).sum() < 2:
        return None, False
    one, two, cluster = average_ranks(values[both]), average_ranks(truth[both]), cluster[both]
    texts = [group == k for k in range(len(sizes))]
    # that people tell apart from what they say of most texts of the system
    free = sum(int(x.sum() - np.unique(two[x], return_counts=True)[1].max()) for x in texts)
    alike = all(np.ptp(one[x]) == 0 for x in texts)  # one grade for each system
    if not free or (alike and free < FREE):
        return None, False
    within = partial_correlation(one, two, group, cluster)
    if alike:
        return Estimate(0.0, 0.0, 0.0, within.n, clusters=within.clusters), False
    if len(sizes) < 3 or not within.low <= 0 <= within.high:
        return within, False
    whole = partial_correlation(one, two, np.zeros_like(group), cluster)
    means = np.stack([np.bincount(group, x) / sizes for x in (one, two)])
    apart = float(np.ptp(means, axis=1).min()) > 0
    together = apart and float(np.asarray(np.corrcoef(means))[0, 1]) > 0.6
    return within, whole.low > 0 and together


def z_contributions(x: Floats, y: Floats, cluster: Places, r: float) -> Floats:
    """[clusters] Fisher's z of the correlation r of x and y [units], plus what each cluster adds to
    it (the jackknife); NaN throughout where leaving out some cluster leaves no correlation.

    ``cluster``: [units] numbers from 0, each taken.
    """
    sums = cluster_sums(np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y]), cluster)
    n, *others = sums.sum(axis=1, keepdims=True) - sums
    mx, my, xx, yy, xy = (divide(each, n) for each in others)
    vx, vy = (np.where(v <= 1e-9 * s, 0.0, v) for v, s in ((xx - mx**2, xx), (yy - my**2, yy)))
    spread = np.sqrt(vx * vy)  # what is left of a variance by rounding hangs on the order of rows
    rest = divide(xy - mx * my, spread)
    z, without = (np.arctanh(np.clip(v, -NEARLY_ONE, NEARLY_ONE)) for v in (r, rest))
    return contributions(z, without)


def saving(
    truth: Floats, values: Floats, cluster: NDArray[np.intp], free: Floats | None = None
) -> Estimates:
    """rho^2 of judges [judges], the share of labels that they save at best.

    Adjusted for the number of units and of what was taken out, and 0 where the correlation is
    negative: a judge that runs backwards saves nothing as it stands. The interval is t on artanh r
    by leaving out each cluster; errors from the influence y f - (r / 2)(y^2 + f^2) held in .92 of
    the cases on 50 documents of SummEval. Where clusters hold several labelled units (all summaries
    of an article) y and f are the clusters' sums, which decide how far a mean over clusters is off:
    single texts of FRANK promise .24 of the labels where .15 is saved. NaN where what is taken out
    leaves fewer than two degrees of freedom.

    Args:
        truth: [units], NaN without a label.
        values: [judges, units].
        free: [units, columns] what is known without a judge (dummies of systems, words); taken out
            of both by least squares.
    """
    ones = np.ones((len(truth), 1))
    base = ones if free is None else np.column_stack([ones, free])
    there = ~np.isnan(truth) & ~np.isnan(values)
    rows = [
        _of_complete(np.stack([truth[at], one[at]]), base[at], cluster[at])
        for one, at in zip(values, there, strict=True)
    ]
    value, low, high = np.array(rows).reshape(-1, 3).T
    return Estimates.of(value, (low, high), there.sum(axis=1))


def _of_complete(
    both: Floats, base: Floats, cluster: NDArray[np.intp]
) -> tuple[float, float, float]:
    """Value, low and high of people and a judge, both of all units [2, units]."""
    n, rank = both.shape[1], int(np.linalg.matrix_rank(base)) if len(base) else 0
    cluster = np.unique(cluster, return_inverse=True)[1]
    groups = int(cluster.max(initial=-1)) + 1
    freedom = groups - max(1, round(rank * groups / n)) if n else 0
    if groups < FEWEST + 1 or n <= rank + 1 or freedom < 2:
        return (np.nan,) * 3
    rest = both - (base @ np.linalg.lstsq(base, both.T, rcond=None)[0]).T
    rest = cluster_sums(rest, cluster)
    spread = np.sqrt((rest**2).mean(axis=1))
    if (spread <= 1e-9 * np.maximum(np.abs(both).max(axis=1), 1e-300)).any():
        return (np.nan,) * 3
    y, f = rest / spread[:, None]
    r = float(np.clip((y * f).mean(), -NEARLY_ONE, NEARLY_ONE))
    ends = t_ends(z_contributions(f, y, np.arange(groups), r), heavy=True)
    low, high = np.tanh(ends).tolist()
    if abs(r) >= NEARLY_ONE:  # of a perfect judge so many others may be wrong
        q = 1 - ((1 - LEVEL) / 2) ** (1 / groups)
        low, high = r - q * (r + 1), r + q * (1 - r)
    adjusted = max(0.0, 1 - (1 - r**2) * freedom / (freedom - 1))
    return 0.0 if r <= 0 else adjusted, max(low, 0.0) ** 2, max(high, 0.0) ** 2


def dummies(names: NDArray[np.object_]) -> Floats:
    """[units, names - 1] which of the names a unit has; no columns for a single name."""
    levels = np.array(sorted(set(names))[1:], object)
    return np.asarray(names[:, None] == levels, np.float64)
