"""How sure is the order of two systems that differ by delta, under a metric of correlation r?

Stureborg, Alikaniotis, Suhara: "Characterizing the Confidence of Large Language Model-Based
Automatic Evaluation Metrics", sections 2.2 and appendices B, E, F. Their metric is the human score
plus Gaussian noise of a level that gives the correlation r with people. The mean of N metric scores
then has variance v / N with v = s^2 / r^2 (s: sd of human scores; a kernel density adds its
bandwidth), and

    confidence = Phi( |delta| / sqrt( 2 v (1 - c) / N + 2 b^2 ) )

Two terms are ours. c, the correlation of two systems' metric scores on one item, counts where both
answer the same items, which the paper's text says but its Algorithm 1 does not do. b
is the sd over systems of an error that all scores of one system share: it does not average out, and
caps the confidence at Phi(|delta| / (b sqrt 2)) however large N gets.

Units: delta, the sd and b are in the unit of the human scores; N counts items.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, owens_t

from judgelab.stats.intervals.arrays import Floats

SLOWER = 8  # what a count of a value costs, in scores drawn and looked up


@dataclass(frozen=True)
class Draws:
    """How much is simulated in each cell, with a generator of its own made from the seed."""

    pairs: int = 100  # M, of systems, two or more
    evaluations: int = 200  # V, of each pair
    seed: int = 0


@dataclass(frozen=True)
class Population:
    """The density f that Algorithm 1 draws true scores from: normal, or a kernel density."""

    sd: float  # s of the human scores, in their unit
    scores: Floats | None = None  # [texts]
    kernel_sd: float = 0.0

    @property
    def variance(self) -> float:
        """Of one draw from f: s^2, and the kernel's on top (the paper's KDE widens H by it)."""
        return self.sd**2 + self.kernel_sd**2


def population(scores: ArrayLike | None = None, sd: float = 1.0) -> Population:
    """f from human scores (kernel density, Scott's bandwidth n^(-1/5) s), or normal from an sd.

    Scores are of texts, any shape; NaN is left out. ValueError: fewer than two, or no spread.
    """
    if scores is None:
        return Population(sd)
    human = np.asarray(scores, dtype=np.float64).ravel()
    human = human[~np.isnan(human)]
    if len(human) < 2 or not np.isfinite(human).all():
        raise ValueError(f"At least two finite human scores are needed, got {len(human)}.")
    spread = float(human.std())
    if spread <= 1e-12 * float(np.abs(human).max()):
        raise ValueError("All human scores are equal: no metric can correlate with them.")
    return Population(spread, human, len(human) ** -0.2 * float(human.std(ddof=1)))


def noise_sd(r: ArrayLike, sd: float) -> Floats:
    """Noise that a metric of correlation r in (0, 1] adds to the human score: s sqrt(1/r^2 - 1), as
    corr(H, H + noise) = s / sqrt(s^2 + noise^2) (appendix E)."""
    return np.asarray(sd * np.sqrt(1 / np.asarray(r, dtype=np.float64) ** 2 - 1))


def confidence(
    r: ArrayLike,
    n: ArrayLike,
    delta: ArrayLike,
    scores: ArrayLike | None = None,
    *,
    sd: float = 1.0,
    item_correlation: float = 0.0,
    system_bias_sd: float = 0.0,
) -> Floats:
    """Probability that the metric's means rank two systems as people would, in closed form.

    Args:
        r, n: correlation of the metric with people over single texts; items of each system.
        delta: difference of the two systems' true means; its sign does not matter.
        scores, sd: of people, as of ``population``.
        item_correlation: c; 0 where each system answers items of its own.
        system_bias_sd: b, on top of the noise that r implies (an r over texts of several systems
            holds some of it already: its square / N is counted twice).
    """
    source = population(scores, sd)
    variance = source.variance + noise_sd(r, source.sd) ** 2
    return right_order(np.abs(delta), variance, n, item_correlation, system_bias_sd)


def required_n(
    r: float,
    delta: float,
    confidence: float = 0.95,
    scores: ArrayLike | None = None,
    *,
    sd: float = 1.0,
    item_correlation: float = 0.0,
    system_bias_sd: float = 0.0,
) -> float:
    """Fewest items that give this confidence; infinite where its ceiling is not above it. Arguments
    as of ``confidence``; the target must lie between .5 and 1."""
    source = population(scores, sd)
    variance = source.variance + float(noise_sd(r, source.sd)) ** 2
    room = (delta / float(ndtri(confidence))) ** 2 - 2 * system_bias_sd**2
    items = 2 * variance * (1 - item_correlation) / room if room > 0 else math.inf
    # no number of items, or none that can be written down
    return math.inf if math.isinf(items) else float(max(1, math.ceil(items - 1e-9)))


def right_order(
    delta: ArrayLike, v: Floats, n: ArrayLike, shared: Floats | float, bias_sd: Floats | float
) -> Floats:
    """The closed form itself, Phi(delta / sqrt(2 v (1 - shared) / n + 2 bias_sd^2)).

    v is the variance of a metric score in human units squared; for a delta below 0 the result is
    the probability of an error.
    """
    variance = 2 * v * (1 - shared) / np.asarray(n, dtype=np.float64) + 2 * bias_sd**2
    return np.asarray(ndtr(delta / np.sqrt(variance)), dtype=np.float64)


def simulate(
    r: ArrayLike,
    n: ArrayLike,
    delta: ArrayLike,
    scores: ArrayLike | None = None,
    draws: Draws | None = None,
    *,
    sd: float = 1.0,
    system_bias_sd: float = 0.0,
) -> tuple[Floats, Floats]:
    """Algorithm 1 (appendix B): share of evaluations in which the means come out in the right
    order, and its standard error, both in the common shape of r, n and delta.

    M pairs of systems are drawn (N true scores each, the second's density shifted by delta), and
    each is rated V times with a noisy metric. The mean of N Gaussian noises is drawn in one go
    here, and that of N kernels: the same distribution. The error is that of M independent shares,
    as the V evaluations of a pair share its texts; never below what the normal approximation
    expects of so many draws, nor below half a draw. Arguments as of ``confidence``.
    """
    source, size = population(scores, sd), draws or Draws()
    grid = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (r, n, delta)))
    noises, kernel = noise_sd(grid[0], source.sd), source.kernel_sd or source.sd
    share, error = np.empty(grid[0].shape), np.empty(grid[0].shape)
    for k, place in enumerate(np.ndindex(grid[0].shape)):
        generator = np.random.default_rng([size.seed, k])
        items, apart = int(grid[1][place]), float(grid[2][place])
        gaps = apart + generator.normal(size=size.pairs) * kernel * np.sqrt(2 * items) / items
        if source.scores is not None:
            first = _sums(generator, items, size.pairs, source.scores)
            gaps += (_sums(generator, items, size.pairs, source.scores) - first) / items
        gaps += generator.normal(0.0, system_bias_sd * np.sqrt(2), size=size.pairs)
        noise_variance = 2 * float(noises[place]) ** 2 / items
        noise = np.sqrt(noise_variance) * generator.standard_normal((size.pairs, size.evaluations))
        above = (gaps[:, None] + noise > 0).mean(axis=1)
        share[place] = above.mean() if apart > 0 else 1 - above.mean()
        between = above.std(ddof=1) / np.sqrt(size.pairs)
        common = 2 * source.variance / items + 2 * system_bias_sd**2
        error[place] = max(between, _expected_error(apart, common, noise_variance, size))
    return share, error


def _sums(generator: np.random.Generator, n: int, pairs: int, scores: Floats) -> Floats:
    """[pairs] sum of n scores drawn with replacement: one by one where N is small, else as how
    often each value comes up, which does not grow with N."""
    values, counts = np.unique(scores, return_counts=True)
    if n > SLOWER * len(values):
        sums = generator.multinomial(n, counts / len(scores), size=pairs) @ values
    else:
        sums = scores[generator.integers(0, len(scores), size=(pairs, n))].sum(axis=1)
    return np.asarray(sums, dtype=np.float64)


def _expected_error(delta: float, common: float, noise: float, draws: Draws) -> float:
    """Standard error of the share if gaps were normal; Owen's T gives how often two evaluations of
    a pair are both above 0."""
    p = ndtr(delta / np.sqrt(common + noise))
    both = p - 2 * owens_t(delta / np.sqrt(common + noise), np.sqrt(noise / (2 * common + noise)))
    within = p * (1 - p) / (draws.pairs * draws.evaluations)
    across = max(both - p**2, 0.0) / draws.pairs * (1 - 1 / draws.evaluations)
    return float(max(np.sqrt(within + across), 0.5 / (draws.pairs * draws.evaluations)))
