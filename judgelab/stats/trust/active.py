"""Which items to label next, and unbiased means from items with unequal chances of a label.

Active inference (2403.03208): an item whose residual is likely to be large gets a label more
often, with a probability that is stored, and counts for its inverse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.intervals.ends import share_ends
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.clustered import per_cluster

RIDGE = 1.0
"""Items' worth of pull of a coefficient towards 0, features in standard deviations."""

LEAST = 0.1
"""Smallest predicted residual, as a share of the mean one: a prediction may be wrong."""


@dataclass(frozen=True)
class Predicted:
    """What earlier labels tell of items; [judges, items].

    Attributes:
        mean: m_i, prediction of the value; of labelled items by fits without their fold.
        spread: u_i, predicted size of the residual, in the same way.
        residual: value - mean of labelled items; NaN else.
    """

    mean: Floats
    spread: Floats
    residual: Floats


def predicted(y: Floats, features: Floats, fold: NDArray[np.intp]) -> Predicted:
    """Ridge regressions of the values, and of their squared residuals, across folds.

    Args:
        y: [judges, items] values, NaN without a label.
        features: [judges, items, features], all known.
        fold: [items] number; items of one cluster share it.
    """
    mean = _across(y, features, fold)
    residual = y - mean
    squared = _across(residual**2, features, fold)
    least = LEAST**2 * np.nanmean(residual**2, axis=1, keepdims=True)
    return Predicted(mean, np.sqrt(np.fmax(squared, least)), residual)


def _across(y: Floats, features: Floats, fold: NDArray[np.intp]) -> Floats:
    """Predictions [judges, items]; where there is a label, by the labels of other folds."""
    known = ~np.isnan(y)
    centre = features.mean(axis=1, keepdims=True)
    spread = features.std(axis=1, keepdims=True)
    z = (features - centre) / np.where(spread > 0, spread, 1.0)
    design = np.concatenate([np.ones((*z.shape[:2], 1)), z], axis=2)
    pull = RIDGE * np.eye(design.shape[2])
    pull[0, 0] = 1e-9
    made = np.empty(y.shape)
    for out in (-1, *np.unique(fold)):  # -1: of unlabelled items, by all labels
        used = (known & (fold != out)).astype(float)
        gram = np.einsum("jik,ji,jil->jkl", design, used, design, optimize=True) + pull
        right = np.einsum("jik,ji,ji->jk", design, used, np.nan_to_num(y), optimize=True)
        fit = np.linalg.solve(gram, right[..., None])[..., 0]
        here = ~known if out < 0 else known & (fold == out)
        made = np.where(here, np.einsum("jik,jk->ji", design, fit), made)
    return made


def together(spread: Floats) -> Floats:
    """[items] one size of residuals for all judges, each in shares of its own mean.

    A judge of whom all is foretold (it always does as a control, say) has no say.
    """
    uncertain = spread[spread.mean(axis=1) > 0]
    if not len(uncertain):
        return np.ones(spread.shape[1])
    own = uncertain / uncertain.mean(axis=1, keepdims=True)
    return np.asarray(np.sqrt((own**2).mean(axis=0)))


def chances(spread: Floats, budget: float, tau: float = 0.5) -> Floats:
    """[items] pi_i = min(1, B (tau / M + (1 - tau) u_i / sum u)); what 1 cuts off goes to others.

    Args:
        spread: [items] u_i, all above 0.
        budget: B, the expected number of labels.
        tau: share of the budget that is spread evenly, so that no chance is near 0.
    """
    share = tau / len(spread) + (1 - tau) * spread / spread.sum()
    made = np.minimum(budget * share, 1.0)
    for _ in range(len(spread)):
        left, open_ = budget - made.sum(), made < 1
        if left <= 1e-9 * budget or not open_.any():
            break
        made[open_] = np.minimum(made[open_] * (1 + left / made[open_].sum()), 1.0)
    return np.asarray(made)


def predicted_gain(residual: Floats, spread: Floats, tau: float = 0.5) -> float:
    """Share of the variance that unequal chances would save, on labels that predicted nothing here.

    With chances in proportion to w_i = tau + (1 - tau) u_i / mean u, the variance due to labels is
    that of equal chances times mean(e^2 / w) / mean(e^2).

    Args:
        residual: [judges, labelled] e.
        spread: [labelled] u.
    """
    weight = tau + (1 - tau) * spread / spread.mean()
    squares = residual**2
    of_judge = np.nanmean(squares, axis=1, keepdims=True)
    squares = squares / np.where(of_judge > 0, of_judge, np.nan)
    if np.isnan(squares).all():
        return 0.0
    return float(1 - np.nanmean(squares / weight))


def drawn(chance: Floats, rng: np.random.Generator) -> Mask:
    """[items] which are to be labelled, each by itself with its chance (Poisson sampling).

    Where all chances are equal, exactly their sum of items, rounded.
    """
    if np.ptp(chance) > 1e-12:
        return np.asarray(rng.random(len(chance)) < chance)
    made = np.zeros(len(chance), np.bool_)
    made[rng.permutation(len(chance))[: round(float(chance.sum()))]] = True
    return made


def in_either(before: Floats, now: Floats) -> Floats:
    """Chance of a label in one round or the other: 1 - (1 - before)(1 - now)."""
    return np.asarray(1 - (1 - before) * (1 - now))


def weighted_mean(
    y: Floats,
    mean: Floats,
    chance: Floats,
    cluster: NDArray[np.intp],
    bounds: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
) -> Estimate:
    """(1 / M) sum of m_i + (y_i - m_i) / pi_i over labelled items, m_i alone over the others.

    Unbiased whatever m predicts, if the chances are right. The variance is that of the terms over
    M, by cluster.

    Args:
        y: [items] value; NaN: not labelled.
        mean: [items] m_i; should not be fitted on the item's own label.
        chance: [items] above 0.
        bounds: least and largest value there can be.
    """
    known = ~np.isnan(y)
    terms = mean + np.where(known, (np.nan_to_num(y) - mean) / chance, 0.0)
    spread = per_cluster(terms, cluster)
    low, high = share_ends(spread, level, bounds)
    value = float(terms.mean())
    return Estimate(
        value,
        float(np.fmin(low, value)),
        float(np.fmax(high, value)),
        int(known.sum()),
        int((~known).sum()),
        clusters=len(spread),
    )
