"""What one verdict is worth in labels.

A judge whose values F have squared correlation rho^2 with people's Y brings the variance of a mean
to 1 - rho^2 N / M of that of people alone (PPI++, N of M units unlabelled). rho^2 must be net of
what is known for free: the system that wrote a text, its domain, its length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats, Mask, divide
from judgelab.stats.intervals.ends import heavy_ends
from judgelab.stats.trust.clustered import FEWEST, cluster_sums
from judgelab.stats.trust.left_out import leaving_out

ALMOST_ONE = 1 - 1e-9


@dataclass(frozen=True)
class Saving:
    """rho^2 of judges [judges], the share of labels that they save at best.

    Attributes:
        value: adjusted for the number of units and of what was taken out; never below 0.
        low, high: ends of its interval; the lower one is 0 where the correlation may be 0, and
            where it is negative (a judge that runs backwards saves nothing as it stands).
        correlation: r itself.
        backwards: whether r is surely below 0.
        n: units.
    """

    value: Floats
    low: Floats
    high: Floats
    correlation: Floats
    backwards: Mask
    n: NDArray[np.int64]


def saving(
    truth: Floats,
    values: Floats,
    cluster: NDArray[np.intp],
    free: Floats | None = None,
    level: float = 0.95,
    weight: Floats | None = None,
) -> Saving:
    """rho^2 with the interval that holds for odd distributions, too.

    On artanh r by leaving out each cluster, t with the degrees of freedom that the kurtosis of what
    clusters add leaves: with errors from the influence y f - (r / 2)(y^2 + f^2) of standardised y
    and f it held in .92 of the cases on 50 documents of SummEval (experiments/trust). Where
    clusters hold several labelled units (all summaries of an article) y and f are the clusters'
    sums: these decide how far a mean over clusters is off. Single texts of FRANK promise .24 of the
    labels where .15 is saved, and .09 where nothing is.

    Args:
        truth: [units], NaN without a label.
        values: [judges, units].
        free: [units, columns] what is known without a judge (dummies of systems, words); taken out
            of both by least squares.
        weight: [units] 1 / chance of the label, so that rho^2 is of the whole pool and not of the
            units that were likely to be labelled; None: all alike.
    """
    found = np.full((5, len(values)), np.nan)
    w = np.ones(len(truth)) if weight is None else weight
    there = ~np.isnan(truth) & ~np.isnan(values)
    for mask, which in _alike(there):
        if not mask.any():
            continue
        base = np.ones((int(mask.sum()), 1))
        base = base if free is None else np.column_stack([base, free[mask]])
        numbers = np.unique(cluster[mask], return_inverse=True)[1]
        both = np.concatenate([truth[mask][None], values[which][:, mask]])
        found[:, which] = _of_complete(both, base, numbers, level, w[mask] / w[mask].mean())
    value, low, high, r, top = found
    return Saving(value, low, high, r, top < 0, there.sum(axis=1).astype(np.int64))


def _alike(there: Mask) -> list[tuple[Mask, NDArray[np.intp]]]:
    """Patterns [units] of what is there, and the judges that have each."""
    patterns: dict[bytes, list[int]] = {}
    for k, row in enumerate(there):
        patterns.setdefault(row.tobytes(), []).append(k)
    return [(there[which[0]], np.array(which, np.intp)) for which in patterns.values()]


def _of_complete(
    both: Floats, base: Floats, cluster: NDArray[np.intp], level: float, weight: Floats
) -> Floats:
    """[value, low, high, r, upper end of r] x [judges] of people and judges that have all units."""
    n, groups, taken = both.shape[1], int(cluster.max()) + 1, int(np.linalg.matrix_rank(base))
    if groups < FEWEST + 1 or n <= taken + 1:
        return np.full((5, len(both) - 1), np.nan)
    root = np.sqrt(weight)
    left = both - (base @ np.linalg.lstsq(base * root[:, None], (both * root).T, rcond=None)[0]).T
    if groups < n:  # what a cluster adds, in units of its own mean weight
        own = np.bincount(cluster, weight) / np.bincount(cluster)
        left, weight = cluster_sums(left * weight / own[cluster], cluster), own / own.mean()
    spread = np.sqrt((weight * left**2).mean(axis=1))
    nothing = spread <= 1e-9 * np.maximum(np.abs(both).max(axis=1), 1e-300)
    scaled = left / np.where(nothing, np.nan, spread)[:, None]
    y, f = scaled[0], scaled[1:]
    r = np.clip((weight * y * f).mean(axis=1), -ALMOST_ONE, ALMOST_ONE)
    z = np.arctanh(r)
    added = leaving_out(f, np.broadcast_to(y, f.shape), np.arange(f.shape[1]), z, weight)
    ends = [np.tanh(end) for end in heavy_ends(added, level)]
    q = 1 - ((1 - level) / 2) ** (1 / groups)  # of a perfect judge so many others may be wrong
    perfect = np.abs(r) >= ALMOST_ONE
    surely = r - q * (r + 1), r + q * (1 - r)
    ends = [np.where(perfect, *both) for both in zip(surely, ends, strict=True)]
    freedom = groups - max(1, round(taken * groups / n))
    adjusted = np.maximum(0.0, 1 - (1 - r**2) * freedom / (freedom - 1))
    squares = [np.maximum(end, 0.0) ** 2 for end in ends]
    return np.stack([np.where(r <= 0, 0.0, adjusted), *squares, r, ends[1]])


def dummies(names: NDArray[np.object_]) -> Floats:
    """[units, names - 1] which of the names a unit has; no columns for a single name."""
    known = list(dict.fromkeys(names))[1:]
    return np.array([[name == one for one in known] for name in names], float).reshape(
        len(names), len(known)
    )


def worth(rho2: ArrayLike, n: ArrayLike, rest: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Effective labels, labels that one verdict is worth, and the most that verdicts can multiply.

    n_eff = n / (1 - rho^2 N / M); (n_eff - n) / N = n rho^2 / (M - rho^2 N), which without a rest
    is what the first verdict more would be worth; 1 / (1 - rho^2).
    """
    r2, few, many = (np.asarray(x, dtype=np.float64) for x in (rho2, n, rest))
    left = few + many - r2 * many
    return divide(few * (few + many), left), divide(few * r2, left), divide(1.0, 1 - r2)
