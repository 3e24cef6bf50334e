"""The alternative annotator test: may a judge take the place of one of the people?

Calderon, Reichart and Dror (2501.10970), section 3. Each rater is left out in turn: on the units
that the rater labelled, who is closer to the other raters, the judge or the rater? Closeness S is
the share of the others' labels that are the same, of grades minus the root of the mean squared
distance. The judge is as good on a unit where S(judge) >= S(rater), the rater where S(rater) >=
S(judge), both where they tie. With d = 1[rater as good] - 1[judge as good], the judge may take the
rater's place where E d < epsilon, the advantage granted for being cheap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr
from statsmodels.stats.multitest import multipletests

from judgelab.stats.intervals.arrays import Floats, Mask, divide
from judgelab.stats.intervals.ends import cluster_sums
from judgelab.stats.trust.agreement import Places

EPSILON = 0.15
"""Advantage granted for being cheaper than a skilled person (section 3; experts .2, crowds .1)."""
FEWEST = 30
"""Items of a rater who is tested."""
RATE = 0.05
"""False discovery rate over raters (Benjamini and Yekutieli)."""


class Replaced(NamedTuple):
    """The test of one judge."""

    winning_rate: float  # omega, share of the people tested whose place it may take
    advantage: float  # mean over people of rho, the share of units where it is at least as close
    tested: int  # people with enough items
    n: int  # items compared
    p: Floats  # [tested] one-sided, of E d >= epsilon


def alternative_annotator_test(
    values: Floats,
    judged: Mask,
    labels: Floats,
    cluster: Places,
    *,
    grades: bool,
    epsilon: float = EPSILON,
) -> Replaced | None:
    """The test; None where no person has enough items that others labelled, too.

    Two texts of one item are one: d is averaged within clusters before the t test.

    Args:
        values: [units] the judge's; NaN where judged is never as close.
        labels: [units, people].
    """
    p, rho, items = [], [], set[int]()
    for k in range(labels.shape[1]):
        rest = np.delete(labels, k, axis=1)
        at = np.flatnonzero(~np.isnan(labels[:, k]) & (~np.isnan(rest)).any(axis=1) & judged)
        own = cluster[at]
        if len(np.unique(own)) < FEWEST:
            continue
        judge, rater = (_closeness(x[at], rest[at], grades) for x in (values, labels[:, k]))
        judge = np.where(np.isnan(values[at]), -np.inf, judge)
        ahead, behind = judge >= rater - 1e-9, judge <= rater + 1e-9
        d = behind.astype(float) - ahead
        sums, count = (cluster_sums(x, own) for x in (d, np.ones(len(d))))
        p.append(_below(divide(sums, count)[count > 0], epsilon))
        rho.append(float(ahead.mean()))
        items |= set(own.tolist())
    if not p:
        return None
    rejected = multipletests(p, RATE, method="fdr_by")[0]
    share, advantage = float(rejected.mean()), float(np.mean(rho))
    return Replaced(share, advantage, len(p), len(items), np.array(p))


def _closeness(said: Floats, rest: Floats, grades: bool) -> Floats:
    """[units] S of what somebody said to the others' labels [units, people]."""
    known = ~np.isnan(rest)
    off = np.where(known, said[:, None] - rest, 0.0)
    if grades:
        return -np.sqrt(divide((off**2).sum(axis=1), known.sum(axis=1)))
    return divide((known & (off == 0)).sum(axis=1), known.sum(axis=1))


def _below(d: Floats, epsilon: float) -> float:
    """One-sided p of a mean of epsilon or more."""
    error = d.std(ddof=1) / np.sqrt(len(d))
    off = d.mean() - epsilon
    if error <= 1e-12:
        return 0.0 if off < -1e-12 else 1.0
    return float(stdtr(len(d) - 1, off / error))
