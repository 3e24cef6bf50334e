"""The alternative annotator test: may a judge take the place of one of the people?

Calderon, Reichart and Dror (2501.10970), section 3. Each rater is left out in turn: on the units
that the rater labelled, who is closer to the other raters, the judge or the rater? Closeness S is
the share of the others' labels that are the same, of grades minus the root of the mean squared
distance. The judge is as good on a unit where S(judge) >= S(rater), the rater where S(rater) >=
S(judge), both where they tie. With d = 1[rater as good] - 1[judge as good], the judge may take the
rater's place where E d < epsilon, the advantage granted for being cheap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from judgelab.stats.intervals.arrays import Floats, Mask, divide
from judgelab.stats.intervals.ends import share_ends
from judgelab.stats.trust.agreement import Places
from judgelab.stats.trust.clustered import FEWEST, cluster_sums


@dataclass(frozen=True)
class Advantages:
    """Who is closer to the other raters; NaN where a rater gave no label, or nobody else did.

    Attributes:
        judge: [judges, raters, units] share of the judge's orders in which it is at least as close.
        rater: the same of the rater left out.
        closeness: [raters, units] of the rater left out to the others.
    """

    judge: Floats
    rater: Floats
    closeness: Floats


@dataclass(frozen=True)
class Replaced:
    """The test, for each judge.

    Attributes:
        n: [judges, raters] units compared.
        advantage: [judges, raters] rho: share of units on which the judge is at least as close.
        difference: [judges, raters] mean of d.
        p: [judges, raters] one-sided, of E d >= epsilon; NaN where a rater has too few units.
        rejected: [judges, raters] after Benjamini and Yekutieli, over the raters tested.
        omega: [judges] winning rate: rejected / tested; NaN where no rater could be tested.
        average: [judges] mean over raters of ``advantage``, and the ends of its interval.
        low, high: [judges].
    """

    n: Places
    advantage: Floats
    difference: Floats
    p: Floats
    rejected: Mask
    omega: Floats
    average: Floats
    low: Floats
    high: Floats


def advantages(
    verdicts: ArrayLike,
    asked: Mask,
    labels: ArrayLike,
    grades: bool,
    expert: int | None = None,
) -> Advantages:
    """Compare judges with each rater left out.

    Args:
        verdicts, asked: [judges, units, orders]; asked and missing is never as close.
        labels: [units, raters].
        grades: closeness by distance; else by equality.
        expert: place of the one rater that all others are held against; the expert is not tested.
    """
    people = np.asarray(labels, dtype=np.float64)
    said = np.asarray(verdicts, dtype=np.float64)
    close = _Distances(people, expert) if grades else _Shares(people, expert)
    shape = (len(said), people.shape[1], len(people))
    judge, rater = np.full(shape, np.nan), np.full(shape, np.nan)
    closeness = np.full(shape[1:], np.nan)
    for k in range(people.shape[1]):
        others = (~np.isnan(np.delete(people, k, axis=1))).any(axis=1)
        others = others if expert is None else ~np.isnan(people[:, expert])
        at = np.flatnonzero(~np.isnan(people[:, k]) & others)
        if k == expert or not len(at):
            continue
        mine = close(people[at, k][None, :, None], k, at)[0]
        its = close(said[:, at], k, at)
        its = np.where(np.isnan(its), -np.inf, its)
        there, closeness[k, at] = asked[:, at], mine[:, 0]
        ahead, behind = its >= mine - 1e-9, its <= mine + 1e-9
        judge[:, k, at] = divide((ahead & there).sum(axis=2), there.sum(axis=2))
        rater[:, k, at] = divide((behind & there).sum(axis=2), there.sum(axis=2))
    return Advantages(judge, rater, closeness)


class _Shares:
    """S of labels that are alike or not."""

    def __init__(self, people: Floats, expert: int | None) -> None:
        self.people, self.expert = people, expert
        self.levels = np.unique(people[~np.isnan(people)])
        self.counts = np.stack([(people == level).sum(axis=1) for level in self.levels])

    def __call__(self, said: Floats, rater: int, at: Places) -> Floats:
        """[who, units, orders] closeness to the others than this rater."""
        if self.expert is not None:
            alike = said == self.people[at, self.expert][:, None]
            return np.where(np.isnan(said), np.nan, alike)
        own = self.people[at, rater]
        others = (~np.isnan(self.people[at])).sum(axis=1) - 1
        total = np.zeros(said.shape)
        for level, count in zip(self.levels, self.counts, strict=True):
            rest = (count[at] - (own == level)) / others
            total += np.where(said == level, rest[:, None], 0.0)
        return np.where(np.isnan(said), np.nan, total)


class _Distances:
    """S of grades."""

    def __init__(self, people: Floats, expert: int | None) -> None:
        self.people, self.expert = people, expert

    def __call__(self, said: Floats, rater: int, at: Places) -> Floats:
        """[who, units, orders] minus the root mean squared distance to the others."""
        of = rater if self.expert is None else self.expert
        others = np.arange(self.people.shape[1])
        others = others[(others == of) != (self.expert is None)]
        rest = self.people[np.ix_(at, others)]
        known = ~np.isnan(rest)
        n = known.sum(axis=1)
        mean = divide(np.where(known, rest, 0.0).sum(axis=1), n)[:, None]
        spread = np.where(known, (rest - mean) ** 2, 0.0).sum(axis=1) / np.maximum(n, 1)
        return np.asarray(-np.sqrt((said - mean) ** 2 + spread[:, None]), dtype=np.float64)


def alternative_annotator(
    found: Advantages,
    cluster: Places,
    epsilon: float,
    fewest: int = 30,
    q: float = 0.05,
    weight: Floats | None = None,
) -> Replaced:
    """The test from the comparisons.

    t of the mean of d against epsilon, d summed within clusters (an item, a document): two aspects
    of one text are one cluster.

    Args:
        cluster: [units].
        epsilon: advantage granted to the judge: .2 for experts, .15 skilled people, .1 crowds.
        fewest: clusters of a rater below which the rater is left out.
        q: false discovery rate.
        weight: [units] 1 / chance of being labelled, so that d is of the whole pool; None: alike.
    """
    w = np.ones(len(cluster)) if weight is None else weight
    d = found.rater - found.judge
    known = ~np.isnan(d)
    n = known.sum(axis=2)
    groups = (cluster_sums(known, cluster) > 0).sum(axis=2)
    p = np.where(groups < max(fewest, FEWEST), np.nan, _below_p(d, cluster, epsilon, groups, w))
    rejected = benjamini_yekutieli(p, q)
    tested = ~np.isnan(p)
    omega = divide(rejected.sum(axis=1), tested.sum(axis=1))
    average, low, high = average_advantage(found, cluster, tested, w)
    return Replaced(
        n,
        _weighted(found.judge, w),
        _weighted(d, w),
        p,
        rejected,
        omega,
        average,
        low,
        high,
    )


def _weighted(values: Floats, weight: Floats) -> Floats:
    """[judges, raters] mean over units of what is known."""
    known = ~np.isnan(values)
    return divide(np.where(known, weight * values, 0.0).sum(axis=2), (weight * known).sum(axis=2))


def average_advantage(
    found: Advantages, cluster: Places, counted: Mask, unit_weight: Floats | None = None
) -> tuple[Floats, Floats, Floats]:
    """[judges] mean over the counted raters [judges, raters] of rho, with the ends by cluster."""
    w = np.ones(len(cluster)) if unit_weight is None else unit_weight
    known = ~np.isnan(found.judge) & counted[:, :, None]
    n = (w * known).sum(axis=2)
    rho = divide(np.where(known, w * found.judge, 0.0).sum(axis=2), n)
    raters = (n > 0).sum(axis=1)
    average = divide(np.nan_to_num(rho).sum(axis=1), raters)
    weight = w * divide(1.0, n * raters[:, None])[:, :, None]
    added = np.where(known, (found.judge - rho[:, :, None]) * weight, 0.0).sum(axis=1)
    sums, took = cluster_sums(added, cluster), cluster_sums(known.any(axis=1), cluster) > 0
    groups = took.sum(axis=1, keepdims=True)
    low, high = share_ends(np.where(took, average[:, None] + groups * sums, np.nan))
    return average, low, high


def _below_p(d: Floats, cluster: Places, epsilon: float, groups: Places, weight: Floats) -> Floats:
    """One-sided p of mean d >= epsilon [judges, raters]; all d alike: 0 below epsilon, else 1."""
    known = ~np.isnan(d)
    n = (weight * known).sum(axis=2)
    mean = _weighted(d, weight)
    off = divide(np.where(known, weight * (d - mean[:, :, None]), 0.0), n[:, :, None])
    squares = (cluster_sums(off, cluster) ** 2).sum(axis=2)
    error = np.sqrt(divide(groups, groups - 1) * squares)
    flat = error <= 1e-12
    t = divide(mean - epsilon, np.where(flat, 1.0, error))
    p = stdtr(np.maximum(groups - 1, 1), t)
    return np.where(flat, np.where(mean < epsilon, 0.0, 1.0), p)


def benjamini_yekutieli(p: ArrayLike, q: float = 0.05) -> Mask:
    """[..., tests] which are rejected at false discovery rate q, whatever their dependence.

    The k smallest of m where p_(k) <= k q / (m (1 + 1/2 + ... + 1/m)), k as large as can be; NaN is
    no test.
    """
    values = np.asarray(p, dtype=np.float64)
    m = (~np.isnan(values)).sum(axis=-1, keepdims=True)
    if not values.shape[-1]:
        return np.zeros(values.shape, np.bool_)
    harmonic = np.cumsum(1 / np.arange(1, values.shape[-1] + 1))[np.maximum(m, 1) - 1]
    order = np.sort(np.where(np.isnan(values), np.inf, values), axis=-1)
    rank = np.arange(1, values.shape[-1] + 1)
    passing = order <= rank * q / (np.maximum(m, 1) * harmonic)
    last = np.where(passing, order, -np.inf).max(axis=-1, keepdims=True)
    return np.asarray(values <= last, dtype=np.bool_)
