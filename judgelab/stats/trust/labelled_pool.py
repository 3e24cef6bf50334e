"""Labels of some units and judges' values of all: the sums that estimates of a mean are made of.

Arrays: ``truth`` [units] (NaN: no label), ``values`` [judges, units] (NaN: not judged), ``cluster``
[units] numbers from 0, ``chance`` [units] probabilities of being labelled (weights 1 / chance).
Whatever only labels have part in is [judges, columns], a column for each unit with a label.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.trust.clustered import cluster_sums


@dataclass(frozen=True)
class LabelledPool:
    """One quantity and the judges' values of it; see the module.

    Attributes:
        truth: [units]; 0 without a label.
        judged: [judges, units].
        columns: units with a label.
        weight: [judges, columns] of the labelled units, summing to 1; 0 where one did not judge.
        kept: [columns] share of a label's error that is one of the pool, too: the finite-pool
            factor 1 - n / M of labels that are equally likely, 1 - chance of others; by judge.
    """

    truth: Floats
    values: Floats
    cluster: NDArray[np.intp]
    judged: NDArray[np.bool_]
    columns: NDArray[np.intp]
    weight: Floats
    kept: Floats

    @staticmethod
    def of(
        truth: Floats, values: Floats, cluster: NDArray[np.intp], chance: Floats | None = None
    ) -> LabelledPool:
        """From the data; units without a label by that judge weigh nothing."""
        known = ~np.isnan(truth)
        columns = np.flatnonzero(known)
        judged = ~np.isnan(values)
        there = judged[:, columns]
        count, size = (x.sum(axis=1)[:, None] for x in (there, judged))
        inverse = there if chance is None else np.where(there, divide(1.0, chance[columns]), 0.0)
        kept = 1 - (divide(count, size) if chance is None else chance[None, columns])
        return LabelledPool(
            np.where(known, truth, 0.0),
            values,
            cluster,
            judged,
            columns,
            divide(inverse, inverse.sum(axis=1, keepdims=True)),
            np.broadcast_to(kept, there.shape),
        )

    @cached_property
    def size(self) -> NDArray[np.int64]:
        """[judges] units that were judged."""
        return np.asarray(self.judged.sum(axis=1), np.int64)

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        """[judges, units]."""
        made = np.zeros(self.values.shape, np.bool_)
        made[:, self.columns] = self.weight > 0
        return made

    @cached_property
    def whole(self) -> bool:
        """Whether every judge judged every unit."""
        return bool((self.size == self.values.shape[1]).all())

    @cached_property
    def mean(self) -> Floats:
        """[judges] of the pool."""
        if self.whole:
            return np.asarray(self.values.mean(axis=1))
        return divide(np.where(self.judged, self.values, 0.0).sum(axis=1), self.size)

    @cached_property
    def centred(self) -> Floats:
        """[judges, units] values minus the pool's mean, 0 where not judged."""
        off = self.values - self.mean[:, None]
        return off if self.whole else np.where(self.judged, off, 0.0)

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """[judges] clusters with a labelled unit."""
        there, cluster = self.weight > 0, self.cluster[self.columns]
        if len(np.unique(cluster)) == len(cluster):
            return np.asarray(there.sum(axis=1), np.int64)
        return np.asarray((cluster_sums(there, cluster) > 0).sum(axis=1), np.int64)

    @cached_property
    def pooled(self) -> Floats:
        """[judges, clusters] centred values summed within clusters."""
        if np.array_equal(self.cluster, np.arange(len(self.cluster))):
            return self.centred
        return cluster_sums(self.centred, self.cluster)

    @cached_property
    def squares(self) -> Floats:
        """[judges] sum of squares of the pooled."""
        return np.asarray(np.einsum("ij,ij->i", self.pooled, self.pooled))

    @cached_property
    def single(self) -> bool:
        """Whether every unit is a cluster of its own."""
        return bool(len(np.unique(self.cluster)) == len(self.cluster))

    def slope(self, chosen: NDArray[np.bool_] | None = None) -> Floats:
        """[judges] b of the power-tuned lambda: Cov(Y, F) of labels over Var(F) of the pool.

        Where clusters hold several units: the b with which what clusters add varies least. What a
        judge tells of units within a cluster is no help for a mean of clusters that are labelled
        whole, and b from units made intervals wider than those of people alone.

        Args:
            chosen: [columns] labels that it is fitted to; None: all.
        """
        weight = self.weight
        if chosen is not None:
            weight = np.where(chosen, weight, 0.0)
            weight = divide(weight, weight.sum(axis=1, keepdims=True))
        y, f = self.truth[self.columns], self.centred[:, self.columns]
        weighted = weight * (y - (weight @ y)[:, None])
        if not self.single:
            return self._cluster_slope(weighted, weight)
        covariance = np.einsum("ij,ij->i", weighted, f)
        spread = divide(self.squares, self.size - 1)
        return np.nan_to_num(divide(covariance, spread))

    def _cluster_slope(self, weighted: Floats, weight: Floats) -> Floats:
        """b of least squares of what clusters add to mean(Y) on what they add to mean(F) - pool."""
        f = self.centred[:, self.columns]
        off = weight * (f - np.einsum("ij,ij->i", weight, f)[:, None])
        gap = -divide(self.pooled, self.size[:, None])
        names, place = np.unique(self.cluster[self.columns], return_inverse=True)
        gap[:, names] += cluster_sums(off, place)
        told = np.einsum("ij,ij->i", cluster_sums(weighted, place), gap[:, names])
        return np.nan_to_num(divide(told, np.einsum("ij,ij->i", gap, gap)))

    def errors(self, slopes: Floats, value: Floats) -> Floats:
        """[judges, columns] what each label adds to mean(Y - b F)."""
        y, f = self.truth[self.columns], self.centred[:, self.columns]
        return np.asarray(self.weight * (y - slopes * f - value[:, None]))

    def squared(self, errors: Floats, share: Floats) -> Floats:
        """[judges] sum over clusters of (errors of labels + share x centred values)^2."""
        cluster = self.cluster[self.columns]
        names, place = np.unique(cluster, return_inverse=True)
        sums = cluster_sums(errors, np.asarray(place, np.intp))
        both = np.einsum("ij,ij->i", sums, sums + 2 * share[:, None] * self.pooled[:, names])
        return np.asarray(both + share**2 * self.squares)
