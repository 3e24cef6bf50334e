"""How well people agree with each other, and judges with people, on the same target: one person.

A judge that is held against the majority has an easier target than a person held against another
one. Here both are held against single people, on the units that at least two people labelled.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import Floats, Mask, divide
from judgelab.stats.intervals.bootstrap import item_draws
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.agreement import Places, category_credit, means_within, preference_credit
from judgelab.stats.trust.clustered import FEWEST, t_interval
from judgelab.stats.trust.ties import (
    folds,
    gaps,
    pair_credit,
    pairs_within,
    refitted_means,
    tie_thresholds,
)

Scale = Literal["nominal", "ordinal", "interval"]

ALPHA_DRAWS = 200
"""Resamples for the interval of Krippendorff's alpha."""


def label_agreement(
    verdicts: ArrayLike, asked: Mask, labels: ArrayLike, categories: bool
) -> tuple[Floats, Floats]:
    """Of preferences and categories: people with each other [units], judges with people.

    Args:
        verdicts, asked: [judges, units, orders].
        labels: [units, raters].
        categories: alike or not; else half a credit where one side calls a tie.

    Returns:
        [units] mean over pairs of people, [judges, units] mean over people; NaN where fewer than
        two people gave a label.
    """
    people = np.asarray(labels, dtype=np.float64)
    credit = category_credit if categories else preference_credit
    said = people.T[:, :, None]
    there = ~np.isnan(said)
    judged, with_others = [], []
    for k in range(people.shape[1]):
        judged.append(credit(verdicts, asked, people[:, k]))
        others = credit(said, there, people[:, k])
        others[k] = np.nan
        with_others.append(others)
    several = (~np.isnan(people)).sum(axis=1) >= 2
    among = np.where(several, _mean(np.concatenate(with_others)), np.nan)
    return among, np.where(several, _mean(np.stack(judged)), np.nan)


@dataclass(frozen=True)
class PersonPairs:
    """Pairs of an item's texts, each once for every person who graded both texts.

    Only texts that two people graded; people and judges are held against single people.

    Attributes:
        one, other: [pairs] units.
        target: [pairs] number of the person.
        wanted: [pairs] difference of that person's grades.
    """

    one: Places
    other: Places
    target: Places
    wanted: Floats

    @staticmethod
    def of(labels: ArrayLike, item: Places) -> PersonPairs:
        """From grades [units, raters] and the number of each unit's item."""
        people = np.asarray(labels, dtype=np.float64)
        several = (~np.isnan(people)).sum(axis=1) >= 2
        parts = [pairs_within(item, several & ~np.isnan(values)) for values in people.T]
        one, other = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
        wanted = [gaps(values, *part) for values, part in zip(people.T, parts, strict=True)]
        counts = [len(part[0]) for part in parts]
        return PersonPairs(
            one, other, np.repeat(np.arange(len(parts)), counts), np.concatenate(wanted)
        )

    def graded(self, values: Floats, asked: Mask, but: int = -1) -> tuple[Mask, Floats]:
        """Which pairs somebody was asked about, but not those of one person, and the gaps there."""
        there = (self.target != but) & asked[self.one] & asked[self.other]
        return there, gaps(values, self.one, self.other)


def grade_agreement(
    scores: ArrayLike, asked: Mask, labels: ArrayLike, item: Places, cluster: Places, items: int
) -> tuple[Floats, Floats]:
    """Of grades: the same, of pairs of an item's texts that two people graded.

    Ties are calibrated for people as for judges (``ties.pair_credits``), against single people.

    Returns:
        [items] and [judges, items].
    """
    pairs, people = PersonPairs.of(labels, item), np.asarray(labels, dtype=np.float64)
    of, fold = cluster[pairs.one], folds(cluster)[pairs.one]

    def against(values: Floats, there: Mask, but: int = -1) -> Floats:
        """[items] credit of one who grades, over the pairs that count."""
        counts, gap = pairs.graded(values, there, but)
        known = counts & ~np.isnan(gap)
        earned = np.where(counts, 0.0, np.nan)
        if known.any():
            width = tie_thresholds(gap[known], pairs.wanted[known], of[known], fold[known])
            earned[known] = pair_credit(gap[known], pairs.wanted[known], width[fold[known]])
        return means_within(earned, item[pairs.one], items)

    judged = [against(v, a) for v, a in zip(np.asarray(scores), asked, strict=True)]
    among = [against(v, ~np.isnan(v), k) for k, v in enumerate(people.T)]
    return _mean(np.stack(among)), np.stack(judged) if judged else np.zeros((0, items))


