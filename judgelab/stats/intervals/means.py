"""Means over items with intervals that hold on few items (``ends``).

Throughout, NaN is unscored; shapes other than named, and infinities, are a ValueError.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import Floats, checked
from judgelab.stats.intervals.bootstrap import bootstrap_mean, sign_flip_p
from judgelab.stats.intervals.ends import mean_ends, mean_p, share_ends, share_p
from judgelab.stats.intervals.estimate import Estimate

Kind = Literal["items", "percentile"]
"""Whose interval: from what each item adds, or the papers' percentile bootstrap over items."""

Bounds = tuple[float, float]


def item_mean(values: ArrayLike, bounds: Bounds | None = None, level: float = 0.95) -> Estimate:
    """Mean over items [items] with an interval; none with fewer than three scored items.

    Args:
        bounds: least and largest value there can be, (0, 1) for shares and AUC, (-1, 1) for
            correlations: then ``share_ends``, else ``mean_ends``, which have no interval where
            all items are equal.
    """
    items = checked(values, 1, "The values of a mean over items")
    if bounds is None:
        low, high = mean_ends(items, level)
    else:
        _within(items, bounds)
        low, high = share_ends(items, level, bounds)
    return _estimate(items, float(low), float(high))


def item_change(values: ArrayLike, limit: float | None = None) -> Estimate:
    """Mean over items of a difference of two scores of the same item [items], by ``mean_ends``.

    Args:
        limit: the largest difference there can be, 1 for shares and AUC, 2 for correlations:
            with it there is an interval where no item changes, too.
    """
    items = checked(values, 1, "The changes of items")
    bounds = None if limit is None else (-limit, limit)
    if bounds is not None:
        _within(items, bounds)
    low, high = mean_ends(items, bounds=bounds)
    return _estimate(items, float(low), float(high))


def with_p(
    values: ArrayLike,
    kind: Kind,
    draws: int,
    seed: int,
    *,
    null: float = 0.0,
    bounds: Bounds | None = None,
    limit: float | None = None,
) -> Estimate:
    """A mean (``null`` .5 of an AUC) or a change, with the two-sided p of ``null``.

    Args:
        kind: ``percentile`` resamples items ``draws`` times, with the papers' sign-flip p; else
            ``item_mean`` with ``bounds``, or ``item_change`` without, and p is of the same test as
            the interval, which leaves out ``null`` exactly where p is below .05.
    """
    items = np.asarray(values, dtype=np.float64)
    if kind == "percentile":
        found = bootstrap_mean(items, draws, seed)
        return replace(found, p=sign_flip_p(items - null, draws, seed))
    if bounds is None:
        p = mean_p(items - null, None if limit is None else (-limit, limit))
        return replace(item_change(items, limit), p=float(p))
    return replace(item_mean(items, bounds), p=float(share_p(items, null, bounds)))


def _within(items: Floats, bounds: Bounds) -> None:
    """Refuse values that the bounds rule out, but for rounding."""
    known = items[~np.isnan(items)]
    slack = 1e-6 * (bounds[1] - bounds[0])
    if known.size and (known.min() < bounds[0] - slack or known.max() > bounds[1] + slack):
        raise ValueError(
            f"Values lie between {known.min():g} and {known.max():g}, not within {bounds}: "
            "leave out the bounds, or give those of this statistic."
        )


def _estimate(items: Floats, low: float, high: float) -> Estimate:
    known = items[~np.isnan(items)]
    value = float(known.mean()) if known.size else float("nan")
    return Estimate(value, low, high, known.size, items.size - known.size)
