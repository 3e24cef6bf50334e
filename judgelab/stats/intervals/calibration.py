"""Does what was predicted happen as often as predicted? With intervals over systems.

A system is in many pairs, so pairs are far from independent: intervals resample systems, and a
pair occurs as often as the product of how often its two systems were drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.intervals.bootstrap import item_weights, percentile_interval
from judgelab.stats.intervals.estimate import Estimate

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


@dataclass(frozen=True)
class CalibrationBin:
    """Pairs whose prediction lies in [low edge, high edge), the last bin with its high edge.

    Attributes:
        low, high: the edges.
        predicted: mean prediction.
        observed: mean outcome, its interval over systems; ``n`` pairs, ``clusters`` systems.
    """

    low: float
    high: float
    predicted: float
    observed: Estimate


def calibration_bins(data: Outcomes, draws: int = 2000, seed: int = 0) -> list[CalibrationBin]:
    """Mean prediction and mean outcome of the bins that are not empty."""
    place, held = _places(data)
    group = np.full(len(held), -1, dtype=np.int64)
    group[held] = place
    seen = pair_means(data.observed, group, data.first, data.second, draws, seed)
    edges = (*EDGES, 1.0)
    return [
        CalibrationBin(edges[k], edges[k + 1], float(data.predicted[group == k].mean()), observed)
        for k, observed in seen.items()
    ]


def pair_means(
    values: Floats,
    group: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    draws: int = 2000,
    seed: int = 0,
) -> dict[int, Estimate]:
    """Mean of the pairs of each group, with an interval over systems.

    Args:
        values: [pairs], no NaN.
        group: [pairs]; pairs of a negative group are left out.
        first, second: [pairs] numbers of the systems.
        draws, seed: resamples of the systems.

    Returns:
        Group -> estimate with ``n`` pairs and ``clusters`` systems, in the order of the groups;
        pairs of only two systems have no interval.
    """
    weights = _Weights(first, second, group >= 0, draws, seed)
    found = {}
    for k in np.unique(group[group >= 0]):
        inside = group == k
        samples = divide(weights.total(values, inside), weights.total(None, inside))
        systems = len(np.union1d(first[inside], second[inside]))
        value, n = float(values[inside].mean()), int(inside.sum())
        nothing = (float("nan"), float("nan"))
        low, high = percentile_interval(samples) if systems > 2 else nothing
        found[int(k)] = Estimate(value, low, high, n, clusters=systems)
    return found


def calibration_error(data: Outcomes, draws: int = 2000, seed: int = 0) -> tuple[Estimate, Floats]:
    """Mean over pairs of |predicted - observed| between the means of their bin.

    Resampled values lie above the true one on average, since a bin's mean is off in some
    direction in every resample: compare two predictions by the difference of their resamples,
    which one seed pairs, rather than by their intervals.

    Returns:
        The error, ``unscored`` pairs without a prediction; and its resamples [draws].
    """
    place, held = _places(data)
    weights = _Weights(data.first, data.second, held, draws, seed)
    off = np.where(held, data.predicted - data.observed, 0.0)
    value, samples = 0.0, np.zeros(draws)
    for k in range(len(EDGES)):
        inside = held.copy()
        inside[held] = place == k
        value += abs(float(off[inside].sum()))
        samples += np.abs(weights.total(off, inside))
    n = int(held.sum())
    samples = divide(samples, weights.total(None, held))
    systems = len(np.union1d(data.first[held], data.second[held]))
    low, high = percentile_interval(samples)
    error = value / n if n else float("nan")
    return Estimate(error, low, high, n, len(held) - n, clusters=systems), samples


def _places(data: Outcomes) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Bin of every pair that has a prediction, and which those are."""
    held = ~np.isnan(data.predicted)
    return np.searchsorted(EDGES, data.predicted[held], side="right") - 1, held


class _Weights:
    """Sums over pairs of every resample of the systems."""

    def __init__(
        self,
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        held: NDArray[np.bool_],
        draws: int,
        seed: int,
    ) -> None:
        count = 1 + int(max(first.max(initial=0), second.max(initial=0)))
        systems = np.union1d(first[held], second[held])
        drawn = np.zeros((draws, count))
        if len(systems):
            drawn[:, systems] = item_weights(len(systems), draws, seed)
        code = first * count + second
        kinds, self._kind = np.unique(code, return_inverse=True)
        self._weights = drawn[:, kinds // count] * drawn[:, kinds % count]

    def total(self, values: Floats | None, inside: NDArray[np.bool_]) -> Floats:
        """[draws] weighted sum of the values (counts for None) of the pairs inside."""
        given = None if values is None else values[inside]
        width = self._weights.shape[1]
        sums = np.bincount(self._kind[inside], weights=given, minlength=width)
        return np.asarray(self._weights @ sums, dtype=np.float64)
