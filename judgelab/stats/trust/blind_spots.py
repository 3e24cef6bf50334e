"""Could a panel of judges be wrong together? What its answers rest on, without any label.

Where the common answer depends on who is asked, no majority is to be believed. Where it does not,
the judges are right, or fooled alike: agreement cannot tell which, labels and probes can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.intervals.bootstrap import item_weights
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.clustered import cluster_sums
from judgelab.stats.trust.dawid_skene import FEWEST, chosen, one_coin
from judgelab.stats.trust.peers import majority, one_of_each, sides_with, without_each

SETTLED = 1e-5
"""Change of a probability at which Dawid-Skene may stop: answers are read, not digits."""


@dataclass(frozen=True)
class PanelReading:
    """What a panel says together, and what that rests on.

    Attributes:
        agreed: [judges, units] whether a judge gives the answer of the majority of the other
            families (half: its orders differ).
        rating: [judges] probability of being right if errors were independent, by all judges.
        apart: [judges] the same by the other families alone.
        answer: [units] most frequent answer of the judges, each with one vote; -1 tied.
        votes: [units] share of the judges that give it; one whose orders differ gives none.
        changed: [units] whether the most probable answer is another one without some family.
        drawn: [units] share of panels with one judge of each family whose answer is another one.
        families: how many there are.
    """

    agreed: Floats
    rating: Floats
    apart: Floats
    answer: Floats
    votes: Floats
    changed: Floats
    drawn: Floats
    families: int


def read_panel(
    counts: Floats, family: Sequence[str], rng: np.random.Generator, draws: int = 30
) -> PanelReading:
    """The reading of judges' answers ``counts`` [judges, units, levels] (``dawid_skene.reports``).

    What needs more judges or families than there are is NaN.
    """
    judges, units, levels = counts.shape
    names, without = without_each(family)
    own = without[[names.index(one) for one in family]]
    found = one_coin(counts, np.vstack([np.ones((1, judges), np.bool_), without]), SETTLED)
    ratings, answers = found.right, chosen(found.answers)
    drawn = np.full(units, np.nan)
    if len(names) >= FEWEST and len(names) < judges:
        panels = one_of_each(family, draws, rng)
        made = one_coin(counts, panels, SETTLED, outside=False)
        drawn = _share_changed(chosen(made.answers), answers[0])
    single = majority(np.where(counts.sum(axis=2, keepdims=True) > 0, counts, np.nan))
    given = np.stack([(single == level).sum(axis=0) for level in range(levels)], axis=1)
    asked = (~np.isnan(single)).sum(axis=0)
    shares = divide(given, asked[:, None])
    changed = _share_changed(answers[1:], answers[0])
    return PanelReading(
        sides_with(counts, own),
        ratings[0],
        np.array([ratings[1 + names.index(one), k] for k, one in enumerate(family)]),
        majority(shares),
        np.asarray(shares.max(axis=1)),
        np.where(np.isnan(changed), np.nan, changed > 0),
        drawn,
        len(names),
    )


def _share_changed(answers: Floats, whole: Floats) -> Floats:
    """[units] share of the panels [panels, units] that answer otherwise; NaN without an answer."""
    known = ~np.isnan(answers) & ~np.isnan(whole)
    return divide((known & (answers != whole)).sum(axis=0), known.sum(axis=0))


def rank_correlation(
    one: Floats, other: Floats, cluster: NDArray[np.intp], draws: int, seed: int
) -> Estimate:
    """Spearman's, over judges, of two means over units [judges, units]; clusters are resampled.

    n counts judges; NaN below four, or where all judges are alike.
    """
    known = ~np.isnan(one) & ~np.isnan(other)
    parts = [cluster_sums(np.where(known, x, np.nan), cluster) for x in (one, other)]
    count = cluster_sums(known, cluster)
    kept = count.sum(axis=1) > 0
    if kept.sum() < 4:
        return Estimate(np.nan, n=int(kept.sum()))
    weights = np.vstack([np.ones((1, count.shape[1])), item_weights(count.shape[1], draws, seed)])
    bottom = weights @ count[kept].T
    x, y = (rankdata(divide(weights @ part[kept].T, bottom), axis=1) for part in parts)
    x, y = (each - each.mean(axis=1, keepdims=True) for each in (x, y))
    spread = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    found = divide((x * y).sum(axis=1), spread)
    resampled = found[1:][~np.isnan(found[1:])]
    low, high = np.quantile(resampled, [0.025, 0.975]) if resampled.size else (np.nan, np.nan)
    groups = int((count.sum(axis=0) > 0).sum())
    return Estimate(float(found[0]), float(low), float(high), int(kept.sum()), clusters=groups)
