"""May a ranking be believed? What is known of it without people, and what that was worth before.

Three figures are known of a ranking without a label (``features``). On public sets that people
graded, a ridge regression of Kendall's tau with people's means on them, and its errors on sets that
were left out, give the probability that tau is as high as somebody asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from judgelab.stats.intervals.arrays import Floats, average_ranks, divide, row_means
from judgelab.stats.screen.exam import correlation

FEATURES = ("reliability", "length", "critics")
REACH = 2.0  # standard deviations of a feature on the public sets
RIDGE = 1.0  # times the rows: coefficients of standardised features shrink by half


@dataclass(frozen=True)
class Belief:
    """How tau was predicted on the public sets."""

    intercept: float
    means: Mapping[str, float]  # means, sds, slopes: of each feature
    sds: Mapping[str, float]
    slopes: Mapping[str, float]
    error: float  # root mean square error on sets that were left out
    sets: Sequence[str]  # each left out once

    def tau(self, features: Mapping[str, float]) -> float:
        """Predicted Kendall's tau; a feature that is not known counts as usual, and one beyond
        those that were seen as the last of them."""
        steps = {
            name: np.clip((features[name] - self.means[name]) / self.sds[name], -REACH, REACH)
            for name in FEATURES
            if not np.isnan(features[name])
        }
        total = self.intercept + sum(self.slopes[name] * step for name, step in steps.items())
        return float(np.clip(total, -1, 1))

    def probability(self, features: Mapping[str, float], least: float) -> float:
        """That tau is at least so much; sets differ, rows of one set do not."""
        freedom = max(len(self.sets) - 1, 1)
        return float(stdtr(freedom, (self.tau(features) - least) / self.error))


def features(effect: Floats, words: Floats, critics: Sequence[Floats]) -> dict[str, float]:
    """What is known of a ranking by mean effect [items, agents], with the mean words of the agents'
    texts, and their mean effects by each critic.

    ``reliability``: 1 - variance of the means that is due to the items drawn, over their variance,
    at least 0; ``length``: squared correlation of means with log words; ``critics``: mean rank
    correlation of two critics.
    """
    means = row_means(effect.T)
    residual = effect - row_means(effect)[:, None] - means + np.nanmean(means)
    n = (~np.isnan(effect)).sum(axis=0)
    noise = float(np.mean(divide(np.nansum(residual**2, axis=0), n * (n - 1))))
    ranks = [average_ranks(one) for one in critics]
    pairs = [correlation(x, y) for k, x in enumerate(ranks) for y in ranks[:k]]
    return {
        "reliability": max(1 - float(divide(noise, means.var(ddof=1))), 0.0),
        "length": correlation(means, np.log(words)) ** 2,
        "critics": float(np.mean(pairs)) if pairs else np.nan,
    }


def fit(rows: Sequence[Mapping[str, float]], taus: Sequence[float], of: Sequence[str]) -> Belief:
    """Ridge regression of the taus with people on the features of rankings (``rows``), every set
    counting alike; with leave-one-set-out error, all to four digits."""
    sets, names, y = sorted(set(of)), np.array(of), np.array(taus)
    x = np.array([[row[name] for name in FEATURES] for row in rows])
    share = np.array([1 / (names == one).sum() for one in names])

    def solve(keep: Floats) -> tuple[Floats, Floats, Floats, float]:
        w = (share * keep) / (share * keep).sum()
        mean = w @ x
        sd = np.sqrt(w @ (x - mean) ** 2)
        z, middle = (x - mean) / sd, float(w @ y)
        slopes = np.linalg.solve(
            (z * w[:, None]).T @ z + RIDGE * np.eye(x.shape[1]), z.T @ (w * (y - middle))
        )
        return mean, sd, slopes, middle

    errors = []
    for one in sets:
        mean, sd, slopes, middle = solve((names != one).astype(np.float64))
        own = names == one
        predicted = middle + (x[own] - mean) / sd @ slopes
        errors.append(float(np.mean((y[own] - predicted) ** 2)))
    mean, sd, slopes, middle = solve(np.ones(len(y)))

    by_name = [dict(zip(FEATURES, v.round(4).tolist(), strict=True)) for v in (mean, sd, slopes)]
    error = round(float(np.sqrt(np.mean(errors))), 4)
    return Belief(round(middle, 4), by_name[0], by_name[1], by_name[2], error, sets)
