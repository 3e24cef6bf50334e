"""Ends of intervals from what each item adds to an estimate: no draws, no seed, many sets at once.

An estimate is written as a mean over items: an item's own value where the statistic is a mean,
else the estimate plus what the item adds to it (its influence, or what leaving it out takes away).
Which ends cover how often, beside the percentile bootstrap, is the table of experiments/coverage,
made with these very functions.

Units of one cluster (an item, a document) are not independent: what they add is summed within
clusters first (Liang and Zeger 1986), V = G / (G - 1) * sum over clusters of (sum of influences)^2,
with Student's t of G - 1 degrees.

All take ``values`` [..., items], NaN where unscored, and return (low, high) [...]; NaN with fewer
than three scored items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from judgelab.stats.intervals.arrays import ROUNDING, Floats, divide

LEVEL = 0.95
FEWEST = 3  # items below which the spread between items is not known well enough for any interval

TIED = 1 / 3  # from this share of equal items on, a sample's skewness says little of its source
SKEWEST = 0.4
"""Of skewness / sqrt(items): above, the cubic is so flat that one item moves an end by many
standard errors, and the coverage is no better for it."""
NEARLY_ONE = 1 - 1e-9  # correlations are cut off here before Fisher's z, which is infinite at 1

Ends = tuple[Floats, Floats]


class _Sample:
    """Count, mean, spread and centred values of the scored items of every row."""

    def __init__(self, values: ArrayLike) -> None:
        self.cells = np.asarray(values, dtype=np.float64)
        has_score = ~np.isnan(self.cells)
        n = has_score.sum(axis=-1)
        self.n = np.where(n < FEWEST, np.nan, n)
        with_zeros = np.where(has_score, self.cells, 0.0)
        self.mean = divide(with_zeros.sum(axis=-1), self.n)
        self.centred = np.where(has_score, self.cells - self.mean[..., None], 0.0)
        self.variance = divide((self.centred**2).sum(axis=-1), self.n - 1)
        largest = np.abs(with_zeros).max(axis=-1, initial=0.0)
        self.variance[self.variance <= (ROUNDING * largest) ** 2] = 0.0
        self.error = np.sqrt(self.variance / self.n)
        self.known_error = np.where(self.error > 0, self.error, np.nan)  # NaN without spread

    def quantile(self, level: float | Floats, heavy: bool = False) -> Floats:
        """Student's t; ``heavy``: with the degrees of freedom that such a kurtosis leaves.

        The variance of a sample variance is (kurtosis - 1) / n of its square, of a chi-square with
        f degrees of freedom 2 / f; at most n - 1.
        """
        freedom = self.n - 1
        if heavy:
            squares = (self.centred**2).sum(axis=-1)
            kurtosis = divide(self.n * (self.centred**4).sum(axis=-1), squares**2)
            freedom = np.fmin(freedom, divide(2 * self.n, kurtosis - 1))
        return np.asarray(stdtrit(freedom, (1 + level) / 2), dtype=np.float64)

    def skew(self) -> Floats:
        """[...] skewness over the root of the number of items, within limits."""
        moment = np.sqrt(self.variance * divide(self.n - 1, self.n))
        skewness = divide((self.centred**3).sum(axis=-1), self.n * moment**3)
        return np.asarray(np.clip(skewness / np.sqrt(self.n), -SKEWEST, SKEWEST))

    def has_ties(self) -> NDArray[np.bool_]:
        """[...] whether so many items share the most frequent value that ``skew`` says little."""
        values = np.sort(self.cells, axis=-1)  # NaN last
        scale = np.fmax.reduce(np.abs(values), axis=-1, initial=0.0, keepdims=True)
        new = np.ones(values.shape, dtype=np.bool_)
        new[..., 1:] = ~(np.diff(values, axis=-1) <= ROUNDING * scale)
        places = np.arange(values.shape[-1])
        first = np.maximum.accumulate(np.where(new, places, 0), axis=-1)
        return np.asarray((places - first + 1).max(axis=-1, initial=0) >= TIED * self.n)


def t_ends(values: ArrayLike, *, heavy: bool = False) -> Ends:
    """Mean -+ t standard errors; NaN where all items are equal: without spread nothing is known.

    ``heavy``: with the degrees of freedom that the items' kurtosis leaves, for what few items
    decide (a coefficient, from what each item adds to it).
    """
    sample = _Sample(values)
    half = sample.quantile(LEVEL, heavy) * sample.known_error
    return sample.mean - half, sample.mean + half


def t_p(values: ArrayLike) -> Floats:
    """[...] two-sided p of a mean of 0, by ``t_ends``; without spread 1 of zeros, else NaN."""
    sample = _Sample(values)
    p = 2 * stdtr(sample.n - 1, -np.abs(divide(sample.mean, sample.error)))
    return np.where((sample.variance == 0) & (sample.mean == 0), 1.0, p)


def mean_ends(
    values: ArrayLike, level: float | Floats = LEVEL, bounds: tuple[float, float] | None = None
) -> Ends:
    """Student's t with Hall's correction for skewness, for a mean of values without limits.

    Hall (1992) transforms t by a cubic in which the third moment no longer shows, and transforms
    its quantiles back. Where at least a third of the items are equal (scores in few grades,
    changes that leave most items as they were) the sample's own skewness says little, and either
    end is the farther one of Hall's and Student's. With ``bounds``, the least and largest value
    there can be, items that are all equal have ends, too (``_with_bounds``), else none.
    """
    sample = _Sample(values)
    t, error, k, tied = sample.quantile(level), sample.known_error, sample.skew(), sample.has_ties()
    low, high = sample.mean - _hall(t, k) * error, sample.mean - _hall(-t, k) * error
    low = np.where(tied, np.minimum(low, sample.mean - t * error), low)
    high = np.where(tied, np.maximum(high, sample.mean + t * error), high)
    return _with_bounds(sample, (low, high), level, bounds) if bounds else (low, high)


def above_p(values: ArrayLike, least: float) -> Floats:
    """[...] two-sided p of a mean of 0, from values [..., items]; 1 where the mean is not above 0.

    At level 1 - p the lower end of ``mean_ends`` is 0. ``least`` is the least value there can be.
    """
    sample = _Sample(values)
    t, k = sample.mean / sample.known_error, sample.skew()
    hall = t + k * t**2 / 3 + k**2 * t**3 / 27 + k / 6
    p = 2 * stdtr(sample.n - 1, -np.where(sample.has_ties(), np.minimum(hall, t), hall))
    rest = np.clip(1 - divide(sample.mean, sample.mean - least), 0.0, 1.0)
    p = np.where(sample.variance == 0, 2 * rest**sample.n, p)
    return np.asarray(np.where(np.nan_to_num(sample.mean) > 0, np.fmin(p, 1.0), 1.0))


def mean_p(values: ArrayLike, bounds: tuple[float, float] | None = None) -> Floats:
    """[...] two-sided p of a mean of 0: below 1 - level exactly where ``mean_ends`` leave out 0.

    Where all items are equal and there are no bounds, hence no interval: of the sign test.
    """
    array = np.asarray(values, dtype=np.float64)
    sample = _Sample(array)
    least, most = bounds or (-1.0, 1.0)
    p = np.where(sample.mean > 0, above_p(array, least), above_p(-array, -most))
    if bounds is None:
        signs = np.where(sample.mean == 0, 1.0, 2.0 ** (1 - sample.n))
        p = np.where(sample.variance == 0, signs, p)
    return np.where(np.isnan(sample.n), np.nan, p)


def share_p(
    values: ArrayLike, null: float = 0.5, bounds: tuple[float, float] = (0.0, 1.0)
) -> Floats:
    """[...] two-sided p of ``null``: below 1 - level exactly where ``share_ends`` leave it out."""
    sample = _Sample(values)
    least, most = bounds
    off, room = sample.mean - null, (sample.mean - least) * (most - sample.mean)
    # Wilson's error is that of a share which is the null, n_eff being the sample's
    error = sample.error * np.sqrt(divide((null - least) * (most - null), np.maximum(room, 0.0)))
    p = 2 * stdtr(sample.n - 1, -np.abs(divide(off, error)))
    above = divide(null - least, sample.mean - least)
    below = divide(most - null, most - sample.mean)
    rest = np.where(off > 0, above, below)
    return np.where(sample.variance == 0, np.minimum(1.0, 2 * rest**sample.n), p)


def share_ends(
    values: ArrayLike,
    level: float | Floats = LEVEL,
    bounds: tuple[float, float] = (0.0, 1.0),
    most: float | Floats = np.inf,
) -> Ends:
    """Wilson's interval for a mean of values with limits: shares, AUC, accuracy, correlations.

    The variance of such a mean is taken as m (1 - m) / n_eff, as that of a share: n_eff is the
    number of yes-or-no items that would vary as much as these items do, at most ``most`` times as
    many. With t in place of the normal quantile; never outside the ``bounds``, the least and
    largest value there can be, and not symmetric near them. Items all equal: ``_with_bounds``.
    """
    sample = _Sample(values)
    room = np.maximum((sample.mean - bounds[0]) * (bounds[1] - sample.mean), 0.0)
    error = np.fmax(sample.error, np.sqrt(room / (most * sample.n)))
    ends = _wilson(sample.mean, sample.quantile(level) * error, bounds)
    return _with_bounds(sample, ends, level, bounds)


def fisher_ends(value: ArrayLike, without: ArrayLike) -> Ends:
    """Of a correlation [...], from leaving out each item in turn [..., items]: t on Fisher's z.

    A few items can weigh much in a correlation of skewed scores: the degrees of freedom go by the
    kurtosis of what the items add. Where leaving out an item changes nothing: ``_with_bounds``.
    """
    r, rest = np.asarray(value, dtype=np.float64), np.asarray(without, dtype=np.float64)
    z, z_rest = (np.arctanh(np.clip(x, -NEARLY_ONE, NEARLY_ONE)) for x in (r, rest))
    sample = _Sample(contributions(z, z_rest))
    half = sample.quantile(LEVEL, heavy=True) * sample.error
    ends = np.tanh(sample.mean - half), np.tanh(sample.mean + half)
    return _with_bounds(_Sample(contributions(r, rest)), ends, LEVEL, (-1.0, 1.0))


def ratio_ends(value: ArrayLike, without: ArrayLike) -> Ends:
    """Of a mean in standard deviations [...], from leaving out each item in turn [..., items].

    Far from 0 its error is that of the deviation and grows with it: t on asinh(value), with the
    degrees of freedom that the kurtosis of what the items add leaves. Hall's correction in its
    place let one interval in three of an effect of 4 on 12 items hold 0. NaN without spread.
    """
    whole, rest = (np.arcsinh(np.asarray(x, dtype=np.float64)) for x in (value, without))
    low, high = t_ends(contributions(whole, rest), heavy=True)
    return np.sinh(low), np.sinh(high)


def contributions(value: ArrayLike, without: ArrayLike) -> Floats:
    """What each item adds [..., items], from the estimate [...] without each: mean is the estimate.

    The squared standard error of their mean is the jackknife's. NaN throughout a set in which
    leaving out some item leaves no estimate.
    """
    rest = np.asarray(without, dtype=np.float64)
    whole = np.asarray(value, dtype=np.float64)[..., None]
    return np.asarray(whole + (rest.shape[-1] - 1) * (rest.mean(axis=-1, keepdims=True) - rest))


def of_ratio(total: ArrayLike, count: ArrayLike, among: ArrayLike | None = None) -> Floats:
    """What each item adds to sum(total) / sum(count) [..., items].

    NaN for items that are not ``among`` those sampled, by default those with a count.
    """
    top, bottom = np.asarray(total, dtype=np.float64), np.asarray(count, dtype=np.float64)
    sampled = np.asarray(bottom > 0 if among is None else among, dtype=np.bool_)
    whole = bottom.sum(axis=-1, keepdims=True)
    ratio = divide(top.sum(axis=-1, keepdims=True), whole)
    off = divide((top - ratio * bottom) * sampled.sum(axis=-1, keepdims=True), whole)
    return np.where(sampled, ratio + off, np.nan)


def cluster_sums(influence: ArrayLike, cluster: NDArray[np.intp]) -> Floats:
    """[..., clusters] influences [..., units] added within ``cluster`` [units], numbers from 0; NaN
    counts as 0."""
    values = np.asarray(influence, dtype=np.float64)
    values = np.where(np.isnan(values), 0.0, values)
    count = int(cluster.max(initial=-1)) + 1
    steps = np.diff(cluster)
    if count == len(cluster) and (steps == 1).all():
        return values  # every unit is its own cluster
    flat = values.reshape(-1, values.shape[-1])
    sums = np.zeros((len(flat), count))
    if (steps < 0).any():
        order = np.argsort(cluster, kind="stable")
        flat, cluster, steps = flat[:, order], cluster[order], np.diff(cluster[order])
    if len(cluster):
        starts = np.flatnonzero(np.r_[True, steps > 0])
        sums[:, cluster[starts]] = np.add.reduceat(flat, starts, axis=1)
    return np.asarray(sums.reshape(*values.shape[:-1], count), dtype=np.float64)


def t_interval(value: ArrayLike, error: ArrayLike, groups: ArrayLike) -> Ends:
    """Ends of value -+ t(G - 1) errors."""
    freedom = np.asarray(groups, dtype=np.float64) - 1
    half = stdtrit(np.maximum(freedom, 1), (1 + LEVEL) / 2) * np.asarray(error)
    return np.asarray(value) - half, np.asarray(value) + half


def means_within(values: ArrayLike, group: NDArray[np.intp]) -> Floats:
    """[..., groups] mean of what is known of [..., units] within each group; NaN without any."""
    cells = np.asarray(values, dtype=np.float64)
    return divide(cluster_sums(cells, group), cluster_sums(~np.isnan(cells), group))


def _wilson(mean: Floats, half: Floats, bounds: tuple[float, float]) -> Ends:
    """From the half width of Student's interval; without a spread the mean itself."""
    least, width = bounds[0], bounds[1] - bounds[0]
    share = (mean - least) / width
    room = np.maximum(share * (1 - share), 0.0)
    with np.errstate(invalid="ignore"):  # no half width: no ends
        k = np.where(half > 0, divide((half / width) ** 2, room), 0.0 * half)
        centre, off = (share + k / 2) / (1 + k), np.sqrt(room * k + k * k / 4) / (1 + k)
    return least + width * (centre - off), least + width * (centre + off)


def _hall(q: Floats, k: Floats) -> Floats:
    """Back from Hall's T + k T^2 / 3 + k^2 T^3 / 27 + k / 6 = q to T."""
    flat = np.abs(k) < 1e-9
    safe = np.where(flat, 1.0, k)
    return np.where(flat, q, 3 / safe * (np.cbrt(1 + safe * (q - safe / 6)) - 1))


def _with_bounds(
    sample: _Sample, ends: Ends, level: float | Floats, bounds: tuple[float, float]
) -> Ends:
    """Within bounds; where all n items have one value a share q of all items may have others.

    q = 1 - ((1 - level) / 2)^(1 / n), which is Clopper and Pearson's bound (the rule of three:
    .26 of 12 items, .12 of 30, .04 of 100); these others may lie at either bound.
    """
    q, alike = 1 - ((1 - level) / 2) ** (1 / sample.n), sample.variance == 0
    sides = zip(ends, (sample.mean + q * (bound - sample.mean) for bound in bounds), strict=True)
    low, high = (np.clip(np.where(alike, far, end), *bounds) for end, far in sides)
    return low, high
