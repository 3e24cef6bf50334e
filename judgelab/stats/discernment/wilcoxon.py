"""One-sided Wilcoxon signed-rank tests, many at a time, as logarithms of p.

scipy tests one sample at a time where ties and zeros differ between samples, as they do in every
resample, and returns p, which is 0 from some 2,000 items on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr
from scipy.stats import rankdata

from judgelab.stats.intervals.arrays import Floats

ZeroMethod = Literal["wilcox", "pratt", "zsplit"]
"""What becomes of unchanged items: they are dropped; ranked, then dropped; or ranked, with half
of their ranks on either side."""

Method = Literal["auto", "normal", "exact"]
"""The null distribution: ``exact`` given the ties and zeros there are (all sign patterns equally
likely), the ``normal`` approximation with tie correction, or ``auto``: exact up to EXACT_UP_TO
items. scipy 1.17 agrees wherever it is exact itself, and beyond 50 items."""

EXACT_UP_TO = 50
COUNTED = 200
"""Items that ``exact`` serves: a test of so many takes milliseconds, a study makes 100,000 of them,
and the time grows with the cube of the items."""

DIGITS = 12  # differences that agree so far, relative to the largest, are ties


@dataclass(frozen=True)
class SignedRanks:
    """Ranks of absolute differences.

    Attributes:
        ranks: [rows, items] midranks; 0 for items that do not count.
        given: [rows] what zeros add to every W+ (``zsplit``; else 0).
        mean, variance: [rows] of W+ under the null.
        items: [rows] how many items were scored, unchanged ones included.
    """

    ranks: Floats
    given: Floats
    mean: Floats
    variance: Floats
    items: Floats


def signed_rank_log_p(
    differences: ArrayLike, zero_method: ZeroMethod = "wilcox", method: Method = "auto"
) -> Floats:
    """Natural logarithm of p for the alternative that differences lie above 0.

    Args:
        differences: [..., items]; NaN entries are left out.
        zero_method: what becomes of differences of 0.
        method: the null distribution of W+.

    Returns:
        [...]: 0 (p = 1) where all scored differences are 0; NaN where none is scored. Never above
        0, and finite: a p that is too small for a float still has its logarithm.

    Raises:
        ValueError: infinite differences, an unknown method, or too many items for ``exact``.
    """
    given = tidy(differences)
    rows = given.reshape(-1, given.shape[-1])
    ranked = signed_ranks(rows, zero_method)
    found = np.sum(np.where(rows > 0, ranked.ranks, 0.0), axis=-1) + ranked.given
    return log_p_of(ranked, found[:, None], method)[:, 0].reshape(given.shape[:-1])


def tidy(differences: ArrayLike) -> Floats:
    """Differences on a scale of 1, rounded so that means of ratings tie as they should.

    Raises:
        ValueError: infinite differences.
    """
    given = np.asarray(differences, dtype=np.float64)
    if np.isinf(given).any():
        raise ValueError("A signed-rank test has infinite differences: mark unscored as NaN.")
    largest = np.max(np.abs(given), initial=0.0, where=~np.isnan(given))
    return np.round(given / largest, DIGITS) if largest > 0 else given


def signed_ranks(differences: Floats, zero_method: ZeroMethod) -> SignedRanks:
    """Rank the absolute differences [rows, items] of every row.

    Raises:
        ValueError: an unknown zero method.
    """
    if zero_method not in ("wilcox", "pratt", "zsplit"):
        raise ValueError(f"zero_method={zero_method!r} must be wilcox, pratt or zsplit.")
    unscored, zero = np.isnan(differences), differences == 0
    dropped = unscored | zero if zero_method == "wilcox" else unscored
    sizes = np.where(dropped, np.inf, np.abs(differences))
    first, last = (rankdata(sizes, which, axis=-1) for which in ("min", "max"))
    ranks, ties = np.where(dropped, 0.0, (first + last) / 2), last - first + 1.0
    counted = ~dropped if zero_method == "zsplit" else ~(dropped | zero)
    n, n0 = (np.sum(mask, axis=-1).astype(np.float64) for mask in (~dropped, zero & ~dropped))
    mean = n * (n + 1) / 4
    spread = n * (n + 1) * (2 * n + 1)
    given = np.zeros_like(n)
    if zero_method == "pratt":
        mean -= n0 * (n0 + 1) / 4
        spread -= n0 * (n0 + 1) * (2 * n0 + 1)
    elif zero_method == "zsplit":
        given = np.sum(np.where(zero, ranks, 0.0), axis=-1) / 2
    tied = np.sum(np.where(counted, ties**2 - 1, 0.0), axis=-1)  # sum of t^3 - t over groups
    variance = np.maximum(spread - tied / 2, 0.0) / 24
    ranks = np.where(zero, 0.0, ranks)
    return SignedRanks(ranks, given, mean, variance, np.sum(~unscored, axis=-1).astype(np.float64))


def log_p_of(ranked: SignedRanks, found: Floats, method: Method = "auto") -> Floats:
    """log P(W+ >= found) [rows, values] under the null.

    Raises:
        ValueError: an unknown method, or too many items for ``exact``.
    """
    if method not in ("auto", "normal", "exact"):
        raise ValueError(f"method={method!r} must be auto, normal or exact.")
    spread = np.sqrt(ranked.variance)[:, None]
    z = np.divide(found - ranked.mean[:, None], spread, out=np.zeros_like(found), where=spread > 0)
    log_p = log_ndtr(-z)
    if method != "normal":
        few = ranked.items <= (EXACT_UP_TO if method == "auto" else math.inf)
        if np.max(ranked.items, initial=0.0, where=few) > COUNTED:
            raise ValueError(f"method=exact serves up to {COUNTED} items: use auto or normal.")
        _exact(ranked, found, few, log_p)
    changed = np.count_nonzero(ranked.ranks, axis=-1, keepdims=True) > 0
    log_p = np.where(changed, log_p, 0.0)
    return np.where(ranked.items[:, None] > 0, log_p, np.nan)


def _exact(ranked: SignedRanks, found: Floats, few: NDArray[np.bool_], into: Floats) -> None:
    """Replace the rows of ``few``; rows with the same ranks share their distribution."""
    if not few.any():
        return
    doubled = np.sort(np.rint(2 * ranked.ranks[few]).astype(np.int64), axis=-1)
    steps = np.ceil(2 * (found[few] - ranked.given[few][:, None]) - 1e-6).astype(np.int64)
    patterns, place = np.unique(doubled, axis=0, return_inverse=True)
    order = np.argsort(place.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(place.ravel(), minlength=len(patterns)))
    log_p = np.empty(steps.shape)
    for pattern, rows in zip(patterns, np.split(order, ends[:-1]), strict=True):
        log_p[rows] = np.log(_upper_tails(pattern[pattern > 0], steps[rows]))
    into[few] = log_p


def _upper_tails(doubled: NDArray[np.int64], steps: NDArray[np.int64]) -> Floats:
    """P(sum of a random half of the ranks >= step) for ranks in ascending order.

    The distribution is symmetric, so sums are counted from below, and only as far as some step
    needs; small p are sums of positive terms.
    """
    total = int(doubled.sum())
    at = np.clip(steps, 0, total)
    above = at > total - at
    counted = np.where(above, total - at, at - 1)  # the largest sum that belongs to the tail
    most = max(int(counted.max(initial=0)), 0)
    ways = np.zeros(most + 1)
    ways[0] = 1.0
    reached = 0
    for rank in doubled.tolist():
        if rank > most:
            break
        end = min(reached, most - rank)
        ways[rank : end + rank + 1] += ways[: end + 1]
        reached = end + rank
    share = np.concatenate([[0.0], np.cumsum(ways) / 2.0 ** len(doubled)])[counted + 1]
    return np.asarray(np.where(above, share, 1 - share), dtype=np.float64)
