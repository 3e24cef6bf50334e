"""Pairs of systems: how often a metric ranks them as people do, and whether that was predicted.

The empirical side of the ranking-confidence paper (section 3, figures 5 and 6). A system is in many
pairs, so intervals are over systems; where they resample, a pair occurs as often as the product of
how often its two systems were drawn. NaN is unscored; shapes other than named, and infinities, are
a ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from judgelab.stats.intervals.arrays import (
    ROUNDING,
    Floats,
    check_array,
    check_pair,
    divide,
    row_means,
)
from judgelab.stats.intervals.ends import contributions, share_ends
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_weights, percentile_interval
from judgelab.stats.ranking.confidence import right_order
from judgelab.stats.ranking.system_bias import MODELS, JudgeFit, Model, fit_judge

Numbers = NDArray[np.int64]

AT_ONCE = 1 << 18  # items that resamples draw in one call: many are fast, all may be gigabytes


@dataclass(frozen=True)
class RankedPairs:
    """Every pair of systems [pairs] that people do not hold equal."""

    first: Numbers  # column of the system that people hold better
    second: Numbers
    delta: Floats  # difference of their human means, above 0
    # share of resamples in which the metric agrees, a tie counting one half: both systems rated on
    # the same items, or each on its own
    paired: Floats
    unpaired: Floats


def ranked_pairs(
    human: ArrayLike, metric: ArrayLike, items: int | None = None, draws: int = 2000, seed: int = 1
) -> RankedPairs:
    """Bootstrap of the metric's ranking, with the human means as the truth.

    Of scores [items, systems], NaN where unscored, and so many ``items`` (None: as there are) in
    each of the ``draws``. A system's human mean is over all its texts that people scored; one
    without any human or metric score is in no pair. Truth and resamples come from the same items:
    the share is of these texts, not of new ones.
    """
    truth, values = check_pair(human, metric, 2, "Human and metric scores")
    size = items or len(values)
    generator = np.random.default_rng(seed)
    one, other = (_resample(values, size, draws, generator) for _ in range(2))
    means, now = row_means(truth.T), row_means(values.T)
    i, j = np.triu_indices(values.shape[1], k=1)
    gap = means[i] - means[j]
    usable = (np.abs(gap) > _least(truth)) & ~np.isnan(now[i] - now[j])
    i, j, gap = i[usable], j[usable], gap[usable]
    first, second = np.where(gap > 0, i, j), np.where(gap > 0, j, i)
    return RankedPairs(
        first,
        second,
        np.abs(gap),
        _agreeing(one[:, first] - one[:, second], _least(values)),
        _agreeing(one[:, first] - other[:, second], _least(values)),
    )


def _least(values: Floats) -> float:
    """Up to this difference means are equal but for rounding."""
    return float(ROUNDING * np.abs(np.nan_to_num(values)).max(initial=0.0))


def _resample(values: Floats, size: int, draws: int, generator: np.random.Generator) -> Floats:
    """[draws, systems] means over so many items drawn with replacement."""
    n, step = len(values), max(1, AT_ONCE // size)
    rows = list[NDArray[np.intp]]()
    for k in (min(step, draws - start) for start in range(0, draws, step)):
        cells = generator.integers(0, n, (k, size)) + n * np.arange(k)[:, None]
        rows.append(np.bincount(cells.ravel(), minlength=k * n).reshape(k, n))
    counts = np.concatenate(rows).astype(np.float64)
    has_score = ~np.isnan(values)
    return divide(counts @ np.where(has_score, values, 0.0), counts @ has_score.astype(np.float64))


def _agreeing(gaps: Floats, least: float) -> Floats:
    """Share of rows above 0; a tie (no more than ``least``), or a row without both, is a half."""
    above, below = (gaps > least).mean(axis=0), (gaps < -least).mean(axis=0)
    return np.asarray((1 + above - below) / 2, dtype=np.float64)


@dataclass(frozen=True)
class OrderedPairs:
    """Every two systems with shared items [pairs], the one with the higher mean first."""

    first: Numbers  # columns
    second: Numbers
    gap: Floats  # mean difference over the items that both were scored on, metric units, 0 or more
    shared: Numbers  # number of these items
    # confidence that the same metric would keep the order on all items of the kind: only the
    # sampling of items is in doubt
    sampled: Floats
    # confidence that people have the same order: an error that each system's scores share is in
    # doubt too
    agreed: Floats


def ordered_pairs(metric: ArrayLike, bias_sd: float = 0.0) -> OrderedPairs:
    """Student's t on the paired differences of every two systems; a tie is .5.

    Where all differences are equal they show no spread, and t is not defined: then it is the sign
    test, 1 - 2^-n for n items that all say the same.

    The metric's noise is part of the spread of the differences, so no correlation with people is
    needed; an error shared by all texts of a system, which the scores cannot show, adds
    2 bias_sd^2 to the variance of a difference of means. All true differences count as equally
    likely beforehand, and multiple comparison is not corrected for: where systems are close to one
    another, orders are less sure than it says.

    Of scores [items, systems], NaN where unscored; ``bias_sd`` is over systems, in *metric* units.
    """
    values = check_array(metric, 2, "Metric scores")
    i, j = np.triu_indices(values.shape[1], k=1)
    apart = values[:, i] - values[:, j]
    shared = (~np.isnan(apart)).sum(axis=0)
    usable = shared >= 2
    i, j, apart, shared = i[usable], j[usable], apart[:, usable], shared[usable]
    gap = row_means(apart.T)
    variance = row_means(((apart - gap) ** 2).T) / (shared - 1)
    # sums of equal scores differ in their last digits: neither a gap nor a spread
    least = _least(values)
    turned, size = gap < 0, np.where(np.abs(gap) > least, np.abs(gap), 0.0)
    variance = np.where(variance > least**2, variance, 0.0)
    sampled = _sure(size, variance, shared)
    return OrderedPairs(
        np.where(turned, j, i),
        np.where(turned, i, j),
        size,
        shared,
        sampled,
        np.minimum(sampled, _sure(size, variance + 2 * bias_sd**2, shared)),
    )


def _sure(gap: Floats, variance: Floats, shared: Numbers) -> Floats:
    z = divide(gap, np.sqrt(variance))
    alike = np.where(gap > 0, 1 - 0.5**shared, 0.5)
    return np.asarray(np.where(np.isnan(z), alike, stdtr(shared - 1, z)), dtype=np.float64)


Predictions = Mapping[tuple[str, Model], Floats]  # (unpaired or paired, model) -> [pairs]


def predict_pairs(
    human: ArrayLike,
    metric: ArrayLike,
    pairs: RankedPairs,
    items: int | None = None,
    judge: JudgeFit | None = None,
) -> Predictions:
    """Confidence for every pair of systems, to be held against how often it was ranked right.

    Only the difference of a pair's human means comes from the pair; correlation, spread, bias and
    pairing come from ``judge``, by default as fitted on the other systems. Other arguments as of
    ``ranked_pairs``, of the same scores.
    """
    people, scores = np.asarray(human, np.float64), np.asarray(metric, np.float64)
    fits = [
        judge or fit_judge(*(np.delete(side, pair, axis=1) for side in (people, scores)))
        for pair in zip(pairs.first, pairs.second, strict=True)
    ]
    return {
        (kind, model): predict(model, pairs.delta, fits, items or len(people), kind == "paired")
        for kind, model in product(("unpaired", "paired"), MODELS)
    }


def predict(
    model: Model, delta: Floats, fits: Sequence[JudgeFit], items: int, paired: bool
) -> Floats:
    """Confidence [pairs] for differences of human means.

    NaN where there is no correlation above 0, or too few systems. Below .5 where system means fall
    as people's rise. ``model``: which errors of the judge count; ``delta`` [pairs] is above 0, and
    ``fits`` [pairs] are the judge; ``paired``: whether both systems answer the same items.
    """
    rows = [
        (
            fit.sd**2 / min(fit.r, 1.0) ** 2 if fit.r > 0 else np.nan,
            *fit.system_error(model),
            fit.item_correlation if paired else 0.0,
        )
        for fit in fits
    ]
    variance, slope, bias, shared = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    return right_order(delta * slope, variance, items, shared, bias)


EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Lower edges of the bins of predicted confidence; the last one holds 1."""


