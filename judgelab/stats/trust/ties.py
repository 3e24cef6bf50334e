"""Pairs of grades of one item: which are ordered as people order them, with ties calibrated.

acc_eq of Deutsch, Foster and Freitag (2305.14324): a pair counts as right where both sides
order it alike, or both call it a tie. Grades in fine steps are never quite equal, so a gap of at
most a threshold is a tie, the threshold being the one that makes the mean over items largest. It is
chosen on other items than those that it is scored on (cross-fitting): chosen on the same it would
flatter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats, Mask, divide

Places = NDArray[np.intp]

FOLDS = 5
"""Parts of the items; what is fitted for one part is fitted on the others."""

GRID = 100
"""Thresholds tried in each resample."""

DIGITS = 12
"""Gaps are rounded to so many digits of the largest value: .3 - .2 is .2 - .1."""


def folds(cluster: Places, count: int = FOLDS) -> Places:
    """[...] fold of each cluster number, in turns, so that each has a share of every stratum."""
    return np.asarray(cluster % count, np.intp)


def pairs_within(item: Places, usable: Mask) -> tuple[Places, Places]:
    """All pairs of usable units of one item, as places [pairs] of the one and of the other."""
    known = np.flatnonzero(usable)
    known = known[np.argsort(item[known], kind="stable")]
    if not len(known):
        return known, known
    starts = np.flatnonzero(np.r_[True, np.diff(item[known]) > 0])
    made = []
    for group in np.split(known, starts[1:]):
        a, b = np.triu_indices(len(group), k=1)
        made.append((group[a], group[b]))
    return np.concatenate([a for a, _ in made]), np.concatenate([b for _, b in made])


def gaps(values: ArrayLike, one: Places, other: Places) -> Floats:
    """[..., pairs] differences in shares of the largest value of a row, rounded (``DIGITS``)."""
    cells = np.asarray(values, dtype=np.float64)
    size = np.fmax.reduce(np.abs(cells), axis=-1, initial=0.0, keepdims=True)
    scale = np.where(size > 0, size, 1.0)
    return np.asarray(np.round((cells[..., one] - cells[..., other]) / scale, DIGITS))


def pair_credits(
    scores: ArrayLike, asked: Mask, truth: ArrayLike, pairs: tuple[Places, Places], item: Places
) -> tuple[Floats, Floats]:
    """Whether each judge orders each pair as people do, with thresholds from the other folds.

    Args:
        scores: [judges, units]; a judge asked about a unit without a score earns 0 on its pairs.
        asked: [judges, units]; NaN where either unit of a pair was not asked.
        truth: [units] people's grades, known on all pairs.
        pairs: as from ``pairs_within``.
        item: [units] number of the cluster of the unit's item: folds, and equal weights.

    Returns:
        [judges, pairs] credits 0, 1, NaN, and [judges] the median threshold, in the judge's unit.
    """
    cells, one, other = np.asarray(scores, dtype=np.float64), *pairs
    people = gaps(truth, one, other)
    fold, of = folds(item)[one], item[one]
    made = np.full((len(cells), len(one)), np.nan)
    thresholds = np.full(len(cells), np.nan)
    for judge, values in enumerate(cells):
        gap = gaps(values, one, other)
        known = ~np.isnan(gap)
        made[judge, asked[judge, one] & asked[judge, other]] = 0.0
        if known.any():
            width = tie_thresholds(gap[known], people[known], of[known], fold[known])
            made[judge, known] = pair_credit(gap[known], people[known], width[fold[known]])
            thresholds[judge] = np.median(width) * float(np.nanmax(np.abs(values)))
    return made, thresholds


def resampled_agreement(
    scores: ArrayLike,
    asked: Mask,
    truth: ArrayLike,
    pairs: tuple[Places, Places],
    item: Places,
    times: Floats,
) -> Floats:
    """[draws, judges] mean over items of ``pair_credits``, items resampled, thresholds fitted anew.

    A threshold is fitted to noise, too, so the credits that it leaves vary more than the items do:
    intervals from items alone held in .86 of the cases on 50 items of FRANK and in .90 on 200,
    those from these draws in .95 and .96 (experiments/trust). Copies of an item stay in one fold.

    Args:
        times: [draws, clusters] how often each cluster was drawn, times its weight.
    """
    cells, one, other = np.asarray(scores, dtype=np.float64), *pairs
    people, of = gaps(truth, one, other), item[one]
    made = np.full((len(times), len(cells)), np.nan)
    for judge, values in enumerate(cells):
        there = asked[judge, one] & asked[judge, other]
        gap = gaps(values, one, other)
        made[:, judge] = refitted_means(gap[there], people[there], of[there], times)
    return made


def refitted_means(gap: Floats, people: Floats, item: Places, times: Floats) -> Floats:
    """[draws] mean over items of the credits of pairs, thresholds fitted to the drawn items.

    Of more than ``GRID`` different gaps so many are candidates.

    Args:
        gap: [pairs] of the judge; NaN: no grade, so no credit.
        people: [pairs].
        item: [pairs] number of the cluster.
        times: as above.
    """
    clusters, known = times.shape[1], ~np.isnan(gap)
    every, scored = (np.bincount(item[x], minlength=clusters) for x in (slice(None), known))
    gap, people, item = gap[known], people[known], item[known]
    size = np.abs(gap)
    candidates = np.unique(np.r_[0.0, size])
    if len(candidates) > GRID:
        candidates = candidates[np.linspace(0, len(candidates) - 1, GRID).round().astype(int)]
    column = np.searchsorted(candidates, size)
    untied, tied = pair_credit(gap, people, 0.0), pair_credit(gap, people, np.inf)
    change = np.where(column > 0, tied - untied, 0.0)
    cells = item * len(candidates) + column
    shape = (clusters, len(candidates))
    gained = np.bincount(cells, change, clusters * len(candidates)).reshape(shape).cumsum(axis=1)
    fitted = divide(gained, scored[:, None])
    earned = divide(gained + np.bincount(item, untied, clusters)[:, None], every[:, None])
    fitted, earned = np.nan_to_num(fitted), np.nan_to_num(earned)
    fold, total = folds(np.arange(clusters)), np.zeros(len(times))
    parts = [times[:, fold == k] @ fitted[fold == k] for k in range(FOLDS)]
    whole = np.sum(parts, axis=0)
    for k, own in enumerate(parts):
        better = whole - own
        best = (better >= better.max(axis=1, keepdims=True) - 1e-9).argmax(axis=1)
        drawn = times[:, fold == k] @ earned[fold == k]
        total += np.take_along_axis(drawn, best[:, None], axis=1)[:, 0]
    return divide(total, times @ (every > 0).astype(np.float64))


def pair_credit(gap: Floats, people: Floats, threshold: ArrayLike) -> Floats:
    """[pairs] 1 where both order a pair alike, or both tie; else 0."""
    tie = np.abs(gap) <= np.asarray(threshold)
    alike = np.where(tie, people == 0, (np.sign(gap) == np.sign(people)) & (people != 0))
    return np.asarray(alike, dtype=np.float64)


def tie_thresholds(gap: Floats, people: Floats, item: Places, fold: Places) -> Floats:
    """[folds] the threshold that is best for the items of the other folds.

    Candidates are 0 and all observed gaps; of equally good ones the smallest. Items weigh alike,
    whatever their number of pairs.
    """
    count = np.bincount(item)
    weight = divide(1.0, count[item])
    change = weight * (pair_credit(gap, people, np.inf) - pair_credit(gap, people, 0.0))
    size = np.abs(gap)
    order = np.argsort(size, kind="stable")
    trained = fold[order] != np.arange(FOLDS)[:, None]
    better = np.where(trained, change[order], 0.0).cumsum(axis=1)
    last = np.r_[np.diff(size[order]) > 0, True]
    candidates = np.r_[0.0, size[order][last]]
    better = np.concatenate([np.zeros((FOLDS, 1)), better[:, last]], axis=1)
    # Sums that differ by rounding are equal; the first, smallest, threshold is taken.
    best = better >= better.max(axis=1, keepdims=True) - 1e-9
    return np.asarray(candidates[best.argmax(axis=1)], dtype=np.float64)
