"""Discernment scores: how surely a judge rates degraded texts lower (DHP paper, section 2.3), what
judges with shuffled labels reach, how a score moves with the items, and how two judges differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, logsumexp, ndtri_exp, stdtr

from judgelab.stats.discernment.wilcoxon import (
    Method,
    log_tail,
    signed_rank_log_p,
    signed_ranks,
    tidy,
)
from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.intervals.ends import contributions, share_ends, t_interval
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import holm

Combine = Literal["harmonic", "printed"]
"""How p values of several metrics become one without weights: their harmonic mean,
M / sum(1/p), or as the paper prints it, 1 / sum(1/p), which is no mean: it is smaller by the
factor M, adds ln M / ln 20 to D (.463 for four metrics), and lets a judge that rates at random
pass D > 1 in a quarter of all cases."""

UNIT = math.log(20)  # nats in one unit of D: p = .05
MOST_EFFECTIVE = 2.0  # effective items for each item, at most, in an interval of D
BLOCK = 2_000_000  # differences ranked at a time: some 100 MB


@dataclass(frozen=True)
class How:
    """How a score is made; ``combine`` concerns D without weights only."""

    combine: Combine = "harmonic"
    method: Method = "auto"


Pair = tuple[float, float]  # of D without weights, and with
Weights = Sequence[float] | None  # of metrics, adding up to 1; None weighs all alike


def combine_metrics(
    log_p: Floats, weights: Floats, combine: Combine = "harmonic"
) -> tuple[Floats, Floats]:
    """D and D^EW [...] from log p [..., metrics] (equations of section 2.3): -ln(1 / sum(w/p)) /
    ln 20, all in logarithms; metrics without weight are left out. 0 for p = 1, 1 for p = .05; NaN
    where a metric that counts has no pair of ratings."""
    equal = np.full_like(weights, 1 / len(weights) if combine == "harmonic" else 1.0)
    d, d_ew = (
        np.asarray(logsumexp(-log_p[..., own > 0], axis=-1, b=own[own > 0]) / UNIT) + 0.0
        for own in (equal, weights)
    )
    return d, d_ew


def ceiling(items: int, method: Method = "auto") -> float:
    """The largest D on so many items, where all fall; means of several metrics do not exceed it."""
    return float(-signed_rank_log_p(np.ones(items), method) / UNIT)


def metric_weights(metrics: int, weights: Weights) -> Floats:
    """The weights [metrics] as an array; equal ones for None."""
    return np.full(metrics, 1 / metrics) if weights is None else np.array(weights, np.float64)


def level_balanced(values: ArrayLike, levels: Sequence[str]) -> Floats:
    """Mean over levels of the mean within each [...] of values [..., perturbations]; NaN where one
    has no score. Section 2.3 gives no formula; this is its natural reading."""
    scores = np.asarray(values, dtype=np.float64)
    names = np.array(levels)
    means = [scores[..., names == level].mean(axis=-1) for level in dict.fromkeys(levels)]
    return np.asarray(np.mean(means, axis=0), dtype=np.float64)


def calibrate(
    differences: ArrayLike,
    weights: Weights = None,
    how: How = How(),
    *,
    replicates: int = 2000,
    seed: int = 0,
) -> Pair:
    """D and D^EW that 5 % of ``replicates`` label-shuffled judges reach on one perturbation.

    Of ratings of the originals minus those of the perturbed texts [items, metrics], NaN where
    either is unscored. Which of an item's two texts was the perturbed one is drawn anew for each
    item, for all metrics together, so ties, zeros and correlation between metrics stay as they are.
    Where there are no more ways to swap them than ``replicates``, each way counts once.
    """
    falls = tidy(differences).T
    metrics, unscored = len(falls), np.isnan(falls).all(axis=-1)
    ranks = signed_ranks(falls)
    moved = (ranks > 0).any(axis=0)  # of other items labels change nothing
    ranks, falls, items = ranks[:, moved], falls[:, moved], np.arange(np.count_nonzero(moved))
    if 2 ** len(items) <= replicates:
        unswapped = (np.arange(2 ** len(items)) >> items[:, None]) % 2 == 0
    else:
        unswapped = np.random.default_rng((seed, 2)).random((len(items), replicates)) < 0.5
    sums = (ranks * (falls > 0)) @ unswapped + (ranks * (falls < 0)) @ ~unswapped
    log_p = log_tail(ranks, sums, how.method).T
    log_p[:, unscored] = np.nan
    d, d_ew = combine_metrics(log_p, metric_weights(metrics, weights), how.combine)
    return _bar(d), _bar(d_ew)


def calibrate_summary(
    ratings: Floats,
    weights: Sequence[Weights],
    levels: Sequence[str],
    how: How = How(),
    *,
    replicates: int = 1000,
    seed: int = 0,
) -> dict[str, Pair]:
    """What level-balanced ``average`` and ``minimum`` of judges reach that see nothing at all.

    The labels of all texts of an item, the original among them, are shuffled together, as perturbed
    texts share their original; but only among the texts that were scored on a metric, so that
    thresholds are of the items that the figures are of. Of ratings [1 + perturbations, items,
    metrics], the original first, NaN where unscored; weights and levels of each perturbation.
    """
    variants, items, metrics = ratings.shape
    shares = [metric_weights(metrics, own) for own in weights]
    rng, block = np.random.default_rng((seed, 3)), max(1, BLOCK // max(ratings.size, 1))
    has_score, scores = ~np.isnan(ratings), []
    for start in range(0, replicates, block):
        count = min(block, replicates - start)
        places = _shuffles(rng.random((count, variants, items)), has_score)
        shuffled_ratings = np.take_along_axis(ratings[None], places, axis=1)
        differences = np.moveaxis(shuffled_ratings[:, :1] - shuffled_ratings[:, 1:], 2, 3)
        log_p = signed_rank_log_p(differences, how.method)
        pairs = [combine_metrics(log_p[:, i], own, how.combine) for i, own in enumerate(shares)]
        scores.append(np.moveaxis(np.array(pairs), 0, -1))
    d, d_ew = np.concatenate(scores, axis=1)  # [replicates, perturbations]
    average = _bar(level_balanced(d, levels)), _bar(level_balanced(d_ew, levels))
    return {"average": average, "minimum": (_bar(d.min(axis=-1)), _bar(d_ew.min(axis=-1)))}


def leave_one_out(
    differences: ArrayLike, weights: Weights = None, how: How = How()
) -> tuple[Floats, Floats]:
    """D on all items and without each in turn [1 + items, 2], without weights and with; and the
    largest D there is: what the ratings would give if every item fell, by as much as it moved
    (those that did not move: by the least of the others' moves). Arguments of ``calibrate``.
    Averages and minima over perturbations are formed of both before ``discernment_ends``.
    """
    falls = tidy(differences)
    moves = np.abs(falls)
    least = np.where(moves > 0, moves, np.inf).min(axis=0, initial=np.inf)
    full = np.where(moves == 0, np.where(np.isinf(least), 1.0, least), moves)
    d, most = (_without_groups(x, len(x), weights, how) for x in (falls, full))
    return d, most


def _without_groups(differences: Floats, groups: int, weights: Weights, how: How) -> Floats:
    """[1 + groups, 2] D of all items and without each group of them, without weights and with."""
    items, metrics = differences.shape
    group = np.arange(items) % groups if groups else np.arange(0)
    out = np.arange(-1, groups)[:, None] == group  # -1: of all items
    log_p = signed_rank_log_p(np.where(out[:, None], np.nan, differences.T), how.method)
    return np.stack(combine_metrics(log_p, metric_weights(metrics, weights), how.combine), axis=-1)


def discernment_ends(d: Floats, most: Floats) -> tuple[Floats, Floats]:
    """Ends [...] of D's 95 % interval: what as many other items of the kind would give.

    D is the logarithm of a p value: bounded on n items, and not normal near either end. As a normal
    deviate, in units of that of the largest D on the same items, it behaves as the share of ranks
    that fell does; that share has Wilson's interval over items (``share_ends``), whose ends are
    turned back into D. Near the largest D, where a metric can fall no further, leaving out an item
    changes little: no item counts for more than ``MOST_EFFECTIVE``. The interval says how far D
    moves with the items, and tests nothing. Of [..., 1 + items], as of ``leave_one_out``.
    """
    top, own = _deviate(most), _deviate(d)
    # 0 where no D above that of chance is possible
    part = np.where(top > 0, own / np.where(top > 0, top, 1.0), 0.0 * own)
    fell = np.clip((1 + part) / 2, 0.0, 1.0)
    low, high = share_ends(contributions(fell[..., 0], fell[..., 1:]), most=MOST_EFFECTIVE)
    ends = [-log_ndtr(-(2 * end - 1) * top[..., 0]) / UNIT for end in (low, high)]
    # D is 0 where nothing moved and where all rose, though the deviates differ.
    return np.minimum(ends[0], d[..., 0]), np.maximum(ends[1], d[..., 0])


def _deviate(d: Floats) -> Floats:
    """The standard normal deviate that is exceeded with the p of D; 0 for D = 0, nothing moved."""
    deviate = -ndtri_exp(np.where(d > 0, -d * UNIT, np.where(d == 0, -np.log(2), np.nan)))
    return np.asarray(deviate, dtype=np.float64)


def _shuffles(keys: Floats, has_score: Mask) -> NDArray[np.int64]:
    """Which variant's score stands where: [count, variants, items, metrics, or 1 for all alike].

    Scored variants change places in the order of ``keys`` [count, variants, items], in the same
    order for all metrics; the others of ``has_score`` [variants, items, metrics] stay.
    """
    alike = bool((has_score == has_score[..., :1]).all())
    places = []
    for there in np.moveaxis(has_score[..., :1] if alike else has_score, -1, 0):
        order = np.argsort(np.where(there, keys, np.inf), axis=1)
        place = np.broadcast_to(np.maximum(np.cumsum(there, axis=0) - 1, 0), keys.shape)
        own = np.arange(len(there))[:, None]
        places.append(np.where(there, np.take_along_axis(order, place, axis=1), own))
    return np.stack(places, axis=-1)


def _bar(values: Floats) -> float:
    """The value that 5 % of all lie at or above; NaN where a value is unknown."""
    return float(np.quantile(values, 0.95, method="higher"))


GROUPS = 200  # of items that are left out in turn, each item by itself up to so many
FEWEST = 6  # items on which a sign test can reach .05


class PairedD(NamedTuple):
    """Two judges: level-balanced D^EW of each on the items that both rated, and the difference."""

    first: float
    second: float
    difference: Estimate  # first minus second; p two-sided
    p_holm: float = math.nan  # adjusted for all pairs


def paired_judges(
    judges: Mapping[str, tuple[Floats, Sequence[Weights]]],
    levels: Sequence[str],
    how: How = How(),
    there: Mask | bool = True,
) -> dict[tuple[str, str], PairedD]:
    """Every two judges, on the items that both rated, with p after Holm for all pairs.

    D is no mean over items: its difference has the jackknife's error, Student's t over items left
    out in turn. Of two judges that discern alike, p fell below .05 in .00 to .08 of simulations (12
    to 100 items; least where both see nothing, as D is then cut off at 0). p is never below that of
    a sign test of as many items; below ``FEWEST`` of them, or where every item says the same, there
    is no interval.

    Args:
        judges: of each its ratings [1 + perturbations, items, metrics], the original first, NaN
            where unscored, and the weights of each perturbation.
        there: [perturbations, items] where there is a perturbed text.
    """
    rated_items = {name: _rated_items(*one, there) for name, one in judges.items()}

    @cache
    def scores(name: str, items: bytes) -> Floats:
        ratings, weights = judges[name]
        first, *others = ratings[:, np.frombuffer(items, np.bool_)]
        groups, pairs = min(len(first), GROUPS), zip(others, weights, strict=True)
        d = [_without_groups(first - one, groups, own, how)[:, 1] for one, own in pairs]
        return level_balanced(np.stack(d, axis=-1), levels)

    results: dict[tuple[str, str], PairedD] = {}
    for first, second in combinations(judges, 2):
        shared = rated_items[first] & rated_items[second]
        if shared.sum() < 2:
            nothing = Estimate(math.nan, n=int(shared.sum()), unscored=int((~shared).sum()))
            results[first, second] = PairedD(math.nan, math.nan, nothing)
            continue
        both = [scores(name, shared.tobytes()) for name in (first, second)]
        estimate = _difference(both[0] - both[1], shared)
        results[first, second] = PairedD(float(both[0][0]), float(both[1][0]), estimate)
    p = holm([one.difference.p for one in results.values()])
    return {
        pair: one._replace(p_holm=float(adjusted))
        for (pair, one), adjusted in zip(results.items(), p, strict=True)
    }


def _rated_items(ratings: Floats, weights: Sequence[Weights], there: Mask | bool) -> Mask:
    """[items] that have every rating that counts."""
    first, *others = ratings
    metrics = [metric_weights(first.shape[1], own) > 0 for own in weights]
    pairs = zip(others, metrics, strict=True)
    lacking = np.stack([np.isnan(first - one)[:, own].any(axis=1) for one, own in pairs])
    return np.asarray(~(lacking & there).any(axis=0))


def _difference(differences: Floats, shared: Mask) -> Estimate:
    value, without = float(differences[0]), differences[1:]
    n, groups = int(shared.sum()), len(without)
    error = float(np.sqrt((groups - 1) / groups * ((without - without.mean()) ** 2).sum()))
    low = high = math.nan
    p = 1.0 if abs(value) < 1e-9 else 0.0
    if error > 1e-9:
        p = float(2 * stdtr(groups - 1, -abs(value) / error))
        low, high = map(float, t_interval(value, error, groups)) if n >= FEWEST else (low, high)
    p = math.nan if math.isnan(value) or math.isnan(error) else max(p, 2.0 ** (1 - n))
    return Estimate(value, low, high, n, len(shared) - n, p)