@dataclass(frozen=True)
class Outcomes:
    """Predicted and observed probabilities of pairs of systems [pairs].

    A system has one number wherever it occurs (under several judges, say).
    """

    predicted: Floats  # NaN where nothing was predicted: such pairs are left out and counted
    observed: Floats
    first: Numbers
    second: Numbers


def pair_means(
    values: Floats, group: Numbers, first: Numbers, second: Numbers
) -> dict[int, Estimate]:
    """Group -> mean of its pairs, with ``n`` pairs, ``clusters`` systems and an interval over them.

    All arrays are [pairs]: values within 0 and 1, no NaN; groups, of which a negative one is left
    out; numbers of the systems. The interval leaves out each system with all its pairs in turn
    (``share_ends``); in simulations of 6 to 30 systems it holds the truth in .92 to .97, the
    percentile bootstrap in .82 to .93. A group of two systems has none.
    """
    means = {}
    for k in np.unique(group[group >= 0]):
        own, one, other = (x[group == k] for x in (values, first, second))
        names, n, mean = np.unique([one, other])[:, None], len(own), float(own.mean())
        inside = ((names == one) | (names == other)).astype(np.float64)  # [systems, pairs]
        without = divide(own.sum() - inside @ own, n - inside.sum(axis=1))
        low, high = map(float, share_ends(contributions(mean, without)))
        means[int(k)] = Estimate(mean, low, high, n, clusters=len(names))
    return means


def calibration_error(data: Outcomes, draws: int = 2000, seed: int = 0) -> tuple[Estimate, Floats]:
    """Mean over pairs of |predicted - observed| between the means of their bin (``unscored``: pairs
    without a prediction), and its resamples [draws], which lie above it on average: compare two
    predictions by the difference of their resamples, which one seed pairs.
    """
    usable = ~np.isnan(data.predicted)
    n, unscored = int(usable.sum()), int((~usable).sum())
    if not n:
        return Estimate(np.nan, unscored=unscored, clusters=0), np.full(draws, np.nan)
    systems, place = np.unique([data.first[usable], data.second[usable]], return_inverse=True)
    # judges have pairs of systems in common: each pair of systems is weighted once
    kinds, kind = np.unique(place.reshape(2, -1), axis=1, return_inverse=True)
    counts = item_weights(len(systems), draws, seed)
    weights = counts[:, kinds[0]] * counts[:, kinds[1]]

    def total(values: Floats) -> Floats:
        """[draws] weighted sum of the values of the pairs."""
        return np.asarray(weights @ np.bincount(kind.ravel(), values), dtype=np.float64)

    off = data.predicted[usable] - data.observed[usable]
    group = np.searchsorted(EDGES, data.predicted[usable], side="right") - 1
    bins = [np.where(group == k, off, 0.0) for k in range(len(EDGES))]
    samples = divide(sum(np.abs(total(each)) for each in bins), total(np.ones(n)))
    error = sum(abs(float(each.sum())) for each in bins) / n
    low, high = percentile_interval(samples)
    return Estimate(error, low, high, n, unscored, clusters=len(systems)), samples
