"""What a discernment score is worth: judges with shuffled labels, and other items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.discernment.score import Combine, combined, level_balanced, metric_weights
from judgelab.stats.discernment.wilcoxon import (
    Method,
    ZeroMethod,
    log_p_of,
    signed_rank_log_p,
    signed_ranks,
    tidy,
)
from judgelab.stats.intervals.arrays import Floats, Mask, checked, checked_pair
from judgelab.stats.intervals.bootstrap import item_draws

BLOCK = 2_000_000  # differences ranked at a time: some 100 MB


@dataclass(frozen=True)
class How:
    """How a discernment score is made: see ``discernment``."""

    zero_method: ZeroMethod = "wilcox"
    combine: Combine = "harmonic"
    method: Method = "auto"


@dataclass(frozen=True)
class DiscernmentThreshold:
    """What scores of a judge are held against.

    Attributes:
        d, d_ew: what ``level`` of the judges with shuffled labels reach; a judge that sees the
            perturbation lies above. NaN where nothing is scored.
    """

    d: float
    d_ew: float


def calibrate(
    original: ArrayLike,
    perturbed: ArrayLike,
    weights: Sequence[float] | None = None,
    how: How = How(),
    *,
    replicates: int = 2000,
    level: float = 0.05,
    seed: int = 0,
) -> DiscernmentThreshold:
    """The scores that ``level`` of label-shuffled judges reach on one perturbation.

    Which of an item's two texts was the perturbed one is drawn anew for each item, for all
    metrics together, so ties, zeros and correlation between metrics stay as they are: what is
    nominally 1 becomes what these ratings allow.

    Args:
        original, perturbed, weights: as for ``discernment``.
        how: as the score itself was made.
        replicates: shuffled judges.
        level: share of them that reach the threshold.

    Raises:
        ValueError: as for ``discernment``, or no replicates.
    """
    first, second = checked_pair(original, perturbed, 2, "A calibration")
    if replicates < 1:
        raise ValueError(f"A calibration needs replicates, got {replicates}.")
    differences = tidy((first - second).T)
    ranked = signed_ranks(differences, how.zero_method)
    kept = np.random.default_rng((seed, 2)).random((first.shape[0], replicates)) < 0.5
    rising = ranked.ranks * (differences > 0), ranked.ranks * (differences < 0)
    found = rising[0] @ kept + rising[1] @ ~kept + ranked.given[:, None]
    log_p = log_p_of(ranked, found, how.method).T
    d, d_ew = combined(log_p, metric_weights(first.shape[1], weights), how.combine)
    return DiscernmentThreshold(_reached(d, level), _reached(d_ew, level))


@dataclass(frozen=True)
class SummaryThresholds:
    """Thresholds of a judge's level-balanced average and of its minimum over perturbations."""

    average: DiscernmentThreshold
    minimum: DiscernmentThreshold


def calibrate_summary(
    ratings: ArrayLike,
    weights: Sequence[Sequence[float] | None],
    levels: Sequence[str],
    how: How = How(),
    *,
    replicates: int = 1000,
    level: float = 0.05,
    seed: int = 0,
) -> SummaryThresholds:
    """What averages and minima of judges reach that see nothing at all.

    The labels of all texts of an item, the original among them, are shuffled together: perturbed
    texts share their original, which a shuffle of one pair at a time would not keep. They are
    shuffled among the texts that were scored on a metric; a missing score stays where it is, so
    that thresholds rest on the items that the figures rest on.

    Args:
        ratings: [1 + perturbations, items, metrics], the original first; NaN where unscored.
        weights: one set for each perturbation.
        levels: one for each perturbation.

    Raises:
        ValueError: the shapes do not fit, or no replicates.
    """
    given = checked(ratings, 3, "A calibration")
    variants, items, metrics = given.shape
    if replicates < 1 or variants != len(weights) + 1:
        raise ValueError(
            f"A calibration needs replicates and a perturbation for each of the {len(weights)} "
            f"weights, got {replicates} and {variants - 1}."
        )
    shares = [metric_weights(metrics, own) for own in weights]
    rng = np.random.default_rng((seed, 3))
    block = max(1, BLOCK // max(given.size, 1))
    scored = ~np.isnan(given)
    found: list[tuple[Floats, Floats]] = []
    for start in range(0, replicates, block):
        count = min(block, replicates - start)
        taken = _shuffles(rng.random((count, variants, items)), scored)
        shuffled = np.take_along_axis(given[None], taken, axis=1)
        differences = np.moveaxis(shuffled[:, :1] - shuffled[:, 1:], 2, 3)
        log_p = signed_rank_log_p(differences, how.zero_method, how.method)
        pairs = [combined(log_p[:, i], own, how.combine) for i, own in enumerate(shares)]
        found.append((np.stack([d for d, _ in pairs], -1), np.stack([e for _, e in pairs], -1)))
    both = [np.concatenate([one[k] for one in found]) for k in (0, 1)]
    average = [_reached(level_balanced(values, levels), level) for values in both]
    minimum = [_reached(values.min(axis=-1), level) for values in both]
    return SummaryThresholds(DiscernmentThreshold(*average), DiscernmentThreshold(*minimum))


def resampled(
    original: ArrayLike,
    perturbed: ArrayLike,
    weights: Sequence[float] | None = None,
    how: How = How(),
    *,
    draws: int = 1000,
    seed: int = 0,
) -> tuple[Floats, Floats]:
    """D and D^EW [draws] on items drawn with replacement.

    The same seed draws the same items for every perturbation and judge, so that averages over
    perturbations and differences between judges can be formed draw by draw. D is a p value's
    logarithm and itself grows with noise: on a judge that sees nothing the interval is wide and
    lies above 0. It says how far D moves with the items, and tests nothing.

    Raises:
        ValueError: as for ``discernment``, or no draws.
    """
    first, second = checked_pair(original, perturbed, 2, "A bootstrap")
    items, metrics = first.shape
    drawn = item_draws(items, draws, seed)
    differences = first - second
    share = metric_weights(metrics, weights)
    block = max(1, BLOCK // max(differences.size, 1))
    parts = []
    for start in range(0, draws, block):
        some = np.moveaxis(differences[drawn[start : start + block]], 1, 2)
        log_p = signed_rank_log_p(some, how.zero_method, how.method)
        parts.append(combined(log_p, share, how.combine))
    return np.concatenate([d for d, _ in parts]), np.concatenate([e for _, e in parts])


def _shuffles(keys: Floats, scored: Mask) -> NDArray[np.int64]:
    """Which variant's score stands where: [count, variants, items, metrics, or 1 for all alike].

    Scored variants change places in the order of ``keys`` [count, variants, items], in the same
    order for all metrics; the others of ``scored`` [variants, items, metrics] stay.
    """
    alike = bool((scored == scored[..., :1]).all())
    made = []
    for there in np.moveaxis(scored[..., :1] if alike else scored, -1, 0):
        order = np.argsort(np.where(there, keys, np.inf), axis=1)
        place = np.broadcast_to(np.maximum(np.cumsum(there, axis=0) - 1, 0), keys.shape)
        own = np.arange(len(there))[:, None]
        made.append(np.where(there, np.take_along_axis(order, place, axis=1), own))
    return np.stack(made, axis=-1)


def _reached(values: Floats, level: float) -> float:
    """The value that ``level`` of all lie at or above; NaN where a value is unknown."""
    if np.isnan(values).any():
        return float("nan")
    return float(np.quantile(values, 1 - level, method="higher"))
