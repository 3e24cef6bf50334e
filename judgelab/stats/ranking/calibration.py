"""Predicted confidence of pairs of systems, and whether it happens as often as predicted.

Pairs are predicted from the annotations of the other systems. A system is in many pairs, so pairs
are far from independent: intervals are over systems. Where they resample, a pair occurs as often as
the product of how often its two systems were drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.intervals.ends import added, share_ends
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_weights, percentile_interval
from judgelab.stats.ranking.confidence import right_order
from judgelab.stats.ranking.pairs import RankedPairs
from judgelab.stats.ranking.system_bias import JudgeFit, fit_judge

Model = Literal["algorithm_1", "bias", "line"]
MODELS: tuple[Model, ...] = ("algorithm_1", "bias", "line")
"""The paper's; with the bias between systems; with that bias about the systems' own line."""


@dataclass(frozen=True)
class Predictions:
    """What was predicted for pairs of systems.

    Attributes:
        unpaired, paired: model -> [pairs] predicted confidence; NaN where the judge does not
            correlate with people on the systems it was fitted on.
        fits: [pairs] the judge behind each prediction.
    """

    unpaired: Mapping[Model, Floats]
    paired: Mapping[Model, Floats]
    fits: tuple[JudgeFit, ...]


def predict_pairs(
    human: ArrayLike,
    metric: ArrayLike,
    pairs: RankedPairs,
    items: int | None = None,
    *,
    held_out: bool = True,
    judge: JudgeFit | None = None,
) -> Predictions:
    """Confidence for every pair of systems, to be held against how often it was ranked right.

    Only the difference of a pair's human means comes from the pair; correlation, spread, bias and
    pairing come from ``judge``, else from the other systems (``held_out``), or from all.

    Args:
        human, metric: [items, systems], NaN where unscored.
        pairs: of the same scores (``ranked_pairs``).
        items: N; None for the items there are.
        judge: fitted elsewhere, to be tested on these data.
    """
    people, scores = np.asarray(human, np.float64), np.asarray(metric, np.float64)
    size, fits = items or len(people), list[JudgeFit]()
    whole = judge or fit_judge(people, scores)
    for first, second in zip(pairs.first, pairs.second, strict=True):
        others = np.delete(np.arange(people.shape[1]), [first, second])
        alone = held_out and judge is None
        fits.append(fit_judge(people[:, others], scores[:, others]) if alone else whole)
    unpaired, paired = (
        {model: predicted(model, pairs.delta, fits, size, same) for model in MODELS}
        for same in (False, True)
    )
    return Predictions(unpaired, paired, tuple(fits))


def predicted(
    model: Model, delta: Floats, fits: Sequence[JudgeFit], items: int, paired: bool
) -> Floats:
    """Confidence [pairs] for differences of human means.

    NaN where the fit does not carry it: no correlation above 0, or too few systems. Below .5 where
    system means fall as people's rise.

    Args:
        model: which errors of the judge count.
        delta: [pairs] above 0.
        fits: [pairs] the judge.
        items: N.
        paired: whether both systems answer the same items.
    """
    r, sd, shared = (
        np.array([getattr(fit, name) for fit in fits], dtype=np.float64)
        for name in ("r", "sd", "item_correlation")
    )
    usable = (r > 0) & (sd > 0)
    rated = np.where(usable, sd**2 / np.where(usable, np.minimum(r, 1.0), 1.0) ** 2, np.nan)
    slope, bias = np.ones(len(fits)), np.zeros(len(fits))
    if model == "bias":
        bias = np.array([fit.bias_sd for fit in fits])
    elif model == "line":
        slope = np.array([fit.system_slope for fit in fits])
        bias = np.array([fit.line_bias_sd for fit in fits])
    return right_order(delta * slope, rated, items, shared if paired else 0.0, bias)


EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Lower edges of the bins of predicted confidence; the last one holds 1."""


@dataclass(frozen=True)
class Outcomes:
    """Predicted and observed probabilities of pairs of systems.

    Attributes:
        predicted: [pairs], NaN where nothing was predicted: such pairs are left out and counted.
        observed: [pairs] in [0, 1].
        first, second: [pairs] numbers of the systems; the same system has one number wherever it
            occurs (under several judges, say).
    """

    predicted: Floats
    observed: Floats
    first: NDArray[np.int64]
    second: NDArray[np.int64]


