"""What an attack changes: the scores, the effect size, the AUC (TVD-MI paper, section 4.2.1).

Attacked and clean panels hold the same items, so every interval resamples items once and
evaluates both sides on the same resample. An item or agent scored on one side only is left out
of both: a failed call is not an effect of the attack.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.discrimination.effect_size import effect_size, resampled_effect_sizes
from judgelab.stats.intervals.arrays import Floats, checked_pair, divide, row_means
from judgelab.stats.intervals.bootstrap import bootstrap_mean, item_weights, percentile_interval
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.sign_flip import sign_flip_p


def score_delta(
    clean: ArrayLike, attacked: ArrayLike, draws: int = 2000, seed: int = 0
) -> Estimate:
    """Mean over items of the mean over agents of attacked - clean.

    The paper's Table 4 prints a constant +-0.050 here, a fallback of its code; this is the
    item-bootstrap interval.

    Args:
        clean: [items, agents], NaN where unscored.
        attacked: [items, agents], the same items and agents.
        draws: bootstrap resamples, and sign flips of the p value.
        seed: of both.

    Returns:
        In units of the score. Agents count where both sides are scored; items without such an
        agent are unscored. p: two-sided sign-flip test over items.

    Raises:
        ValueError: shapes differ, or infinities.
    """
    before, after = checked_pair(clean, attacked, 2, "The score delta")
    return _mean_change(row_means(after - before), draws, seed)


def auc_delta(
    clean_auc: ArrayLike, attacked_auc: ArrayLike, draws: int = 2000, seed: int = 0
) -> Estimate:
    """Mean over items of attacked AUC - clean AUC, on items that have both.

    Args:
        clean_auc: [items] from ``item_auc`` or ``pair_auc``; NaN is unscored.
        attacked_auc: [items], the same items.
        draws: bootstrap resamples, and sign flips of the p value.
        seed: of both.

    Raises:
        ValueError: shapes differ, or infinities.
    """
    before, after = checked_pair(clean_auc, attacked_auc, 1, "The AUC delta")
    return _mean_change(after - before, draws, seed)


def effect_size_delta(
    clean_difference: ArrayLike, attacked_difference: ArrayLike, draws: int = 2000, seed: int = 0
) -> Estimate:
    """d(attacked) - d(clean), paired effect sizes on the items scored in both.

    The interval subtracts the two d of one resample, so it is the interval of the change and
    not the sum of two intervals. p: two-sided, from swapping the clean and the attacked value of
    whole items at random, which is exact where the attack changes nothing.

    Args:
        clean_difference: [items] from ``group_difference``; NaN is unscored.
        attacked_difference: [items], the same items.
        draws: bootstrap resamples, and swaps of the p value.
        seed: of both.

    Returns:
        NaN where either d is undefined (fewer than two shared items, or no spread); no interval
        with fewer than three shared items.

    Raises:
        ValueError: shapes differ, or infinities.
    """
    before, after = checked_pair(clean_difference, attacked_difference, 1, "The effect-size delta")
    shared = ~(np.isnan(before) | np.isnan(after))
    before, after = np.where(shared, before, np.nan), np.where(shared, after, np.nan)
    n = int(np.count_nonzero(shared))
    value = effect_size(after) - effect_size(before)
    if np.isnan(value):
        return Estimate(value, value, value, n, len(shared) - n)
    weights = item_weights(len(shared), draws, seed)
    samples = resampled_effect_sizes(after, weights) - resampled_effect_sizes(before, weights)
    low, high = percentile_interval(samples) if n > 2 else (np.nan, np.nan)
    p = _swap_p(before[shared], after[shared], draws, seed)
    return Estimate(value, low, high, n, len(shared) - n, p)


def _swap_p(before: Floats, after: Floats, permutations: int, seed: int) -> float:
    """Share of random swaps whose change of d is at least the observed one (which counts)."""
    swap = np.random.default_rng((seed, 2)).random((permutations, len(before))) < 0.5
    swap[0] = False  # the observed assignment is one of those that could have been
    changes = _row_effect_sizes(np.where(swap, before, after)) - _row_effect_sizes(
        np.where(swap, after, before)
    )
    bar = abs(changes[0]) * (1 - 1e-12)
    return float(np.mean(~(np.abs(changes) < bar)))  # an undefined d counts against the finding


def _row_effect_sizes(values: Floats) -> Floats:
    spread = values.std(axis=1, ddof=1)
    return divide(values.mean(axis=1), np.where(spread > 0, spread, np.nan))


def _mean_change(change: Floats, draws: int, seed: int) -> Estimate:
    mean = bootstrap_mean(change, draws, seed)
    p = sign_flip_p(change, draws, seed)
    return Estimate(mean.value, mean.low, mean.high, mean.n, mean.unscored, p)
