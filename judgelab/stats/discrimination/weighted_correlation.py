"""Correlations of item resamples, given as counts per item, without building the resamples.

Each factory takes x and y [items, agents], NaN in the same cells of both, and returns a
function from counts [draws, items] to the correlation [draws] of the pooled cells in which
every item occurs as often as its count says; NaN where that is undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats, divide

Evaluate = Callable[[Floats], Floats]

CHUNK = 1 << 19
"""Array elements held at a time, so that memory does not grow with the number of draws."""


def pearson(x: Floats, y: Floats) -> Evaluate:
    """Pearson: six sums per item suffice, so a resample is one row of a matrix product."""
    scored = ~np.isnan(x)
    u, v = _unit(x, scored), _unit(y, scored)
    sums = np.stack(
        [part.sum(axis=1) for part in (scored.astype(np.float64), u, v, u * u, v * v, u * v)],
        axis=1,
    )

    def evaluate(weights: Floats) -> Floats:
        n, su, sv, suu, svv, suv = (weights @ sums).T
        return _ratio(n * suv - su * sv, n * suu - su**2, n * svv - sv**2, n * suu, n * svv)

    return evaluate


def spearman(x: Floats, y: Floats) -> Evaluate:
    """Spearman: average ranks among the resampled cells, from cumulated counts per value."""
    scored = ~np.isnan(x)
    item = np.nonzero(scored)[0]
    rank_x, rank_y = _counted_ranks(x[scored]), _counted_ranks(y[scored])

    def evaluate(weights: Floats) -> Floats:
        parts = []
        step = max(1, CHUNK // max(1, len(item)))
        for start in range(0, len(weights), step):
            counts = weights[start : start + step][:, item]
            middle = (counts.sum(axis=1, keepdims=True) + 1) / 2
            u, v = rank_x(counts) - middle, rank_y(counts) - middle
            xx, yy = (counts * u * u).sum(axis=1), (counts * v * v).sum(axis=1)
            parts.append(_ratio((counts * u * v).sum(axis=1), xx, yy, xx, yy))
        return np.concatenate(parts)

    return evaluate


def kendall(x: Floats, y: Floats) -> Evaluate:
    """Kendall's tau-b: sums of pair signs between items, then quadratic forms in the counts.

    Copies of one cell are tied in x and in y, and so drop out of all three forms.
    """
    agreement, untied_x, untied_y = _pair_sums(x, y)

    def evaluate(weights: Floats) -> Floats:
        forms = [
            np.einsum("di,di->d", weights @ matrix, weights)
            for matrix in (agreement, untied_x, untied_y)
        ]
        return _ratio(forms[0], forms[1], forms[2], forms[1], forms[2])

    return evaluate


METHODS: Mapping[str, Callable[[Floats, Floats], Evaluate]] = MappingProxyType(
    {"spearman": spearman, "pearson": pearson, "kendall": kendall}
)


def order_sign(left: Floats, right: Floats) -> NDArray[np.int8]:
    """1 where left > right, -1 where left < right, 0 for ties and NaN (broadcasting)."""
    return (left > right).astype(np.int8) - (left < right).astype(np.int8)


def _unit(values: Floats, scored: NDArray[np.bool_]) -> Floats:
    """Centred on the pooled mean and scaled to at most 1, so that sums of squares keep digits."""
    centred = np.where(scored, values - values[scored].mean(), 0.0)
    span = float(np.abs(centred).max())
    if span <= 1e-12 * np.abs(values[scored]).max():
        return np.zeros_like(centred)
    return np.asarray(centred / span, dtype=np.float64)


def _ratio(xy: Floats, xx: Floats, yy: Floats, scale_x: Floats, scale_y: Floats) -> Floats:
    """xy / sqrt(xx yy); NaN where a spread is nothing but rounding of its scale."""
    flat = (xx <= 1e-12 * scale_x) | (yy <= 1e-12 * scale_y)
    norm = np.sqrt(np.where(flat, 0.0, xx)) * np.sqrt(np.where(flat, 0.0, yy))
    return np.clip(divide(xy, norm), -1.0, 1.0)


def _counted_ranks(values: Floats) -> Evaluate:
    """A function from counts [draws, cells] to the average rank of each cell."""
    _, group = np.unique(values, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))

    def ranks(counts: Floats) -> Floats:
        size = np.add.reduceat(counts[:, order], starts, axis=1)
        average = np.cumsum(size, axis=1) - (size - 1) / 2
        return np.asarray(average[:, group], dtype=np.float64)

    return ranks


def _pair_sums(x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """[items, items] sums over cell pairs: sign products, untied in x, untied in y."""
    items = len(x)
    sums = np.empty((3, items, items))
    for row in range(items):
        cell_x, cell_y = x[row][:, None, None], y[row][:, None, None]
        sign_x, sign_y = order_sign(cell_x, x[None]), order_sign(cell_y, y[None])
        sums[0, row] = (sign_x * sign_y).sum(axis=(0, 2), dtype=np.int64)
        sums[1, row] = np.count_nonzero(sign_x, axis=(0, 2))
        sums[2, row] = np.count_nonzero(sign_y, axis=(0, 2))
    return sums[0], sums[1], sums[2]