def calibration_bins(data: Outcomes) -> list[tuple[float, float, float, Estimate]]:
    """(low edge, high edge, mean prediction, mean outcome) of the bins that are not empty.

    A prediction lies in [low edge, high edge), in the last bin also on its high edge. The outcome's
    interval is over systems; ``n`` pairs, ``clusters`` systems.
    """
    group = _bins(data)
    observed = pair_means(data.observed, group, data.first, data.second)
    edges = (*EDGES, 1.0)
    return [
        (edges[k], edges[k + 1], float(data.predicted[group == k].mean()), mean)
        for k, mean in observed.items()
    ]


def pair_means(
    values: Floats,
    group: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> dict[int, Estimate]:
    """Group -> mean of its pairs, with ``n`` pairs, ``clusters`` systems and an interval over them.

    Args:
        values: [pairs] within 0 and 1, no NaN.
        group: [pairs]; pairs of a negative group are left out; one of two systems has no interval.
        first, second: [pairs] numbers of the systems.

    The interval leaves out each system with all its pairs in turn (``share_ends``); in simulations
    of 6 to 30 systems it holds the truth in .92 to .97 (in .99 of pairs that are right or wrong
    among 6 systems), the percentile bootstrap over systems in .82 to .93.
    """
    found = {}
    for k in np.unique(group[group >= 0]):
        inside = group == k
        mean = float(values[inside].mean())
        without = _without_each_system(values[inside], first[inside], second[inside])
        low, high = map(float, share_ends(added(mean, without)))
        n, systems = int(inside.sum()), len(without)
        found[int(k)] = Estimate(mean, low, high, n, clusters=systems)
    return found


def _without_each_system(
    values: Floats, first: NDArray[np.int64], second: NDArray[np.int64]
) -> Floats:
    """[systems] mean of the pairs that a system is not in; NaN where it is in all of them."""
    pairs = np.arange(len(values))
    names = np.unique([first, second])
    inside = np.zeros((len(names), len(values)))
    for side in (first, second):
        inside[np.searchsorted(names, side), pairs] = 1.0
    return divide(values.sum() - inside @ values, len(values) - inside.sum(axis=1))


def calibration_error(data: Outcomes, draws: int = 2000, seed: int = 0) -> tuple[Estimate, Floats]:
    """Mean over pairs of |predicted - observed| between the means of their bin.

    Resampled values lie above the true one on average, since a bin's mean is off in some
    direction in every resample: compare two predictions by the difference of their resamples,
    which one seed pairs, rather than by their intervals.

    Returns:
        The error, ``unscored`` pairs without a prediction; and its resamples [draws].
    """
    group = _bins(data)
    known = group >= 0
    first, second = data.first[known], data.second[known]
    off, group = data.predicted[known] - data.observed[known], group[known]
    systems, place = np.unique([first, second], return_inverse=True)
    drawn = item_weights(len(systems), draws, seed) if len(systems) else np.zeros((draws, 0))
    # judges have pairs of systems in common: each pair of systems is weighted once
    code = np.ravel_multi_index(tuple(place.reshape(2, -1)), (max(len(systems), 1),) * 2)
    kinds, kind = np.unique(code, return_inverse=True)
    weights = drawn[:, kinds // max(len(systems), 1)] * drawn[:, kinds % max(len(systems), 1)]

    def total(values: Floats | None, inside: NDArray[np.bool_]) -> Floats:
        """[draws] weighted sum of the values (counts for None) of the pairs inside."""
        sums = np.bincount(kind[inside], weights=values, minlength=weights.shape[1])
        return np.asarray(weights @ sums, dtype=np.float64)

    bins = [group == k for k in range(len(EDGES))]
    samples = sum(np.abs(total(off[inside], inside)) for inside in bins)
    samples = divide(samples, total(None, group >= 0))
    low, high = percentile_interval(samples)
    n = len(off)
    error = sum(abs(float(off[inside].sum())) for inside in bins) / n if n else float("nan")
    unscored = len(known) - n
    return Estimate(error, low, high, n, unscored, clusters=len(systems)), samples


def _bins(data: Outcomes) -> NDArray[np.int64]:
    """[pairs] number of the prediction's bin, -1 without one."""
    place = np.searchsorted(EDGES, data.predicted, side="right") - 1
    return np.where(np.isnan(data.predicted), -1, place)