def resampled_grade_agreement(
    scores: ArrayLike, asked: Mask, labels: ArrayLike, item: Places, cluster: Places, times: Floats
) -> tuple[Floats, Floats]:
    """Means of ``grade_agreement`` in resampled clusters, thresholds fitted anew.

    Args:
        times: as of ``ties.resampled_agreement``.

    Returns:
        [draws] of people, [draws, judges].
    """
    pairs, people = PersonPairs.of(labels, item), np.asarray(labels, dtype=np.float64)

    def against(values: Floats, there: Mask, but: int = -1) -> Floats:
        counts, gap = pairs.graded(values, there, but)
        of = cluster[pairs.one[counts]]
        return refitted_means(gap[counts], pairs.wanted[counts], of, times)

    judged = [against(v, a) for v, a in zip(np.asarray(scores), asked, strict=True)]
    among = [against(v, ~np.isnan(v), k) for k, v in enumerate(people.T)]
    return _mean(np.stack(among)), np.stack(judged, axis=1)


def _mean(values: Floats) -> Floats:
    """Over the first axis, of what is known."""
    known = ~np.isnan(values)
    return divide(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0))


def krippendorff_alpha(labels: ArrayLike, scale: Scale, cluster: Places, seed: int = 0) -> Estimate:
    """Agreement of raters beyond chance: 1 perfect, 0 as by chance (package krippendorff).

    Args:
        labels: [units, raters], NaN where a rater gave none.
        scale: nominal for categories, ordinal for preferences with ties, interval for grades.
        cluster: [units] resampled whole, for the spread of an interval by Student's t.

    Returns:
        n: units with two labels or more. NaN where there is none, or all labels are the same.
    """
    people = np.asarray(labels, dtype=np.float64)
    several = (~np.isnan(people)).sum(axis=1) >= 2
    levels = np.unique(people[several][~np.isnan(people[several])])
    n = int(several.sum())
    if n < 1 or len(levels) < 2:
        return Estimate(np.nan, n=n, unscored=len(people) - n)
    counts = np.stack([(people == level).sum(axis=1) for level in levels], axis=1)[several]
    _, of = np.unique(cluster[several], return_inverse=True)
    places = np.split(np.argsort(of, kind="stable"), np.bincount(of).cumsum()[:-1])
    drawn = [
        _alpha(counts[np.concatenate([places[k] for k in draw])], levels, scale)
        for draw in item_draws(len(places), ALPHA_DRAWS, seed)
    ]
    value, g = _alpha(counts, levels, scale), len(places)
    # 1 - alpha is a ratio, observed by expected disagreement: its logarithm is nearly normal.
    logs = np.log(np.maximum(1 - np.array([*drawn, value]), 1e-9))
    error = float(np.nanstd(logs[:-1])) * np.sqrt(g / (g - 1)) if g >= FEWEST else np.nan
    high, low = (1 - np.exp(end) for end in t_interval(logs[-1], error, g))
    return Estimate(value, float(low), float(high), n, len(people) - n)


def _alpha(counts: Places, levels: Floats, scale: Scale) -> float:
    import krippendorff

    told = counts.sum(axis=0) > 0
    if told.sum() < 2:
        return float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = krippendorff.alpha(
            value_counts=counts[:, told], value_domain=levels[told], level_of_measurement=scale
        )
    return float(found)


STRATA = ("people agree fully", "people differ less", "people differ more")


def spread(labels: ArrayLike, grades: bool) -> Floats:
    """How much raters differ on each unit [units], 0: not at all; NaN with fewer than two.

    Of grades their standard deviation; else the share of labels that are not the most frequent.
    """
    people = np.asarray(labels, dtype=np.float64)
    known = ~np.isnan(people)
    n = known.sum(axis=1)
    if grades:
        mean = divide(np.where(known, people, 0.0).sum(axis=1), n)[:, None]
        off = np.sqrt(divide(np.where(known, (people - mean) ** 2, 0.0).sum(axis=1), n))
        found = np.where(off <= 1e-9 * np.fmax(np.abs(mean[:, 0]), 1.0), 0.0, off)
    else:
        levels = np.unique(people[known])
        most = np.max([(people == x).sum(axis=1) for x in levels], axis=0) if n.any() else 0 * n
        found = 1 - divide(most, n)
    return np.where(n >= 2, found, np.nan)


def spread_strata(found: Floats) -> list[str]:
    """Which of ``STRATA`` each is in, parted at the median of those above 0; "" where NaN."""
    above = found[found > 0]
    middle = float(np.median(above)) if above.size else 0.0
    place = np.where(found > 0, np.where(found <= middle, 1, 2), 0)
    names = [STRATA[k] for k in place]
    return ["" if np.isnan(x) else name for x, name in zip(found, names, strict=True)]
