"""Correlation of two score tables on the same items and agents, clustered by item.

Cells of one item are not independent, so intervals leave out whole items, one at a time. NaN is
unscored; shapes other than named, and infinities, are a ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from judgelab.stats.intervals.arrays import Floats, average_ranks, check_array, check_pair, divide
from judgelab.stats.intervals.ends import NEARLY_ONE, fisher_ends
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import Kind, item_draws, percentile_interval

Method = Literal["spearman", "pearson", "kendall"]
# what studies show side by side
METHODS: tuple[Literal["spearman", "pearson"], ...] = ("spearman", "pearson")

AT_ONCE = 2_000_000  # cells of resampled tables in memory
FEW = 8  # items below which a perfect correlation has the p of a permutation


def clustered_correlation(
    x: ArrayLike,
    y: ArrayLike,
    method: Method = "spearman",
    draws: int = 2000,
    seed: int = 0,
    interval: Kind = "items",
) -> Estimate:
    """Correlation pooled over all (item, agent) cells, with an item-clustered interval.

    Args:
        x, y: [items, agents], the same items and agents; NaN where unscored.
        method: spearman (average ranks), pearson, or kendall (tau-b: corrected for ties).
        interval: from leaving out each item (``fisher_ends``), or the percentile bootstrap.

    n counts items with a cell scored in both, unscored *cells* where x or y is NaN. No value where
    x or y is constant, no interval with fewer than three items or where leaving out one makes x or
    y constant. p: two-sided, of Fisher's z over its jackknife error by t with items - 1 degrees;
    without a correlation it fell below .05 in .02 to .08 of simulations, the p of independent cells
    in up to .13.
    """
    first, second = _shared_cells(x, y)
    has_both = ~np.isnan(first)
    n = int(np.count_nonzero(has_both.any(axis=1)))
    unscored = int(np.count_nonzero(~has_both))
    if np.count_nonzero(has_both) < 2:
        return Estimate(np.nan, n=n, unscored=unscored)

    def of(items: NDArray[np.int64]) -> Floats:
        """[sets] of these items [sets, items of a set], as many sets at once as memory bears."""
        parts = np.array_split(items, -(-items.size * first.shape[1] // AT_ONCE))
        tables = ([side[k].reshape(len(k), -1) for side in (first, second)] for k in parts)
        return np.concatenate([_row_correlations(x, y, method) for x, y in tables])

    everything = np.arange(len(first))
    value = float(of(everything[None])[0])
    if n < 3 or np.isnan(value):
        return Estimate(value, n=n, unscored=unscored)
    without = of(np.stack([np.delete(everything, k) for k in everything[has_both.any(axis=1)]]))
    if interval == "percentile":
        low, high = percentile_interval(of(item_draws(len(first), draws, seed)))
    else:
        low, high = map(float, fisher_ends(value, without))
    return Estimate(value, low, high, n, unscored, _jackknife_p(value, without))


def item_correlations(x: ArrayLike, y: ArrayLike) -> Floats:
    """Spearman's across the agents of each item [items]; NaN where it is undefined."""
    return _row_correlations(*_shared_cells(x, y), "spearman")


def _jackknife_p(value: float, without: Floats) -> float:
    """p of no correlation, with what leaving out each item in turn does to Fisher's z."""
    z = np.arctanh(np.clip(np.append(without, value), -NEARLY_ONE, NEARLY_ONE))
    z_without, z_whole = z[:-1], float(z[-1])
    n = len(without)
    error = float(np.sqrt((n - 1) / n * ((z_without - z_without.mean()) ** 2).sum()))
    if np.isnan(error):
        return error
    if abs(value) > NEARLY_ONE and n < FEW:  # of all orders of the items, this one and its reverse
        return min(1.0, 2 / math.factorial(n))
    if error <= 1e-12 * abs(z_whole):
        return 0.0 if z_whole else 1.0
    return float(2 * stdtr(n - 1, -abs(z_whole) / error))


def _shared_cells(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    first, second = check_pair(x, y, 2, "The correlation")
    has_both = ~(np.isnan(first) | np.isnan(second))
    return np.where(has_both, first, np.nan), np.where(has_both, second, np.nan)


def _standard_rows(rows: Floats) -> Floats:
    """Rows centred, NaN as 0, divided by their norm; NaN for rows of no spread."""
    has_score = ~np.isnan(rows)
    cells = np.where(has_score, rows, 0.0)
    means = divide(cells.sum(axis=1), has_score.sum(axis=1))[:, None]
    centred = np.where(has_score, cells - means, 0.0)
    spread = np.abs(centred).max(axis=1, initial=0.0, keepdims=True)
    largest = np.abs(cells).max(axis=1, initial=0.0, keepdims=True)
    # A row that is constant up to rounding has no direction.
    centred = divide(centred, np.where(spread <= 1e-12 * largest, 0.0, spread))
    return divide(centred, np.sqrt((centred**2).sum(axis=1, keepdims=True)))


def _row_correlations(x: Floats, y: Floats, method: Method) -> Floats:
    """[rows] of x and y [rows, cells], both NaN where either is; NaN where x or y is constant."""
    if method == "kendall":
        from scipy.stats import kendalltau  # scipy.stats takes a second

        rows = zip(x, y, ~np.isnan(x), strict=True)
        return np.array(
            [kendalltau(a[k], b[k]).statistic if k.sum() > 1 else np.nan for a, b, k in rows]
        )
    if method == "spearman":
        x, y = average_ranks(x), average_ranks(y)
    both = _standard_rows(x)[:, None] @ _standard_rows(y)[:, :, None]
    return np.asarray(np.clip(both[:, 0, 0], -1.0, 1.0), dtype=np.float64)


def joint_symmetry(
    conditional: ArrayLike, marginal: ArrayLike, tokens: ArrayLike
) -> Mapping[tuple[str, str], Estimate]:
    """Correlation of log P(x) + log P(y|x) with log P(y) + log P(x|y), clustered by item.

    Each pair of agents enters as (x, y) and as (y, x), as in the paper, so that no order of agents
    decides which of two sums is which; intervals are over items, which that does not narrow.

    Args:
        conditional: [items, agents x, agents y] log P(y|x), nats; the diagonal is never read.
        marginal, tokens: [items, agents] log P(x), nats, and number of scored tokens.

    Returns:
        (``text``: sums as the paper has them, or ``token``: divided by the tokens of both texts;
            spearman or pearson) -> estimate; n counts items, unscored pairs.
    """
    cross = np.asarray(conditional, dtype=np.float64)
    own = check_array(marginal, 2, "The marginal log-probabilities")
    length = check_array(tokens, 2, "The token counts")
    x, y = np.nonzero(~np.eye(own.shape[1], dtype=np.bool_))
    first, second = own[:, x] + cross[:, x, y], own[:, y] + cross[:, y, x]
    size = length[:, x] + length[:, y]
    unknown = np.isnan(first + second + size)
    first[unknown] = second[unknown] = size[unknown] = np.nan
    sides = {"text": (first, second), "token": (first / size, second / size)}
    estimates = {
        (per, method): clustered_correlation(*both, method)
        for per, both in sides.items()
        for method in METHODS
    }
    alone = np.count_nonzero(~unknown) == 2  # one pair in both orders would correlate at -1
    return {
        key: replace(one, value=np.nan if alone else one.value, unscored=one.unscored // 2)
        for key, one in estimates.items()
    }
