"""The papers' interval beside ours: percentiles over resampled items, of many data sets at once."""

from __future__ import annotations

import numpy as np

from judgelab.stats.discernment.score import combine_metrics, metric_weights
from judgelab.stats.discernment.wilcoxon import signed_rank_log_p
from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.intervals.ends import Ends
from judgelab.stats.intervals.means import item_draws, item_weights


def percentile_of(values: Floats, level: float = 0.95) -> Ends:
    """Central part of [draws, sets]."""
    low, high = np.nanquantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high


def resampled_ratio(total: Floats, count: Floats, draws: int) -> Floats:
    """[draws, sets] sums over counts of resampled items."""
    weights = item_weights(total.shape[1], draws, 0)
    return divide(weights @ total.T, weights @ count.T)


def resampled_d(values: Floats, draws: int) -> Floats:
    """[draws, sets] mean over standard deviation of resampled items."""
    n = values.shape[1]
    weights, centre = item_weights(n, draws, 0), values.mean(axis=1)
    off = values - centre[:, None]
    means, squares = weights @ off.T / n, weights @ (off**2).T / n
    spread = np.sqrt(np.maximum(squares - means**2, 0.0) * n / (n - 1))
    return divide(means + centre, np.where(spread > 1e-9 * np.abs(off).max(), spread, 0.0))


def resampled_discernment(before: Floats, after: Floats, draws: int) -> Floats:
    """[draws] D of resampled items, all metrics alike, of [items, metrics]."""
    some = np.moveaxis((before - after)[item_draws(len(before), draws, 0)], 1, 2)
    d, _ = combine_metrics(signed_rank_log_p(some), metric_weights(before.shape[1], None))
    return d
