"""How often a scorer agrees with people: credits added up within clusters, and their intervals.

Of categories a scorer earns the share of people who say what it says. Of preferences and grades it
earns 1 where it prefers the text that people prefer, 1/2 where it prefers neither, else 0; where
people prefer neither there is nothing to agree with. So one definition holds for pairs and for
grades, a constant answer earns one half, and whole grades that tie are not held against anybody:
for grades it is Harrell's concordance (the AUC where people give two grades).

Where an item has several people each is left out in turn, and judge, rule and person are held
against the same remaining people with the same credit. Arrays: ``labels`` [units, people] (NaN: no
label), scorers' ``values`` [scorers, units].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import ROUNDING, Floats, Mask, divide, row_means
from judgelab.stats.intervals.ends import (
    LEVEL,
    above_p,
    cluster_sums,
    mean_ends,
    of_ratio,
    share_ends,
)
from judgelab.stats.intervals.estimate import Estimate, Estimates
from judgelab.stats.intervals.means import holm_levels
from judgelab.stats.sequential import sequence_ends

Places = NDArray[np.intp]


@dataclass(frozen=True)
class Shares:
    """Shares of the credit at stake that was earned [...], or differences of such shares."""

    value: Floats  # of all credit
    # [..., clusters] what each cluster adds to the share: their mean is the share. In turns
    # [..., turns] the mean credit of the clusters of each: turns count alike, and intervals hold
    # after each of them
    adds: Floats
    clusters: NDArray[np.intp]  # with something at stake
    in_turns: bool
    least: float = 0.0  # value there can be; of differences -1

    @staticmethod
    def of(
        total: Floats, count: Floats, turn: Floats | None = None, *, twice: bool = False
    ) -> Shares:
        """From credit earned and credit at stake [..., clusters].

        Args:
            turn: [clusters] where somebody looks after each turn: when a cluster was labelled, NaN
                if it was not; clusters after the last with a label may be there.
            twice: each pair of texts adds to two clusters (it is of two items), which adds twice
                the first-order term (Hoeffding's projection).
        """
        value = divide(total.sum(axis=-1), count.sum(axis=-1))
        clusters = (count > 0).sum(axis=-1)
        if turn is None:
            adds = of_ratio(total, count)
            adds = 2 * adds - value[..., None] if twice else adds
            return Shares(value, adds, clusters, in_turns=False)
        # a turn is one bet, so that nothing hangs on the order within it
        each = pd.DataFrame(divide(total, count).reshape(-1, total.shape[-1]).T)
        means = each.groupby(turn[: len(each)]).mean().to_numpy(np.float64)
        adds = np.ascontiguousarray(means.T).reshape(*total.shape[:-1], len(means))
        return Shares(value, adds, clusters, in_turns=True)

    def at(self, *place: int) -> Shares:
        """Some of them."""
        value, adds, clusters = self.value[place], self.adds[place], self.clusters[place]
        return replace(self, value=value, adds=adds, clusters=clusters)

    def __sub__(self, other: Shares) -> Shares:
        """How much more than others of the same clusters."""
        value, adds = self.value - other.value, self.adds - other.adds
        return Shares(value, adds, self.clusters, self.in_turns, least=-1.0)

    def estimates(self, level: float | Floats = LEVEL) -> Estimates:
        """The shares with their intervals; in turns the means over turns.

        A share has Wilson's ends, a difference Hall's. These keep families of ten equal judges with
        half credits at .03 wrong claims of 100 items, where Student's t makes .08 (``make trust``).
        ``level``: one or [...]; of turns one.
        """
        value, bounds = self.value, (self.least, 1.0)
        if self.in_turns:
            value, ends = row_means(self.adds), sequence_ends(self.adds, float(level), bounds)
        elif self.least < 0:
            ends = mean_ends(self.adds, level, bounds)
        else:
            ends = share_ends(self.adds, level)
        return Estimates.of(value, ends, (~np.isnan(self.adds)).sum(axis=-1))

    def against(self, other: Shares) -> tuple[Estimates, Estimates, Estimates]:
        """These shares, others of the same clusters, and how much more these are."""
        return self.estimates(), other.estimates(), (self - other).estimates()

    def gains(self, rules: Sequence[Shares]) -> Estimates:
        """[rules, judges] what judges [judges] earn more than each rule, adjusted for the judges.

        By Holm's steps, of the rule that is nearest to each; or all alike (Bonferroni) where
        somebody looks after each turn.
        """
        value, adds = (np.stack([getattr(x, part) for x in rules]) for part in ("value", "adds"))
        more = self - replace(self, value=value, adds=adds)
        if self.in_turns:
            return more.estimates(1 - (1 - LEVEL) / len(self.value))
        return more.estimates(holm_levels(above_p(more.adds, -1.0).max(axis=0), 1 - LEVEL))


@dataclass(frozen=True)
class Target:
    """What people say of each unit, as the credit that each possible answer would earn."""

    mass: Floats  # [units, answers] of the people who remain; a row adds up to what is at stake
    # [units, answers] what the person left out earns where the others say so; NaN where nobody can
    # be left out
    people: Floats
    cluster: Places  # [units] numbers from 0
    turn: Floats | None = None  # [clusters] as of ``Shares``

    def shares(self, answers: Floats, judged: Mask, *, each: bool = False) -> Shares:
        """[judges] of answers [judges, units, answers], or of a rule's [units, answers], on units
        judged [judges, units]; ``each``: by what the others say [judges, answers], recall."""
        return self._of(self.mass * answers, judged, each)

    def of_people(self, judged: Mask, *, each: bool = False) -> Shares:
        """What the people left out earn on the same units."""
        return self._of(self.people, judged, each)

    def _of(self, credit: Floats, judged: Mask, each: bool) -> Shares:
        sums = list[Floats]()
        for x in (credit, self.mass):
            columns = np.ascontiguousarray(np.swapaxes(x * judged[..., None], -1, -2))
            own = cluster_sums(columns, self.cluster)
            sums.append(own if each else own.sum(axis=-2))
        return Shares.of(sums[0], sums[1], self.turn)


def cohens_kappa(people: Floats, judge: Floats, weight: Floats, cluster: Places) -> Estimate:
    """(po - pe) / (1 - pe), pe the agreement of independent answers with the same shares.

    Of shares of each answer [units, answers]; a row of zeros agrees with nobody. What a cluster
    (numbers from 0 [units]) adds is its first-order term.
    """
    n = max(len(people), 1)
    weight = divide(weight, weight.mean() if len(weight) else 1.0)
    rows, columns = weight @ people / n, weight @ judge / n
    agreement = (people * judge).sum(axis=1)
    po, pe = float(weight @ agreement) / n if len(people) else np.nan, float(rows @ columns)
    value = (po - pe) / (1 - pe) if pe < 1 else np.nan
    value = 0.0 if abs(value) < ROUNDING else value  # a constant answer
    each = people @ columns + judge @ rows - 2 * pe
    off = (agreement - po - (1 - value) * each) / (1 - pe) if pe < 1 else each * np.nan
    sums, present = (cluster_sums(x, cluster) for x in (weight * off, np.ones(len(people))))
    adds = value + sums * (present > 0).sum() / n
    adds = np.where(present > 0, np.round(adds, 12), np.nan)
    ends = mean_ends(adds, bounds=(-1.0, 1.0))
    return Estimates.of(value, ends, (~np.isnan(adds)).sum()).at()


def category_target(labels: Floats, levels: int, cluster: Places, weight: Floats) -> Target:
    """Of categories: the share of people with each; of whom the others are for each of them."""
    counts = np.stack([(labels == k).sum(axis=1) for k in range(levels)], axis=1).astype(float)
    k = counts.sum(axis=1, keepdims=True)
    people = divide(counts * (counts - 1), k * (k - 1))
    w = weight[:, None]
    return Target(w * np.nan_to_num(divide(counts, k)), w * people, cluster)


def preference_target(
    labels: Floats, cluster: Places, weight: Floats, *, leave_out: bool
) -> Target:
    """Of preferences (1 first, 0 second, .5 neither): the text that (the remaining) people prefer;
    ``leave_out``: each person in turn, on units that two or more labelled."""
    has_label = ~np.isnan(labels)
    own, share = np.where(has_label, labels, 0.0), weight[:, None]
    k = has_label.sum(axis=1, keepdims=True)
    total = own.sum(axis=1, keepdims=True)
    if leave_out:
        share, rest = share / np.maximum(k, 1), divide(total - labels, k - 1)
    else:
        own, rest = np.full(k.shape, np.nan), divide(total, k)
    side = np.sign(np.round(np.nan_to_num(rest, nan=0.5) - 0.5, 9))
    mass = np.stack([(share * (side > 0)).sum(axis=1), (share * (side < 0)).sum(axis=1)], axis=1)
    credit = share * own * (side > 0), share * (1 - own) * (side < 0)
    return Target(mass, np.stack([x.sum(axis=1) for x in credit], axis=1), cluster)


@dataclass(frozen=True)
class GradedRows:
    """Graded texts whose pairs are compared: one row [rows] for each text and person left out."""

    unit: Places  # the text
    target: Floats  # mean grade by the (remaining) people
    person: Floats  # grade by the person left out; NaN where nobody is
    group: Places  # rows of one group are compared: texts of one item, by one person
    weight: Floats
    cluster: Places  # numbers from 0
    across: bool  # whether texts of different items are compared
    # whether texts are compared by the grades of different people, as few texts share one
    strangers: bool = False
    turn: Floats | None = None  # [clusters] as of ``Shares``

    def shares(self, values: Floats, judged: Mask) -> Shares:
        """[judges] of values [judges, units], or of a rule's [units], on texts judged [judges,
        units]."""
        return self._of(values[..., self.unit], judged[:, self.unit])

    def of_people(self, judged: Mask) -> Shares:
        """What the people left out earn on the same pairs."""
        return self._of(self.person, judged[:, self.unit])

    def _of(self, values: Floats, judged: Mask) -> Shares:
        """Of [judges, rows]; a value that is missing earns 0."""
        clusters = int(self.cluster.max(initial=-1)) + 1
        sums = np.empty((2, len(judged), clusters))
        for k, there in enumerate(judged):
            at = np.flatnonzero(there)
            rows = np.broadcast_to(values, judged.shape)[k, at], self.target[at], self.weight[at]
            pairs = _credits(*rows, self.group[at])
            texts = _cells(self.group[at], self.unit[at])
            if texts.max(initial=-1) + 1 < len(texts):  # two rows of one text are no pair
                own = _credits(*rows, texts)
                pairs = pairs[0] - own[0], pairs[1] - own[1]
            for side, each in zip(sums, pairs, strict=True):
                side[k] = np.bincount(self.cluster[at], each, minlength=clusters)
        return Shares.of(sums[0], sums[1], self.turn, twice=self.across)


def graded_rows(
    labels: Floats,
    item: Places,
    cluster: Places,
    weight: Floats,
    *,
    leave_out: bool,
    across: bool,
) -> GradedRows:
    """Rows of graded texts, by numbers of items from 0 [units].

    Texts that share people are compared by the grades of the same person; where people graded in
    batches, so that few pairs of texts share one, by whoever graded each. ``across``: texts of
    different items are compared. ``leave_out``: each person in turn, of texts that two or more
    graded.

    Args:
        weight: [units] of the text. A pair of texts of two items weighs the product; one of a
            single item, which was drawn once, the root of it.
    """
    has_label = ~np.isnan(labels)
    k, each = has_label.sum(axis=1), weight if across else np.sqrt(weight)
    total = np.where(has_label, labels, 0.0).sum(axis=1)
    if leave_out:
        unit, person = np.nonzero(has_label & (k > 1)[:, None])
        own = labels[unit, person]
    else:
        unit = person = np.flatnonzero(k)
        own = np.full(len(unit), np.nan)
    rest = (total[unit] - np.nan_to_num(own)) / (k[unit] - leave_out)
    group = np.zeros(len(unit), np.intp) if across else item[unit]
    share, strangers = each[unit], False
    if leave_out:
        people = float(k[k > 1].mean()) if len(unit) else 1.0
        strangers = _pairs_within(_cells(group, person)) < 0.5 * _pairs_within(group) / people
        group, share = (group, share / k[unit]) if strangers else (_cells(group, person), share)
    rest = np.round(rest, 9)
    return GradedRows(unit, rest, own, group, share, cluster[unit], across, strangers)


def _pairs_within(group: Places) -> float:
    """Pairs of rows of the same group."""
    counts = np.unique(group, return_counts=True)[1]
    return float((counts * (counts - 1.0)).sum() / 2)


def _cells(*columns: NDArray[np.generic]) -> Places:
    """[rows] number of the row's combination of values."""
    first, *others = (np.unique(each, return_inverse=True)[1] for each in columns)
    number: Places = first.astype(np.intp)
    for place in others:
        both = number * (int(place.max(initial=0)) + 1) + place
        number = np.unique(both, return_inverse=True)[1].astype(np.intp)
    return number


def _sums_within(group: Places, weight: Floats) -> Floats:
    """[rows] sum of the weights of the row's group."""
    return np.asarray(np.bincount(group, weight)[group])


def _credits(
    values: Floats, target: Floats, weight: Floats, group: Places
) -> tuple[Floats, Floats]:
    """[rows] credit and stake of each row's pairs with the others of its group."""
    alike = _sums_within(_cells(group, target), weight)
    count = weight * (_sums_within(group, weight) - alike)
    total = np.zeros(len(values))
    places = np.flatnonzero(~np.isnan(values))
    v, t, g, w = _cells(values[places]), _cells(target[places]), group[places], weight[places]
    above = v.max(initial=0) - v, t.max(initial=0) - t
    concordant = _below_in_both(v, t, g, w) + _below_in_both(*above, g, w)
    tied = _cells(g, v)
    ties = _sums_within(tied, w) - _sums_within(_cells(tied, t), w)
    total[places] = w * (concordant + ties / 2)
    return total, count


def _below_in_both(first: Places, rank: Places, group: Places, weight: Floats) -> Floats:
    """[rows] weight of the rows of the same group that are lower in both ranks, in n (log n)^2
    time.

    Bit by bit of the second: of rows that share the higher bits those with a 1 are above those
    with a 0, of which the ones that are lower in the first count.
    """
    below, block = np.zeros(len(first)), group.astype(np.int64)
    for bit in range(int(rank.max(initial=0)).bit_length() - 1, -1, -1):
        high = (rank >> bit) & 1
        order = np.lexsort((first, block))
        zeros = np.where(high[order] == 0, weight[order], 0.0)
        before = np.cumsum(zeros) - zeros
        b, f = block[order], first[order]
        new_block = np.r_[True, b[1:] != b[:-1]]
        new_run = new_block | np.r_[True, f[1:] != f[:-1]]
        run_start = before[np.maximum.accumulate(np.where(new_run, np.arange(len(b)), 0))]
        block_start = before[np.maximum.accumulate(np.where(new_block, np.arange(len(b)), 0))]
        lower = np.empty(len(first))
        lower[order] = run_start - block_start
        below += np.where(high == 1, lower, 0.0)
        block = block * 2 + high
    return below
